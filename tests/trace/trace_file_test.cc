#include "trace/trace_file.h"

#include <gtest/gtest.h>

#include "trace/chunk_layout.h"
#include "trace/expect_error.h"
#include "trace/files.h"
#include "trace/gzip.h"
#include "trace/random_program.h"
#include "trace/recorder.h"
#include "trace/unroll.h"
#include "trace/varint.h"
#include "trace/write_file.h"

namespace ebb {
namespace {

using testing::Recorder;

Trace sample() {
  Recorder recorder;
  testing::Training training(recorder, 5);
  for (int i = 0; i < 20; ++i) training.iteration();
  const std::vector<Access> accesses = {{.block = 0, .reads = true, .writes = true, .side_effect = true}};
  recorder.exec({.name = "all of it",
                 .phase = Phase::zero_grad,
                 .replayable = false,
                 .random = true,
                 .duration = 123456789,
                 .issue = 1'000'000'000'000,
                 .workspace = 7,
                 .accesses = accesses});
  recorder.trace().name = "sample";
  recorder.trace().unmanaged = 99;
  return std::move(recorder.trace());
}

// A file of one chunk that holds these records, with a right checksum.
std::string file_of(const std::string& raw, std::uint32_t events, std::uint32_t raw_size,
                    Codec codec = Codec::stored) {
  std::string chunk;
  for (std::uint32_t field : {kChunkMagic, static_cast<std::uint32_t>(codec),
                              static_cast<std::uint32_t>(raw.size()), raw_size, events})
    put_u32(chunk, field);
  put_u32(chunk, chunk_checksum(chunk, raw));
  std::string header(kTraceMagic);
  put_u32(header, kTraceVersion);
  put_u32(header, 0);
  return header + chunk + raw;
}

std::string file_of(const std::string& raw, std::uint32_t events = 1) {
  return file_of(raw, events, static_cast<std::uint32_t>(raw.size()));
}

TEST(TraceFile, GivesBackWhatWasWritten) {
  const Trace trace = sample();
  EXPECT_EQ(decode_trace(encode_trace(trace), "f"), trace);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Trace random = unroll(testing::random_program(seed), 3);
    EXPECT_EQ(decode_trace(encode_trace(random, {.chunk_bytes = 100}), "f"), random) << seed;
  }
}

TEST(TraceFile, HasTheBytesOfTheDocument) {  // docs/trace-format.md, "An example"
  ChunkEncoder encoder;
  const std::vector<Access> accesses = {{.block = 0, .reads = true}};
  encoder.malloc(0, 8);
  encoder.exec({.name = "a", .duration = 5, .accesses = accesses});
  encoder.free(0);
  const std::string expected("\x02\x00\x08\x01\x01\x61\x04\x01\x00\x05\x00\x01\x01\x03\x00", 15);
  EXPECT_EQ(encoder.take().substr(kChunkHeaderSize), expected);
}

TEST(TraceFile, IsSmall) {
  const Trace trace = sample();
  EXPECT_LT(encode_trace(trace).size(), 8 * trace.events.size());
}

TEST(TraceFile, IsWrittenWholeOrNotAtAll) {
  const testing::TemporaryFolder folder;
  const Trace trace = sample();
  write_trace(folder.file("t"), trace);
  EXPECT_EQ(read_trace(folder.file("t")), trace);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(TraceWriter, AppendsWhatTheReaderFinds) {
  const testing::TemporaryFolder folder;
  const Trace trace = sample();
  TraceWriter writer(folder.file("t"), trace.name, {.chunk_bytes = 200});
  writer.unmanaged(trace.unmanaged);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const auto memory = trace.memory_of(i);
    switch (trace.events[i].kind) {
      case EventKind::malloc:
        writer.malloc(memory[0].block, memory[0].bytes);
        break;
      case EventKind::free:
        writer.free(memory[0].block);
        break;
      case EventKind::exec:
        writer.exec(trace.exec_of(i));
        break;
    }
  }
  writer.close();
  EXPECT_EQ(read_trace(folder.file("t")), trace);
}

TEST(TraceWriter, LosesAtMostTheLastChunkInACrash) {
  const testing::TemporaryFolder folder;
  TraceWriter writer(folder.file("t"), "t");
  writer.malloc(0, 8);
  writer.flush();
  writer.malloc(1, 8);  // never flushed: the process dies here
  EXPECT_EQ(read_trace(folder.file("t")).events.size(), 1u);
}

TEST(TraceWriter, NamesAFileItCannotCreate) {
  EXPECT_SYSTEM_ERROR(TraceWriter("/nowhere/t", "t"), "/nowhere/t", "cannot create");
}

TEST(TraceReader, SaysWhereATruncatedFileEnds) {
  const Trace trace = sample();
  const std::string bytes = encode_trace(trace, {.chunk_bytes = 500});
  std::size_t whole = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      const Trace read = decode_trace(bytes.substr(0, size), "f");
      ++whole;  // cut between two chunks
      EXPECT_LE(read.events.size(), trace.events.size());
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 3), "f: ");
    }
  }
  EXPECT_GT(whole, 2u);
  EXPECT_LT(whole, 50u);
  EXPECT_INPUT_ERROR(decode_trace(bytes.substr(0, 200), "f"), "f: chunk 0 (at byte 16)", "cut off");
  EXPECT_INPUT_ERROR(decode_trace(bytes.substr(0, 12), "f"), "f: the header is cut off");
}

