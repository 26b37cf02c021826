#include "trace/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "trace/error.h"

namespace ebb {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 18;
constexpr int kGzipWindow = 15 + 16;  // zlib's code for "32 KiB window, gzip wrapper only"

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

struct Deflater {
  z_stream stream{};
  Deflater() {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

[[noreturn]] void fail(const std::string& file, const char* what, std::size_t consumed, const char* detail) {
  throw InputError(fmt::format("{}: {} gzip data after {} bytes{}{}", file, what, consumed,
                               detail ? ": " : "", detail ? detail : ""));
}

}  // namespace

std::string read_file(const std::string& path, std::size_t cap) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw SystemError(fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kStep);
    const std::size_t got = std::fread(bytes.data() + before, 1, kStep, file.get());
    bytes.resize(before + got);
    if (bytes.size() > cap)
      throw InputError(fmt::format("{}: larger than the {} bytes that are read", path, cap));
    if (got < kStep) break;
  }
  if (std::ferror(file.get()))
    throw SystemError(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  return bytes;
}

bool looks_gzipped(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::string gunzip(std::string_view bytes, const std::string& file, std::size_t cap) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  std::string text;
  std::size_t consumed = 0;
  for (;;) {
    const std::size_t offered = std::min(bytes.size() - consumed, kStep);
    const std::size_t before = text.size();
    text.resize(before + kStep);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    z.avail_in = static_cast<uInt>(offered);
    z.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    z.avail_out = static_cast<uInt>(kStep);
    const int status = inflate(&z, Z_NO_FLUSH);
    consumed += offered - z.avail_in;
    text.resize(before + kStep - z.avail_out);
    if (text.size() > cap) throw InputError(fmt::format("{}: unpacks to more than {} bytes", file, cap));
    if (status == Z_STREAM_END) {
      if (consumed == bytes.size()) return text;
      if (!looks_gzipped(bytes.substr(consumed))) fail(file, "corrupt", consumed, "bytes follow its end");
      inflateReset(&z);
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail(file, "corrupt", consumed, z.msg);
    } else if (consumed == bytes.size() && z.avail_out > 0) {
      fail(file, "truncated", consumed, nullptr);
    }
  }
}

std::string gzip(std::string_view text) {
  Deflater deflater;
  z_stream& z = deflater.stream;
  std::string packed;
  for (std::size_t consumed = 0;;) {
    const std::size_t offered = std::min(text.size() - consumed, kStep);
    const bool last = consumed + offered == text.size();
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + consumed));
    z.avail_in = static_cast<uInt>(offered);
    int status = Z_OK;
    do {
      const std::size_t before = packed.size();
      packed.resize(before + kStep);
      z.next_out = reinterpret_cast<Bytef*>(packed.data() + before);
      z.avail_out = static_cast<uInt>(kStep);
      status = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
      packed.resize(before + kStep - z.avail_out);
    } while (z.avail_out == 0);
    if (status == Z_STREAM_END) return packed;
    consumed += offered;
  }
}

std::string read_maybe_gzipped(const std::string& path, std::size_t cap) {
  std::string bytes = read_file(path, cap);
  return looks_gzipped(bytes) ? gunzip(bytes, path, cap) : bytes;
}

}  // namespace ebb
