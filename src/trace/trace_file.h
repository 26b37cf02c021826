// Ebb's own trace file: a header, then chunks that stand alone, each compressed and checksummed. A recorder
// appends chunk by chunk; a crash costs at most the chunk it was filling. docs/trace-format.md has every
// byte.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/trace.h"

namespace ebb {

inline constexpr std::string_view kTraceMagic = "EBBTRACE";
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr std::size_t kLargestChunk = std::size_t{64} << 20;  // before compression

// Turns events into chunks. Within a chunk, block ids and issue times are differences from the one before.
class ChunkEncoder {
 public:
  void name_trace(std::string_view name);
  void unmanaged(Bytes bytes);
  void malloc(BlockId block, Bytes bytes);
  void free(BlockId block);
  void exec(const ExecEvent& event);

  bool empty() const { return raw_.empty(); }
  std::size_t raw_size() const { return raw_.size(); }
  // The chunk as it stands in the file; the encoder is empty again and knows nothing of it.
  std::string take();

 private:
  void put_block(BlockId block, unsigned bits, unsigned bit_count);
  std::uint64_t name_index(std::string_view name);

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::string raw_;
  std::uint32_t events_ = 0;
  BlockId last_block_ = 0;
  Nanoseconds last_issue_ = 0;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> names_;
};

struct TraceWriterOptions {
  std::size_t chunk_bytes = std::size_t{1}
                            << 18;  // before compression: a chunk is written when it has grown to this
};

// Appends events to a file as they happen. Not thread-safe. Throws SystemError if the file cannot be written.
class TraceWriter {
 public:
  TraceWriter(const std::string& path, std::string_view trace_name, const TraceWriterOptions& options = {});
  ~TraceWriter();  // closes; a failure then goes unseen, so call close() where it matters
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void unmanaged(Bytes bytes) { encoder_.unmanaged(bytes); }
  void malloc(BlockId block, Bytes bytes);
  void free(BlockId block);
  void exec(const ExecEvent& event);
  void flush();  // what was appended so far survives a crash of the process
  void close();

 private:
  void write(std::string_view bytes);
  void flush_if_full();

  std::string path_;
  TraceWriterOptions options_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  ChunkEncoder encoder_;
};

struct TraceReadOptions {
  bool accept_torn_end = false;  // a recorder died: take the whole chunks before the torn one
  std::size_t most_events = std::size_t{1} << 25;  // a bomb's end
};

// Throws InputError naming file, chunk and event; the result satisfies block_histories.
Trace decode_trace(std::string_view bytes, const std::string& file, const TraceReadOptions& options = {});
Trace read_trace(const std::string& path, const TraceReadOptions& options = {});

std::string encode_trace(const Trace& trace, const TraceWriterOptions& options = {});
void write_trace(const std::string& path, const Trace& trace);  // atomically

}  // namespace ebb