TEST(TraceReader, TakesTheWholeChunksBeforeATornOne) {
  const std::string bytes = encode_trace(sample(), {.chunk_bytes = 500});
  const Trace read = decode_trace(bytes.substr(0, bytes.size() - 1), "f", {.accept_torn_end = true});
  EXPECT_GT(read.events.size(), 0u);
}

TEST(TraceReader, SeesEveryFlippedBit) {
  const std::string bytes = encode_trace(sample(), {.chunk_bytes = 500});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= 12 && i < kTraceHeaderSize) continue;  // reserved
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ (1 << (i % 8)));
    EXPECT_INPUT_ERROR(decode_trace(broken, "f"), "f: ");
  }
  std::string broken = bytes;
  broken[kTraceHeaderSize + kChunkHeaderSize + 5] ^= 1;
  EXPECT_INPUT_ERROR(decode_trace(broken, "f"),
                     "chunk 0 (at byte 16) is corrupt: its checksum does not match");
}

TEST(TraceReader, NamesAnUnknownVersion) {
  std::string bytes = encode_trace(sample());
  bytes[8] = 9;
  EXPECT_INPUT_ERROR(decode_trace(bytes, "f"), "f: trace version 9");
  EXPECT_INPUT_ERROR(decode_trace("something else", "f"), "f: not an Ebb trace");
}

TEST(TraceReader, DoesNotBelieveGiantCounts) {
  const std::string name = std::string("\1\1a", 3);  // name 0 is "a"
  const auto with = [](std::string bytes, std::uint64_t count) {
    put_varint(bytes, count);
    return bytes;
  };
  // exec, flags, name 0, duration 0, issue 0, then a count
  const std::string exec = name + std::string("\4\1\0\0\0", 5);
  EXPECT_INPUT_ERROR(decode_trace(file_of(with(exec, std::uint64_t{1} << 40)), "f"), "chunk 0", "event 0",
                     "count of accesses");
  const std::string exec_with_memory = name + std::string("\4\11\0\0\0\0", 6);
  EXPECT_INPUT_ERROR(decode_trace(file_of(with(exec_with_memory, 1'000'000)), "f"), "event 0",
                     "count of mallocs");
  EXPECT_INPUT_ERROR(decode_trace(file_of(with("\1", 1'000'000)), "f"), "event 0", "text length");
  EXPECT_INPUT_ERROR(decode_trace(file_of("x", 1, 4'000'000'000, Codec::zstd), "f"), "chunk 0",
                     "declares 4000000000 bytes");
  EXPECT_INPUT_ERROR(decode_trace(file_of("x", 4'000'000'000, 1), "f"), "chunk 0",
                     "more than 33554432 events");
  EXPECT_INPUT_ERROR(decode_trace(file_of("", 3), "f"), "chunk 0", "declares 3 events");
}

TEST(TraceReader, NamesChunkAndEventOfABadRecord) {
  const std::string malloc0 = std::string("\2\0\10", 3);
  EXPECT_INPUT_ERROR(decode_trace(file_of(malloc0 + "\x7f", 2), "f"),
                     "f: chunk 0 (at byte 16) event 1: unknown kind");
  EXPECT_INPUT_ERROR(decode_trace(file_of(malloc0 + "\4\1", 2), "f"), "event 1", "cut off");
  EXPECT_INPUT_ERROR(decode_trace(file_of(malloc0 + std::string("\4\1\3", 3), 2), "f"), "event 1",
                     "name is not defined");
  EXPECT_INPUT_ERROR(decode_trace(file_of(malloc0 + "\4\x51", 2), "f"), "event 1", "unknown phase");
  EXPECT_INPUT_ERROR(decode_trace(file_of(malloc0 + std::string("\3\1", 2), 2), "f"), "event 1",
                     "block id is out of range");
  EXPECT_INPUT_ERROR(decode_trace(file_of(malloc0 + std::string("\3\2", 2), 2), "f"),
                     "event 1 'free' frees block 1");
  EXPECT_INPUT_ERROR(decode_trace(file_of(std::string("\2\0", 2) + std::string(9, '\xff') + "\1", 1), "f"),
                     "event 0", "size");
  EXPECT_INPUT_ERROR(decode_trace(file_of("x", 1, 1, static_cast<Codec>(7)), "f"),
                     "packed in an unknown way (7)");
  EXPECT_INPUT_ERROR(decode_trace(file_of("xyz", 1, 100, Codec::zstd), "f"), "does not unpack");
}

}  // namespace
}  // namespace ebb
