#include "backend/reservation.h"

#include <string>

#include "backend/events.h"

namespace ebb {
namespace {

std::uintptr_t address(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

bool overlap(const std::byte* a, Bytes a_bytes, const std::byte* b, Bytes b_bytes) {
  return address(a) < address(b) + static_cast<std::uintptr_t>(b_bytes) &&
         address(b) < address(a) + static_cast<std::uintptr_t>(a_bytes);
}

std::string copy_text(Engine engine, Bytes bytes) {
  return "copy of " + std::to_string(bytes) + " bytes on " + name_of(engine);
}

}  // namespace

void Reservation::require_none(Bytes bytes) const {
  if (begin_)
    throw BackendError("reserve of " + std::to_string(bytes) + " bytes: " + std::to_string(bytes_) +
                       " bytes are reserved already, and a backend has one reservation");
  if (bytes <= 0) throw BackendError("reserve of " + std::to_string(bytes) + " bytes: not a size");
}

void Reservation::set(std::byte* begin, Bytes bytes) {
  begin_ = begin;
  bytes_ = bytes;
}

bool Reservation::contains(const std::byte* at, Bytes bytes) const {
  return address(at) >= address(begin_) &&
         address(at) - address(begin_) <= static_cast<std::uintptr_t>(bytes_ - bytes);
}

bool Reservation::touches(const std::byte* at, Bytes bytes) const {
  return overlap(at, bytes, begin_, bytes_);
}

std::string Reservation::place_of(const std::byte* at) const {
  return "device offset " + std::to_string(static_cast<std::int64_t>(address(at) - address(begin_)));
}

void Reservation::check_copy(Engine engine, const std::byte* to, const std::byte* from, Bytes bytes) const {
  if (bytes < 0 || bytes > bytes_)
    throw BackendError(copy_text(engine, bytes) + ": not a size within the reservation of " +
                       std::to_string(bytes_) + " bytes");
  if (engine != Engine::in && !contains(from, bytes))
    throw BackendError(copy_text(engine, bytes) + ": reads from " + place_of(from) +
                       ", outside the reservation of " + std::to_string(bytes_) + " bytes");
  if (engine != Engine::out && !contains(to, bytes))
    throw BackendError(copy_text(engine, bytes) + ": writes to " + place_of(to) +
                       ", outside the reservation of " + std::to_string(bytes_) + " bytes");
  if (engine == Engine::out && touches(to, bytes))
    throw BackendError(copy_text(engine, bytes) + ": writes to " + place_of(to) +
                       ", which is no host memory");
  if (engine == Engine::in && touches(from, bytes))
    throw BackendError(copy_text(engine, bytes) + ": reads from " + place_of(from) +
                       ", which is no host memory");
  if (engine == Engine::compute && overlap(to, bytes, from, bytes))
    throw BackendError(copy_text(engine, bytes) + ": " + place_of(from) + " and " + place_of(to) +
                       " overlap");
}

void require_slab_size(Bytes bytes) {
  if (bytes <= 0) throw BackendError("host slab of " + std::to_string(bytes) + " bytes: not a size");
}

}  // namespace ebb
