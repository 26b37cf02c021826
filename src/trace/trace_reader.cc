#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "trace/block_history.h"
#include "trace/chunk_layout.h"
#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/trace_file.h"
#include "trace/varint.h"

namespace ebb {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 60;

// Where in the file the reader is, for messages.
struct Place {
  const std::string& file;
  std::size_t chunk = 0;
  std::size_t offset = 0;

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(fmt::format("{}: chunk {} (at byte {}) {}", file, chunk, offset, problem));
  }
};

// The records of one chunk, appended to the trace.
class ChunkDecoder {
 public:
  ChunkDecoder(std::string_view raw, const Place& place, Trace& trace, TraceBuilder& builder)
      : raw_(raw), place_(place), trace_(trace), builder_(builder) {}

  void decode(std::size_t events) {
    const std::size_t before = trace_.events.size();
    while (!raw_.empty()) {
      if (trace_.events.size() - before > events) break;
      decode_record();
    }
    if (trace_.events.size() - before != events)
      place_.fail(fmt::format("declares {} events and holds others", events));
  }

 private:
  [[noreturn]] void fail(const char* problem) const {
    place_.fail(fmt::format("event {}: {}", trace_.events.size(), problem));
  }

  std::uint64_t number(std::uint64_t most, const char* what) {
    std::uint64_t value = 0;
    if (!take_varint(raw_, value)) fail("cut off, or a number of more than 64 bits");
    if (value > most)
      place_.fail(fmt::format("event {}: {} of {} is more than {}", trace_.events.size(), what, value, most));
    return value;
  }

  std::int64_t amount(const char* what) { return static_cast<std::int64_t>(number(kLargest, what)); }

  // A count of things that take at least a byte each: no more of them than bytes are left.
  std::size_t count(const char* what) { return static_cast<std::size_t>(number(raw_.size(), what)); }

  std::string_view text() {
    const std::size_t size = count("text length");
    if (size > raw_.size()) fail("text is cut off");
    const std::string_view text = raw_.substr(0, size);
    raw_.remove_prefix(size);
    return text;
  }

  BlockId block(std::uint64_t coded) {
    // Within ±2^32, so that adding it to an id cannot overflow.
    const std::int64_t difference = unzigzag(coded);
    const std::int64_t id = last_block_ + difference;
    if (difference > (std::int64_t{1} << 32) || id < 0 || id > std::numeric_limits<BlockId>::max())
      fail("the block id is out of range");
    last_block_ = id;
    return static_cast<BlockId>(id);
  }

  void decode_record() {
    const auto tag = static_cast<Record>(raw_.front());
    raw_.remove_prefix(1);
    switch (tag) {
      case Record::name:
        names_.push_back(text());
        return;
      case Record::trace_name:
        trace_.name = text();
        return;
      case Record::unmanaged:
        trace_.unmanaged = amount("unmanaged bytes");
        return;
      case Record::malloc: {
        const BlockId id = block(number(kLargest, "block"));
        builder_.malloc(id, amount("size"));
        return;
      }
      case Record::free:
        builder_.free(block(number(kLargest, "block")));
        return;
      case Record::exec:
        decode_exec();
        return;
    }
    fail("unknown kind of record");
  }

  void decode_exec() {
    if (raw_.empty()) fail("cut off");
    const auto flags = static_cast<unsigned char>(raw_.front());
    raw_.remove_prefix(1);
    if (flags >> kPhaseShift >= kPhases.size()) fail("unknown phase");
    ExecEvent event;
    event.phase = static_cast<Phase>(kPhases[flags >> kPhaseShift]);
    event.replayable = flags & kReplayable;
    event.random = flags & kRandom;
    const std::uint64_t name = number(kLargest, "name");
    if (name >= names_.size()) fail("its name is not defined in this chunk");
    event.name = names_[name];
    event.duration = amount("duration");
    last_issue_ += unzigzag(number(kLargest, "issue time"));
    if (last_issue_ < 0 || static_cast<std::uint64_t>(last_issue_) > kLargest) fail("impossible issue time");
    event.issue = last_issue_;
    if (flags & kHasWorkspace) event.workspace = amount("workspace");
    read_accesses();
    memory_.clear();
    if (flags & kHasMemory) read_memory();
    event.accesses = accesses_;
    event.memory = memory_;
    builder_.exec(event);
  }

  void read_accesses() {
    accesses_.clear();
    for (std::size_t left = count("count of accesses"); left > 0; --left) {
      const std::uint64_t coded = number(kLargest, "access");
      accesses_.push_back({.block = block(coded >> kAccessBits),
                           .reads = (coded & kReads) != 0,
                           .writes = (coded & kWrites) != 0,
                           .side_effect = (coded & kSideEffect) != 0});
    }
  }

