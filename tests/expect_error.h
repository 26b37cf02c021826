// EXPECT_INPUT_ERROR(statement, "part", …): it throws InputError and the message contains every part.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "trace/error.h"

namespace ebb {

template <typename Function>
std::string input_error_of(Function&& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no InputError)";
}

inline ::testing::AssertionResult contains_all(const std::string& text,
                                               const std::vector<std::string_view>& parts) {
  for (std::string_view part : parts)
    if (text.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "'" << text << "' does not say '" << part << "'";
  return ::testing::AssertionSuccess();
}

}  // namespace ebb

#define EXPECT_INPUT_ERROR(statement, ...) \
  EXPECT_TRUE(ebb::contains_all(ebb::input_error_of([&] { (void)(statement); }), {__VA_ARGS__}))
