// The conformance suite over every backend that needs no GPU, and over wrappers that change nothing they
// should not.
#include "backend/conformance.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/faulty/faulty_backend.h"
#include "backend/host/host_backend.h"
#include "backend/null/null_backend.h"
#include "backend/recording/recording_backend.h"

namespace ebb {
namespace {

constexpr LinkOptions kLink = {.bytes_per_second_out = 4'000'000'000,
                               .bytes_per_second_in = 5'000'000'000,
                               .bytes_per_second_both = 6'000'000'000,
                               .latency_out = 10'000,
                               .latency_in = 5'000};

std::unique_ptr<Backend> host() { return std::make_unique<HostBackend>(); }
std::unique_ptr<Backend> linked_host() { return std::make_unique<HostBackend>(HostOptions{.link = kLink}); }

struct Subject {
  const char* name;
  conformance::MakeBackend make;
};

const Subject kSubjects[] = {
    {"null", [] { return std::make_unique<NullBackend>(); }},
    {"host", host},
    {"host_with_link", linked_host},
    {"faultless",
     [] {
       auto copies = std::make_unique<FailingCopies>(host(), FaultPattern{});
       return std::make_unique<ScarceHostMemory>(std::move(copies), kGiB);
     }},
    {"slow", [] { return std::make_unique<SlowCopies>(host(), SlowCopies::Options{.times = 3}); }},
    {"recording", [] { return std::make_unique<RecordingBackend>(host()); }},
};

using Case = std::tuple<Subject, conformance::Check>;
class Conformance : public testing::TestWithParam<Case> {};

TEST_P(Conformance, Holds) {
  const auto& [subject, check] = GetParam();
  EXPECT_EQ(check.run(subject.make), "");
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance,
                         testing::Combine(testing::ValuesIn(kSubjects),
                                          testing::ValuesIn(conformance::all_checks())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name;
                         });

TEST(RandomCopies, OverTwoThreadsMatchASerialRun) {
  const std::uint64_t seeds = std::getenv("EBB_SOAK") ? 10'000 : 100;
  for (std::uint64_t seed = 100; seed < 100 + seeds; ++seed)
    ASSERT_EQ(conformance::random_copies_match_a_serial_run(host, seed, 200), "");
}

}  // namespace
}  // namespace ebb
