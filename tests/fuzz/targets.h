// A fuzz target is a function over bytes that returns or throws one of Ebb's exceptions, and does nothing
// else. libFuzzer drives them (fuzz_*.cc); tests/trace/corpus_test.cc replays every input that once found
// something.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/chunk_layout.h"
#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/import_graph.h"
#include "trace/import_step.h"
#include "trace/iteration.h"
#include "trace/trace_file.h"

namespace ebb::fuzz {

inline void step(std::string_view bytes) {
  try {
    const std::string text = looks_gzipped(bytes) ? gunzip(bytes, "fuzz", 1 << 20) : std::string(bytes);
    (void)import_step(text, "fuzz", {.with_unmanaged = true}).peak_demand();
  } catch (const InputError&) {
  }
}

inline void graph(std::string_view bytes) {
  try {
    (void)import_graph(bytes, "fuzz").peak_demand();
  } catch (const InputError&) {
  }
}

// A checksum would keep the fuzzer out, so the bytes are first read as a file and then as the records of one
// chunk (behind a byte that says how many events they claim to be).
inline std::string as_one_chunk(std::string_view bytes) {
  std::string chunk;
  const std::string_view records = bytes.substr(1);
  put_u32(chunk, kChunkMagic);
  put_u32(chunk, static_cast<std::uint32_t>(Codec::stored));
  put_u32(chunk, static_cast<std::uint32_t>(records.size()));
  put_u32(chunk, static_cast<std::uint32_t>(records.size()));
  put_u32(chunk, static_cast<unsigned char>(bytes[0]));
  put_u32(chunk, chunk_checksum(chunk, records));
  std::string file(kTraceMagic);
  put_u32(file, kTraceVersion);
  put_u32(file, 0);
  return (file + chunk).append(records);
}

inline void trace(std::string_view bytes) {
  const auto read = [](std::string_view file) {
    try {
      const Trace trace = decode_trace(file, "fuzz", {.accept_torn_end = true, .most_events = 1 << 16});
      if (decode_trace(encode_trace(trace), "again") != trace) std::abort();
      (void)iteration_of(trace, "fuzz").peak_demand();
    } catch (const InputError&) {
    }
  };
  read(bytes);
  if (!bytes.empty()) read(as_one_chunk(bytes));
}

}  // namespace ebb::fuzz
