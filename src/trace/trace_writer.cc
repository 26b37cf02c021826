#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trace/chunk_layout.h"
#include "trace/error.h"
#include "trace/trace_file.h"
#include "trace/varint.h"
#include "trace/write_file.h"

namespace ebb {
namespace {

constexpr int kCompressionLevel = 1;  // the recorder waits for it

std::string file_header() {
  std::string header(kTraceMagic);
  put_u32(header, kTraceVersion);
  put_u32(header, 0);
  return header;
}

unsigned phase_code(Phase phase) {
  const auto* place = std::find(kPhases.begin(), kPhases.end(), static_cast<char>(phase));
  return place == kPhases.end() ? 0 : static_cast<unsigned>(place - kPhases.begin());
}

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

void put_tag(std::string& out, Record tag) { out.push_back(static_cast<char>(tag)); }

}  // namespace

void ChunkEncoder::name_trace(std::string_view name) {
  put_tag(raw_, Record::trace_name);
  put_text(raw_, name);
}

void ChunkEncoder::unmanaged(Bytes bytes) {
  put_tag(raw_, Record::unmanaged);
  put_varint(raw_, static_cast<std::uint64_t>(bytes));
}

void ChunkEncoder::put_block(BlockId block, unsigned bits, unsigned bit_count) {
  const std::int64_t difference = std::int64_t{block} - last_block_;
  put_varint(raw_, (zigzag(difference) << bit_count) | bits);
  last_block_ = block;
}

std::uint64_t ChunkEncoder::name_index(std::string_view name) {
  if (const auto known = names_.find(name); known != names_.end()) return known->second;
  put_tag(raw_, Record::name);
  put_text(raw_, name);
  const std::uint64_t index = names_.size();
  names_.emplace(name, index);
  return index;
}

void ChunkEncoder::malloc(BlockId block, Bytes bytes) {
  put_tag(raw_, Record::malloc);
  put_block(block, 0, 0);
  put_varint(raw_, static_cast<std::uint64_t>(bytes));
  ++events_;
}

void ChunkEncoder::free(BlockId block) {
  put_tag(raw_, Record::free);
  put_block(block, 0, 0);
  ++events_;
}

void ChunkEncoder::exec(const ExecEvent& event) {
  const std::uint64_t name = name_index(event.name);
  put_tag(raw_, Record::exec);
  unsigned flags = phase_code(event.phase) << kPhaseShift;
  if (event.replayable) flags |= kReplayable;
  if (event.random) flags |= kRandom;
  if (event.workspace != 0) flags |= kHasWorkspace;
  if (!event.memory.empty()) flags |= kHasMemory;
  raw_.push_back(static_cast<char>(flags));
  put_varint(raw_, name);
  put_varint(raw_, static_cast<std::uint64_t>(event.duration));
  put_varint(raw_, zigzag(event.issue - last_issue_));
  last_issue_ = event.issue;
  if (event.workspace != 0) put_varint(raw_, static_cast<std::uint64_t>(event.workspace));
  put_varint(raw_, event.accesses.size());
  for (const Access& access : event.accesses)
    put_block(
        access.block,
        (access.reads ? kReads : 0) | (access.writes ? kWrites : 0) | (access.side_effect ? kSideEffect : 0),
        kAccessBits);
  if (!event.memory.empty()) put_varint(raw_, event.memory.size());
  for (const MemoryEvent& memory : event.memory) {
    put_block(memory.block, memory.is_malloc ? kIsMalloc : 0, kMemoryBits);
    if (memory.is_malloc) put_varint(raw_, static_cast<std::uint64_t>(memory.bytes));
  }
  ++events_;
}

std::string ChunkEncoder::take() {
  std::string stored(ZSTD_compressBound(raw_.size()), '\0');
  const std::size_t size =
      ZSTD_compress(stored.data(), stored.size(), raw_.data(), raw_.size(), kCompressionLevel);
  const bool compressed = !ZSTD_isError(size) && size < raw_.size();
  if (compressed)
    stored.resize(size);
  else
    stored = raw_;
  std::string chunk;
  put_u32(chunk, kChunkMagic);
  put_u32(chunk, static_cast<std::uint32_t>(compressed ? Codec::zstd : Codec::stored));
  put_u32(chunk, static_cast<std::uint32_t>(stored.size()));
  put_u32(chunk, static_cast<std::uint32_t>(raw_.size()));
  put_u32(chunk, events_);
  put_u32(chunk, chunk_checksum(chunk, stored));
  chunk += stored;
  *this = ChunkEncoder();
  return chunk;
}

TraceWriter::TraceWriter(const std::string& path, std::string_view trace_name,
                         const TraceWriterOptions& options)
    : path_(path), options_(options), file_(std::fopen(path.c_str(), "wb"), std::fclose) {
  if (!file_) throw SystemError(fmt::format("{}: cannot create: {}", path_, std::strerror(errno)));
  write(file_header());
  encoder_.name_trace(trace_name);
}

TraceWriter::~TraceWriter() {
  try {
    close();
  } catch (const SystemError&) {
  }
}

void TraceWriter::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size() ||
      std::fflush(file_.get()) != 0)
    throw SystemError(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
}

void TraceWriter::flush() {
  if (!encoder_.empty()) write(encoder_.take());
}

void TraceWriter::flush_if_full() {
  if (encoder_.raw_size() >= options_.chunk_bytes) flush();
}

void TraceWriter::malloc(BlockId block, Bytes bytes) {
  encoder_.malloc(block, bytes);
  flush_if_full();
}

void TraceWriter::free(BlockId block) {
  encoder_.free(block);
  flush_if_full();
}

void TraceWriter::exec(const ExecEvent& event) {
  encoder_.exec(event);
  flush_if_full();
}

void TraceWriter::close() {
  if (!file_) return;
  flush();
  std::FILE* file = file_.release();
  if (std::fclose(file) != 0)
    throw SystemError(fmt::format("{}: cannot close: {}", path_, std::strerror(errno)));
}

std::string encode_trace(const Trace& trace, const TraceWriterOptions& options) {
  std::string bytes = file_header();
  ChunkEncoder encoder;
  encoder.name_trace(trace.name);
  encoder.unmanaged(trace.unmanaged);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    switch (trace.events[i].kind) {
      case EventKind::malloc:
        encoder.malloc(trace.memory_of(i)[0].block, trace.memory_of(i)[0].bytes);
        break;
      case EventKind::free:
        encoder.free(trace.memory_of(i)[0].block);
        break;
      case EventKind::exec:
        encoder.exec(trace.exec_of(i));
        break;
    }
    if (encoder.raw_size() >= options.chunk_bytes) bytes += encoder.take();
  }
  if (!encoder.empty()) bytes += encoder.take();
  return bytes;
}

void write_trace(const std::string& path, const Trace& trace) {
  write_file_atomically(path, encode_trace(trace));
}

}  // namespace ebb
