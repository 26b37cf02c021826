#include "backend/recording/recording_backend.h"

#include <gtest/gtest.h>

#include "backend/null/null_backend.h"

namespace ebb {
namespace {

TEST(RecordingBackend, RemembersEveryCallInOrder) {
  RecordingBackend backend(std::make_unique<NullBackend>());
  std::byte* device = backend.reserve(4096);
  std::byte* host = backend.host_slab(512);
  backend.copy(Engine::out, host, device, 128);
  const Event event = backend.record(Engine::out, Stamp::time);
  backend.wait(Engine::in, event);
  backend.happened(event);
  backend.synchronize(event);
  backend.elapsed(event, event);
  std::vector<std::string> texts;
  for (const BackendCall& call : backend.calls()) texts.push_back(describe(call));
  EXPECT_EQ(texts,
            (std::vector<std::string>{"reserve 4096", "host_slab 512", "copy out 128", "record out event 1",
                                      "wait in for out event 1", "happened out event 1",
                                      "synchronize out event 1", "elapsed out event 1"}));
  const BackendCall copy = {.function = BackendCall::Function::copy,
                            .engine = Engine::out,
                            .bytes = 128,
                            .to = host,
                            .from = device};
  EXPECT_EQ(backend.calls()[2], copy);
  backend.forget_calls();
  EXPECT_TRUE(backend.calls().empty());
}

TEST(RecordingBackend, DoesNotRememberWhatFailed) {
  RecordingBackend backend(std::make_unique<NullBackend>());
  EXPECT_THROW(backend.reserve(-1), BackendError);
  EXPECT_TRUE(backend.calls().empty());
}

}  // namespace
}  // namespace ebb
