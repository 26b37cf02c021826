#include "torch/mailbox_bindings.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "torch/rank_mailbox.h"

namespace py = pybind11;

namespace ebb::torch_adapter {

void add_mailbox(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def(
      "connect_ranks", [](bool on) { RankMailbox::instance().connect(on); }, py::arg("on"), release_gil());
  m.def(
      "next_errand",
      [](double seconds) -> py::object {
        std::optional<Errand> errand;
        {
          const py::gil_scoped_release release;
          errand = RankMailbox::instance().next(std::chrono::milliseconds(static_cast<int>(seconds * 1e3)));
        }
        if (!errand) return py::none();
        const char* kind = errand->kind == Errand::Kind::ask    ? "ask"
                           : errand->kind == Errand::Kind::give ? "give"
                                                                : "ready";
        return py::make_tuple(kind, errand->key, errand->text, errand->per_iteration);
      },
      py::arg("seconds"));
  m.def(
      "answer_errand",
      [](const std::string& key, bool plan_here, std::vector<std::string> measured, const std::string& plan) {
        RankMailbox::instance().answer(key, {plan_here, std::move(measured), plan});
      },
      py::arg("key"), py::arg("plan_here"), py::arg("measured"), py::arg("plan"), release_gil());
  m.def(
      "start_at",
      [](const std::string& key, std::int64_t ticks) { RankMailbox::instance().start_at(key, ticks); },
      py::arg("key"), py::arg("collectives"), release_gil());
  m.def("collectives", [] { return RankMailbox::instance().ticks(); });
}

}  // namespace ebb::torch_adapter
