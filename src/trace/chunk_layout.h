// The fixed parts of the trace file that reader and writer share. Numbers are little-endian.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb {

inline constexpr std::size_t kTraceHeaderSize = 16;       // magic, version, zero
inline constexpr std::size_t kChunkHeaderSize = 24;       // the fields of ChunkHeader in order
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"

enum class Codec : std::uint32_t { stored = 0, zstd = 1 };

struct ChunkHeader {
  std::uint32_t magic = kChunkMagic;
  std::uint32_t codec = 0;
  std::uint32_t stored_size = 0;
  std::uint32_t raw_size = 0;
  std::uint32_t events = 0;
  std::uint32_t checksum = 0;  // CRC-32 of the 20 bytes above and the stored bytes
};

// The tag that begins each record of a chunk.
enum class Record : std::uint8_t { name = 1, malloc = 2, free = 3, exec = 4, trace_name = 5, unmanaged = 6 };

// Bits of an exec's flags byte; the phase is above them.
inline constexpr unsigned kReplayable = 1, kRandom = 2, kHasWorkspace = 4, kHasMemory = 8, kPhaseShift = 4;
// Bits below the block's difference in an access, and in a malloc or free inside an op.
inline constexpr unsigned kReads = 1, kWrites = 2, kSideEffect = 4, kAccessBits = 3;
inline constexpr unsigned kIsMalloc = 1, kMemoryBits = 1;
inline constexpr std::array<char, 5> kPhases = {'?', 'F', 'B', 'Z', 'U'};

inline void put_u32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

inline std::uint32_t get_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * static_cast<unsigned>(i));
  return value;
}

inline std::uint32_t chunk_checksum(std::string_view header, std::string_view stored) {
  const auto add = [](uLong sum, std::string_view bytes) {
    return crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  };
  return static_cast<std::uint32_t>(add(add(0, header.substr(0, kChunkHeaderSize - 4)), stored));
}

}  // namespace ebb
