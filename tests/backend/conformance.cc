#include "backend/conformance.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace ebb::conformance {
namespace {

constexpr Engine kAllEngines[] = {Engine::compute, Engine::out, Engine::in};
constexpr Bytes kRegion = 64 * kKiB;

void fill(std::byte* at, Bytes bytes, int seed) {
  for (Bytes i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
}

bool is_filled(const std::byte* at, Bytes bytes, int seed) {
  for (Bytes i = 0; i < bytes; ++i)
    if (at[i] != static_cast<std::byte>(i * 7 + i / 251 + seed)) return false;
  return true;
}

// A backend with a device of some regions and a slab of as many.
struct Bench {
  explicit Bench(const MakeBackend& make, Bytes regions = 8)
      : backend(make()),
        device(backend->reserve(regions * kRegion)),
        host(backend->host_slab(regions * kRegion)) {}
  std::byte* on_device(Bytes region) const { return device + region * kRegion; }
  std::byte* on_host(Bytes region) const { return host + region * kRegion; }
  void copy_in(Bytes to, Bytes from) { backend->copy(Engine::in, on_device(to), on_host(from), kRegion); }
  void copy_out(Bytes to, Bytes from) { backend->copy(Engine::out, on_host(to), on_device(from), kRegion); }
  void copy_within(Bytes to, Bytes from) {
    backend->copy(Engine::compute, on_device(to), on_device(from), kRegion);
  }
  // Makes one engine wait for all that is enqueued on another.
  Event chain(Engine before, Engine after) {
    const Event event = backend->record(before);
    backend->wait(after, event);
    return event;
  }
  void synchronize(Engine engine) { backend->synchronize(backend->record(engine)); }

  std::unique_ptr<Backend> backend;
  std::byte* device;
  std::byte* host;
};

template <class Function>
std::string expect_error(const char* what, Function function) {
  try {
    function();
  } catch (const BackendError& error) {
    return std::string(error.what()).empty() ? std::string(what) + ": an error without a message" : "";
  }
  return std::string(what) + ": no BackendError";
}

std::string memory_is_aligned(const MakeBackend& make) {
  for (const Bytes bytes : {Bytes{1}, Bytes{513}, 3 * kMiB + 17}) {
    const auto backend = make();
    if (reinterpret_cast<std::uintptr_t>(backend->reserve(bytes)) % 512 != 0) return "reservation";
    for (int i = 0; i < 3; ++i)
      if (reinterpret_cast<std::uintptr_t>(backend->host_slab(bytes)) % 4096 != 0) return "slab";
  }
  return "";
}

std::string bytes_survive_the_round_trip(const MakeBackend& make) {
  const auto backend = make();
  const Bytes room = 2 * kMiB;
  std::byte* device = backend->reserve(room);
  std::byte* host = backend->host_slab(room);
  std::byte* back = backend->host_slab(room);
  int seed = 0;
  for (const Bytes bytes : {Bytes{1}, Bytes{511}, Bytes{4096}, kMiB + 13, room})
    for (const Bytes offset : {Bytes{0}, Bytes{7}, Bytes{512}}) {
      if (offset + bytes > room) continue;
      fill(host + offset, bytes, ++seed);
      std::memset(back, 0, static_cast<std::size_t>(room));
      backend->copy(Engine::in, device + offset, host + offset, bytes);
      backend->wait(Engine::out, backend->record(Engine::in));
      backend->copy(Engine::out, back + offset, device + offset, bytes);
      backend->synchronize(backend->record(Engine::out));
      const std::string place = std::to_string(bytes) + " bytes at " + std::to_string(offset);
      if (!is_filled(back + offset, bytes, seed)) return place + " came back changed";
      if (offset > 0 && back[offset - 1] != std::byte{0}) return place + ": wrote before them";
      if (offset + bytes < room && back[offset + bytes] != std::byte{0}) return place + ": wrote after them";
    }
  return "";
}

std::string an_engine_works_in_order(const MakeBackend& make) {
  Bench bench(make, 8);
  for (int i = 0; i < 8; ++i) fill(bench.on_host(i), kRegion, i);
  for (int i = 0; i < 8; ++i) bench.copy_in(0, i);
  bench.chain(Engine::in, Engine::compute);
  for (int i = 1; i < 8; ++i) bench.copy_within(i, i - 1);
  bench.chain(Engine::compute, Engine::out);
  for (int i = 0; i < 7; ++i) bench.copy_out(i, i + 1);
  bench.synchronize(Engine::out);
  for (int i = 0; i < 7; ++i)
    if (!is_filled(bench.on_host(i), kRegion, 7)) return "region " + std::to_string(i);
  return "";
}

std::string a_wait_orders_what_follows_it_on_another_engine(const MakeBackend& make) {
  Bench bench(make, 4);
  fill(bench.on_host(0), kRegion, 42);
  for (int round = 0; round < 50; ++round) {
    const int now = round % 2;
    bench.copy_in(0, now);
    bench.chain(Engine::in, Engine::compute);
    bench.copy_within(1, 0);
    bench.chain(Engine::compute, Engine::out);
    bench.copy_out(1 - now, 1);
    bench.chain(Engine::out, Engine::in);
  }
  bench.synchronize(Engine::in);
  return is_filled(bench.on_host(0), kRegion, 42) ? "" : "the bytes were changed on their way";
}

// The commonest use: a region is handed on together with the event of the copy that empties it.
std::string a_region_is_reused_after_the_event_that_frees_it(const MakeBackend& make) {
  constexpr int kRounds = 7;
  Bench bench(make, 2 * kRounds);
  for (int i = 0; i < kRounds; ++i) fill(bench.on_host(i), kRegion, i);
  for (int i = 0; i < kRounds; ++i) {
    bench.copy_in(0, i);
    bench.chain(Engine::in, Engine::out);
    bench.copy_out(kRounds + i, 0);
    bench.chain(Engine::out, Engine::in);
  }
  bench.synchronize(Engine::out);
  for (int i = 0; i < kRounds; ++i)
    if (!is_filled(bench.on_host(kRounds + i), kRegion, i)) return "round " + std::to_string(i);
  return "";
}

std::string event_numbers_grow_over_all_engines(const MakeBackend& make) {
  const auto backend = make();
  if (!backend->happened(kHappened)) return "event 0 has not happened";
  backend->synchronize(kHappened);
  Event last = kHappened;
  for (int i = 0; i < 100; ++i)
    for (const Engine engine : kAllEngines) {
      backend->wait(engine, kHappened);
      const Event event = backend->record(engine);
      if (event <= last) return std::to_string(event) + " after " + std::to_string(last);
      last = event;
    }
  return "";
}

std::string events_that_were_never_recorded_are_errors(const MakeBackend& make) {
  const auto backend = make();
  const Event never = backend->record(Engine::in) + 1000;
  return expect_error("wait;", [&] { backend->wait(Engine::compute, never); }) +
         expect_error("happened;", [&] { backend->happened(never); }) +
         expect_error("synchronize;", [&] { backend->synchronize(never); }) +
         expect_error("elapsed;", [&] { backend->elapsed(never, never); });
}

std::string what_was_waited_for_has_happened_with_all_before_it(const MakeBackend& make) {
  Bench bench(make);
  Backend& backend = *bench.backend;
  for (const Engine engine : kAllEngines) {
    std::vector<Event> events;
    for (int i = 0; i < 20; ++i) {
      if (engine == Engine::in) bench.copy_in(i % 8, 0);
      if (engine == Engine::out) bench.copy_out(i % 8, 0);
      if (engine == Engine::compute) bench.copy_within(i % 7 + 1, 0);
      events.push_back(backend.record(engine));
    }
    backend.synchronize(events[10]);
    for (int i = 0; i <= 10; ++i)
      if (!backend.happened(events[static_cast<std::size_t>(i)])) return "event " + std::to_string(i);
    while (!backend.happened(events.back())) std::this_thread::yield();
    for (const Event event : events)
      if (!backend.happened(event)) return "an event before the last";
  }
  return "";
}

std::string waits_for_old_and_own_events_are_harmless(const MakeBackend& make) {
  Bench bench(make);
  Backend& backend = *bench.backend;
  fill(bench.on_host(0), kRegion, 5);
  const Event first = backend.record(Engine::in);
  for (int i = 0; i < 20; ++i) {
    bench.copy_in(0, 0);
    const Event own = bench.chain(Engine::in, Engine::in);
    for (const Engine engine : kAllEngines) {
      backend.wait(engine, own);
      backend.wait(engine, first);
    }
  }
  bench.copy_out(1, 0);
  bench.synchronize(Engine::out);
  return is_filled(bench.on_host(1), kRegion, 5) ? "" : "wrong bytes";
}

std::string very_old_events_count_as_happened(const MakeBackend& make) {
  Bench bench(make);
  Backend& backend = *bench.backend;
  std::vector<Event> old;
  for (const Engine engine : kAllEngines) old.push_back(backend.record(engine, Stamp::time));
  for (int i = 0; i < 25'000; ++i)
    for (const Engine engine : kAllEngines) {
      const Event event = backend.record(engine, Stamp::time);
      if (i % 1000 == 0) backend.synchronize(event);
    }
  for (const Engine engine : kAllEngines) bench.synchronize(engine);
  for (const Event event : old) {
    if (!backend.happened(event)) return "an old event has not happened";
    backend.synchronize(event);
    for (const Engine engine : kAllEngines) backend.wait(engine, event);
  }
  return expect_error("elapsed of an event out of the window",
                      [&] { backend.elapsed(old[0], backend.record(Engine::compute, Stamp::time)); });
}

std::string elapsed_grows_along_an_engine(const MakeBackend& make) {
  Bench bench(make);
  Backend& backend = *bench.backend;
  for (const Engine engine : kAllEngines) {
    std::vector<Event> events;
    for (int i = 0; i < 30; ++i) {
      if (engine == Engine::in) bench.copy_in(i % 8, 0);
      if (engine == Engine::out) bench.copy_out(i % 8, 0);
      events.push_back(backend.record(engine, Stamp::time));
    }
    backend.synchronize(events.back());
    Nanoseconds sum = 0;
    for (std::size_t i = 1; i < events.size(); ++i) {
      const Nanoseconds step = backend.elapsed(events[i - 1], events[i]);
      if (step < 0) return "time went back by " + std::to_string(-step) + " ns";
      sum += step;
    }
    // Clocks of GPUs tick about every half microsecond, and each difference is rounded.
    const Nanoseconds whole = backend.elapsed(events.front(), events.back());
    if (std::abs(whole - sum) > 2000 * static_cast<Nanoseconds>(events.size()))
      return "the parts make " + std::to_string(sum) + " ns, the whole " + std::to_string(whole);
  }
  return "";
}

std::string elapsed_refuses_events_without_their_time(const MakeBackend& make) {
  const auto backend = make();
  const Event stamped = backend->record(Engine::compute, Stamp::time);
  const Event other = backend->record(Engine::compute);
  const Event last = backend->record(Engine::compute, Stamp::time);
  backend->synchronize(last);
  backend->elapsed(stamped, last);
  const std::string to =
      expect_error("elapsed to an event without its time", [&] { backend->elapsed(stamped, other); });
  if (!to.empty()) return to;
  return expect_error("elapsed from an event without its time", [&] { backend->elapsed(other, last); });
}

std::string elapsed_answers_over_its_whole_window(const MakeBackend& make) {
  const auto backend = make();
  const Event first = backend->record(Engine::compute, Stamp::time);
  for (int i = 0; i < 65'534; ++i) backend->record(Engine::compute, Stamp::time);
  const Event last = backend->record(Engine::compute, Stamp::time);
  backend->synchronize(last);
  return backend->elapsed(first, last) >= 0 ? "" : "negative";
}

std::string destruction_finishes_what_is_enqueued(const MakeBackend& make) {
  std::vector<std::byte> back(static_cast<std::size_t>(4 * kRegion));
  {
    Bench bench(make);
    fill(bench.on_host(0), kRegion, 9);
    for (int i = 0; i < 4; ++i) {
      bench.copy_in(i, 0);
      bench.chain(Engine::in, Engine::out);
      bench.backend->copy(Engine::out, back.data() + i * kRegion, bench.on_device(i), kRegion);
      bench.chain(Engine::out, Engine::in);
    }
  }
  for (int i = 0; i < 4; ++i)
    if (!is_filled(back.data() + i * kRegion, kRegion, 9)) return "copy " + std::to_string(i);
  return "";
}

std::string copies_outside_the_reservation_are_errors(const MakeBackend& make) {
  Bench bench(make, 2);
  Backend& backend = *bench.backend;
  std::byte* device = bench.device;
  std::byte* host = bench.host;
  const Bytes all = 2 * kRegion;
  std::string errors;
  const auto refuse = [&](const char* what, Engine engine, std::byte* to, const std::byte* from,
                          Bytes bytes) {
    errors += expect_error(what, [&] { backend.copy(engine, to, from, bytes); });
  };
  refuse("in, past the end;", Engine::in, device + 1, host, all);
  refuse("in, before the beginning;", Engine::in, device - 1, host, 16);
  refuse("in, from the device;", Engine::in, device, device + kRegion, 16);
  refuse("out, past the end;", Engine::out, host, device + all - 15, 16);
  refuse("out, to the device;", Engine::out, device + kRegion, device, 16);
  refuse("compute, from the host;", Engine::compute, device, host, 16);
  refuse("compute, onto itself;", Engine::compute, device + 8, device, 16);
  refuse("a negative size;", Engine::in, device, host, -1);
  errors += expect_error("a second reservation;", [&] { backend.reserve(kRegion); });
  errors += expect_error("an empty slab;", [&] { backend.host_slab(0); });
  backend.copy(Engine::in, device, host, all);
  backend.copy(Engine::in, device + all, host, 0);
  bench.synchronize(Engine::in);
  return errors;
}

std::string slabs_may_be_made_beside_the_copies(const MakeBackend& make) {
  Bench bench(make);
  fill(bench.on_host(0), kRegion, 3);
  std::thread pinning([&] {
    for (int i = 0; i < 10; ++i) std::memset(bench.backend->host_slab(kRegion), 1, kRegion);
  });
  for (int i = 0; i < 100; ++i) {
    bench.copy_in(0, 0);
    bench.chain(Engine::in, Engine::out);
    bench.copy_out(1, 0);
    bench.chain(Engine::out, Engine::in);
  }
  bench.synchronize(Engine::out);
  pinning.join();
  return is_filled(bench.on_host(1), kRegion, 3) ? "" : "wrong bytes";
}

std::string random_copies_match(const MakeBackend& make) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    if (std::string error = random_copies_match_a_serial_run(make, seed, 300); !error.empty()) return error;
  return "";
}

}  // namespace

const std::vector<Check>& all_checks() {
#define EBB_CHECK(name) \
  Check { #name, name }
  static const std::vector<Check> checks = {
      EBB_CHECK(memory_is_aligned),
      EBB_CHECK(bytes_survive_the_round_trip),
      EBB_CHECK(an_engine_works_in_order),
      EBB_CHECK(a_wait_orders_what_follows_it_on_another_engine),
      EBB_CHECK(a_region_is_reused_after_the_event_that_frees_it),
      EBB_CHECK(event_numbers_grow_over_all_engines),
      EBB_CHECK(events_that_were_never_recorded_are_errors),
      EBB_CHECK(what_was_waited_for_has_happened_with_all_before_it),
      EBB_CHECK(waits_for_old_and_own_events_are_harmless),
      EBB_CHECK(very_old_events_count_as_happened),
      EBB_CHECK(elapsed_grows_along_an_engine),
      EBB_CHECK(elapsed_answers_over_its_whole_window),
      EBB_CHECK(elapsed_refuses_events_without_their_time),
      EBB_CHECK(destruction_finishes_what_is_enqueued),
      EBB_CHECK(copies_outside_the_reservation_are_errors),
      EBB_CHECK(slabs_may_be_made_beside_the_copies),
      EBB_CHECK(random_copies_match),
  };
#undef EBB_CHECK
  return checks;
}

}  // namespace ebb::conformance