  void read_memory() {
    for (std::size_t left = count("count of mallocs and frees"); left > 0; --left) {
      const std::uint64_t coded = number(kLargest, "malloc or free");
      MemoryEvent memory{.block = block(coded >> kMemoryBits), .is_malloc = (coded & kIsMalloc) != 0};
      if (memory.is_malloc) memory.bytes = amount("size");
      memory_.push_back(memory);
    }
  }

  std::string_view raw_;
  const Place& place_;
  Trace& trace_;
  TraceBuilder& builder_;
  std::int64_t last_block_ = 0;
  Nanoseconds last_issue_ = 0;
  std::vector<std::string_view> names_;
  std::vector<Access> accesses_;
  std::vector<MemoryEvent> memory_;
};

ChunkHeader parse_header(std::string_view bytes) {
  return {.magic = get_u32(bytes, 0),
          .codec = get_u32(bytes, 4),
          .stored_size = get_u32(bytes, 8),
          .raw_size = get_u32(bytes, 12),
          .events = get_u32(bytes, 16),
          .checksum = get_u32(bytes, 20)};
}

// The stored bytes as records; `buffer` keeps them if they had to be unpacked.
std::string_view unpack(const ChunkHeader& header, std::string_view stored, std::string& buffer,
                        const Place& place) {
  if (static_cast<Codec>(header.codec) == Codec::stored) {
    if (header.raw_size != header.stored_size) place.fail("is stored plain but declares two sizes");
    return stored;
  }
  if (static_cast<Codec>(header.codec) != Codec::zstd)
    place.fail(fmt::format("is packed in an unknown way ({})", header.codec));
  buffer.resize(header.raw_size);
  const std::size_t size = ZSTD_decompress(buffer.data(), buffer.size(), stored.data(), stored.size());
  if (ZSTD_isError(size)) place.fail(fmt::format("does not unpack: {}", ZSTD_getErrorName(size)));
  if (size != header.raw_size)
    place.fail(fmt::format("declares {} bytes and unpacks to {}", header.raw_size, size));
  return buffer;
}

void check_file_header(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(kTraceMagic)) throw InputError(fmt::format("{}: not an Ebb trace", file));
  if (bytes.size() < kTraceHeaderSize) throw InputError(fmt::format("{}: the header is cut off", file));
  const std::uint32_t version = get_u32(bytes, kTraceMagic.size());
  if (version != kTraceVersion)
    throw InputError(
        fmt::format("{}: trace version {}, but only version {} can be read", file, version, kTraceVersion));
}

}  // namespace

Trace decode_trace(std::string_view bytes, const std::string& file, const TraceReadOptions& options) {
  check_file_header(bytes, file);
  Trace trace;
  TraceBuilder builder(trace);
  std::string buffer;
  std::size_t unpacked = 0;
  Place place{.file = file, .offset = kTraceHeaderSize};
  for (; place.offset < bytes.size(); ++place.chunk) {
    const std::string_view rest = bytes.substr(place.offset);
    const bool has_header = rest.size() >= kChunkHeaderSize;
    const ChunkHeader header = has_header ? parse_header(rest) : ChunkHeader{};
    if (has_header && header.magic != kChunkMagic) place.fail("does not begin like a chunk");
    if (!has_header || header.stored_size > rest.size() - kChunkHeaderSize) {
      if (options.accept_torn_end) break;
      place.fail(fmt::format("is cut off; {} events stand before it", trace.events.size()));
    }
    if (header.raw_size > kLargestChunk)
      place.fail(fmt::format("declares {} bytes, more than {}", header.raw_size, kLargestChunk));
    const std::string_view stored = rest.substr(kChunkHeaderSize, header.stored_size);
    if (chunk_checksum(rest, stored) != header.checksum)
      place.fail("is corrupt: its checksum does not match");
    unpacked += header.raw_size;
    if (unpacked > kLargestFile)
      place.fail(fmt::format("makes the trace unpack to more than {} bytes", kLargestFile));
    if (header.events > options.most_events - trace.events.size())
      place.fail(fmt::format("would bring more than {} events", options.most_events));
    ChunkDecoder(unpack(header, stored, buffer, place), place, trace, builder).decode(header.events);
    place.offset += kChunkHeaderSize + header.stored_size;
  }
  (void)block_histories(trace, file);
  return trace;
}

Trace read_trace(const std::string& path, const TraceReadOptions& options) {
  return decode_trace(read_file(path), path, options);
}

}  // namespace ebb
