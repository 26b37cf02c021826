// What the README tells people to type works: every `build/bin/ebb` line in it is run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> commands_in(const std::string& file) {
  std::ifstream readme(std::string(EBB_SOURCE_DIR) + "/" + file);
  std::vector<std::string> commands;
  const std::string prompt = "$ build/bin/ebb ";
  for (std::string line; std::getline(readme, line);)
    if (line.starts_with(prompt)) commands.push_back(line.substr(prompt.size()));
  return commands;
}

TEST(Readme, EveryCommandOfTheToolInItSucceeds) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a minute and a half under AddressSanitizer: the tests of the commands run there, this in "
                  "the plain build";
#endif
  const auto commands = commands_in("README.md");
  ASSERT_FALSE(commands.empty());
  const auto folder = std::filesystem::temp_directory_path() / "ebb-readme-test";
  std::filesystem::create_directories(folder);
  for (const std::string& command : commands) {
    // In a scratch folder with data/ beside it, so that output files do not land in the tree.
    const std::string line = "cd '" + folder.string() +
                             "' && ln -sfn '" EBB_SOURCE_DIR "/data' data && '" EBB_BINARY_DIR "/bin/ebb' " +
                             command + " > output.txt 2>&1";
    if (std::system(line.c_str()) == 0) continue;
    std::ifstream output(folder / "output.txt");
    const std::string told((std::istreambuf_iterator<char>(output)), {});
    const bool page_is_missing = told.find("the report page is not part of this build") != std::string::npos;
    EXPECT_TRUE(page_is_missing) << command << "\n" << told;
    if (page_is_missing) std::printf("left out, as there is no npm: %s\n", command.c_str());
  }
  std::filesystem::remove_all(folder);
}

TEST(Readme, NamesTheTwoCommandsThatDoEverything) {
  std::ifstream file(EBB_SOURCE_DIR "/README.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("./run demo"), std::string::npos);
  EXPECT_NE(text.find("./run test"), std::string::npos);
}

}  // namespace
