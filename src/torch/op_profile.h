// What is known of an operator from its schema and from the few lists of what schemas do not say.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <string>

namespace ebb::torch_adapter {

// What a value of the argument's type can have in it; whatever is not known may have tensors.
enum class Holds : char { plain, device, tensors };

struct ArgumentUse {
  Holds holds = Holds::tensors;
  bool writes = false;
  bool reads = true;
  bool side_effect = false;  // running statistics of batch norm, when it trains
};

enum class Treatment : char {
  pass,        // touches no memory itself: views, metadata, and what only calls other ops
  opaque,      // not torch's own: its tensors stay where they are while it runs, ops it calls are seen
  collective,  // returns before it is done: its tensors stay where they are until it is
  op           // runs as one op of the device
};

struct OpProfile {
  Treatment treatment = Treatment::op;
  bool random = false;
  bool elementwise_lists = false;  // its lists may be cut into parts, if it runs as one op
  bool uninitialised = false;      // nobody wrote the result yet, and whoever does need not be an op
  bool replayable = false;         // as far as the operator is concerned
  // It does nothing on the host but launch work on its tensors. Known of the commonest; others may wait for
  // the device, read host memory later, or call a library that keeps workspaces.
  bool only_launches = false;
  // It makes the same results if the arguments that are side effects are left out.
  bool side_effects_are_optional = false;
  int training_argument = -1;  // which one says that side effects happen; -1: they always do
  std::size_t results = 0;
  c10::SmallVector<ArgumentUse, 12> arguments;
  std::string name;

  // Do its side effects happen, called with these?
  bool trains(c10::ArrayRef<c10::IValue> values) const {
    return training_argument < 0 || values[static_cast<std::size_t>(training_argument)].toBool();
  }
};

std::unique_ptr<const OpProfile> make_profile(const c10::OperatorHandle& op);
// Made on first use, once per thread, so that no lock is needed, and kept.
const OpProfile& profile_of(const c10::OperatorHandle& op);

}  // namespace ebb::torch_adapter
