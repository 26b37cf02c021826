// The mailbox of ranks (rank_mailbox.h) for its messenger in Python.
#pragma once

namespace pybind11 {
class module_;
}

namespace ebb::torch_adapter {

void add_mailbox(pybind11::module_& m);

}  // namespace ebb::torch_adapter
