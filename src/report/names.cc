#include "report/names.h"

namespace ebb::report {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::zero_grad:
      return "zero_grad";
    case Phase::update:
      return "update";
    case Phase::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(Lifetime lifetime) {
  switch (lifetime) {
    case Lifetime::local:
      return "local";
    case Lifetime::persistent:
      return "persistent";
    case Lifetime::wrapping:
      break;
  }
  return "wrapping";
}

std::string_view name_of(GapKind kind) {
  switch (kind) {
    case GapKind::between:
      return "between";
    case GapKind::wrapping:
      return "wrapping";
    case GapKind::trailing:
      break;
  }
  return "trailing";
}

}  // namespace ebb::report
