// The Python module ebb._native: the seam to the package around it, which holds everything that has to be
// done in Python.
#include <pthread.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "torch/captured_replay.h"
#include "torch/interposer.h"
#include "torch/mailbox_bindings.h"
#include "torch/op_run.h"
#include "torch/rank_mailbox.h"
#include "torch/report.h"
#include "torch/steward.h"
#include "torch/torch_version.h"
#include "trace/error.h"
#include "trace/write_file.h"

#if EBB_TORCH_DISTRIBUTED
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif
namespace py = pybind11;

namespace ebb::torch_adapter {
namespace {

PyObject* out_of_memory_type = nullptr;

// torch turns exceptions of this kind into the Python type that they name.
struct PythonOutOfMemory final : torch::PyTorchError {
  using PyTorchError::PyTorchError;
  PyObject* python_type() override { return out_of_memory_type; }
};

// The active steward, and the lock that starting and stopping take. It lives for ever: when a program ends,
// nobody knows who else is there still.
std::shared_ptr<Steward>& current = *new std::shared_ptr<Steward>;
std::mutex current_mutex;

std::shared_ptr<Steward> current_steward() {
  const std::lock_guard lock(current_mutex);
  return current;
}

Mode mode_named(const std::string& name) {
  if (name == "observe") return Mode::observe;
  if (name == "reactive") return Mode::reactive;
  if (name == "planned") return Mode::planned;
  throw InputError("there is no mode \"" + name + "\": observe, reactive or planned");
}

const char* name_of(Mode mode) {
  if (mode == Mode::observe) return "observe";
  return mode == Mode::reactive ? "reactive" : "planned";
}

std::unique_ptr<Platform> platform_named(const std::string& device) {
  if (device == "cpu") return make_cpu_platform();
  if (device == "cuda") return make_cuda_platform(0);
  if (device.starts_with("cuda:")) return make_cuda_platform(std::stoi(device.substr(5)));
  throw InputError("there is no device \"" + device + "\": cpu or cuda");
}

struct StartOptions {
  std::string device;
  StewardOptions steward;
};
StartOptions started_with;

void start_steward(const StartOptions& options) {
  const std::lock_guard lock(current_mutex);
  auto steward = std::make_shared<Steward>(platform_named(options.device), options.steward);
  steward->activate(current.get());
  current = std::move(steward);
  started_with = options;
}

void start(Bytes limit, const std::string& device, const std::string& mode, Bytes host_limit, bool recompute,
           bool stress, const std::string& planner, bool record, bool link_is_shared, bool capture,
           const std::string& kept_plans) {
  if (!planner.empty() && mode != "planned") throw InputError("a planner is for planned mode");
  if (limit < 0 || host_limit < 0) throw InputError("a limit below zero");
  start_steward({device,
                 {.limit = limit,
                  .host_limit = host_limit,
                  .mode = mode_named(mode),
                  .recompute = recompute,
                  .stress = stress,
                  .record = record,
                  .link_is_shared = link_is_shared,
                  .planner = planner,
                  .kept_plans = kept_plans,
                  .capture = capture}});
  set_listening(true);
}

void stop() {
  set_listening(false);
  const std::lock_guard lock(current_mutex);
  if (!current) return;
  current->stop();
  current.reset();
}

void stop_planning() {
  const std::shared_ptr<Steward> steward = current_steward();
  if (!steward) return;
  const std::lock_guard lock(steward->mutex());
  steward->device().stop_planning();
}

void set_limit(Bytes limit) {
  StartOptions options = started_with;
  if (!current_steward()) throw InputError("no limit is in force: start comes first");
  options.steward.limit = limit;
  start_steward(options);
}

std::shared_ptr<Steward> required_steward() {
  std::shared_ptr<Steward> steward = current_steward();
  if (!steward) throw InputError("Ebb is not on");
  return steward;
}

// Runs f(steward, record) for the block of a tensor, if it is one.
template <typename F>
void with_record(const at::Tensor& tensor, F&& f) {
  const std::shared_ptr<Steward> steward = current_steward();
  if (!steward || !tensor.defined() || !tensor.unsafeGetTensorImpl()->has_storage()) return;
  const std::lock_guard lock(steward->mutex());
  steward->drain();
  try {
    if (BlockRecord* record = steward->record_of(tensor.storage())) f(steward, *record);
  } catch (const OutOfMemory& error) {
    throw PythonOutOfMemory(error.what());
  }
}

void touch(const at::Tensor& tensor, bool writing) {
  with_record(tensor, [&](const auto& steward, BlockRecord& record) {
    steward->open(record, writing ? PinFor::writing : PinFor::reading);
  });
}

std::unique_ptr<TensorPin> pin(const at::Tensor& tensor) {
  auto held = std::make_unique<TensorPin>();
  with_record(tensor, [&](const auto& steward, BlockRecord& record) {
    held = std::make_unique<TensorPin>(steward, record, PinFor::writing);
  });
  return held;
}

void pin_for_life(const at::Tensor& tensor) {
  with_record(tensor, [](const auto& steward, BlockRecord& record) { steward->pin_for_life(record); });
}

bool managed(const at::Tensor& tensor) {
  bool is_ours = false;
  with_record(tensor, [&](const auto&, BlockRecord& record) { is_ours = !record.life.data(); });
  return is_ours;
}

py::dict status() {
  py::dict answer;
  const std::shared_ptr<Steward> steward = current_steward();
  if (!steward) return answer;
  DeviceStatistics numbers;
  DeviceStatus state;
  Bytes smallest = 0, live = 0, peak = 0, pinned = 0;
  std::size_t flights = 0;
  std::int64_t captured = 0, enqueued = 0, elsewhere = 0;
  {
    const py::gil_scoped_release release;
    const std::lock_guard lock(steward->mutex());
    steward->drain();
    numbers = steward->device().statistics();
    state = steward->device().status();
    smallest = steward->smallest_limit();
    live = steward->bytes_allocated();
    peak = steward->peak_allocated();
    pinned = steward->pinned_bytes();
    flights = steward->flights();
    if (const CapturedReplays* replays = steward->captured_replays()) {
      captured = replays->captured();
      enqueued = replays->enqueued();
      elsewhere = replays->elsewhere();
    }
  }
  answer["mode"] = name_of(steward->options().mode);
  answer["device"] = started_with.device;
  answer["limit"] = steward->limit();
  answer["arena_in_use"] = numbers.arena_in_use;
  answer["arena_high_water"] = numbers.arena_high_water;
  answer["live_bytes"] = live;
  answer["peak"] = peak;
  answer["pinned_bytes"] = pinned;
  answer["collectives_in_flight"] = flights;
  answer["smallest_limit"] = smallest;
  answer["bytes_out"] = numbers.bytes_out;
  answer["bytes_in"] = numbers.bytes_in;
  answer["evictions"] = numbers.evictions;
  answer["clean_evictions"] = numbers.clean_evictions;
  answer["drops"] = numbers.drops;
  answer["remakes"] = numbers.remakes;
  answer["replays"] = numbers.replays;
  answer["captures"] = captured;
  answer["captured_replays"] = enqueued;
  answer["moved_captures"] = elsewhere;
  answer["kept_for_replay"] = numbers.kept_for_replay;
  answer["abandoned_ops"] = numbers.abandoned_ops;
  answer["compactions"] = numbers.compactions;
  answer["displaced"] = numbers.displaced;
  answer["misplaced"] = numbers.misplaced;
  answer["ops"] = numbers.ops;
  answer["blocks"] = numbers.blocks;
  answer["host_bytes"] = numbers.host_in_use;
  answer["host_high_water"] = numbers.host_high_water;
  answer["host_reserved"] = numbers.host_reserved;
  answer["now"] = name_of(state.mode);
  answer["iteration_known"] = state.iteration_known;
  answer["planning"] = state.planning;
  answer["improving"] = state.improving;
  answer["planner"] = state.planner;
  answer["refusal"] = state.refusal;
  answer["fingerprint"] = state.fingerprint;
  answer["ops_per_iteration"] = state.ops_per_iteration;
  answer["predicted_step_ns"] = state.predicted_step;
  answer["predicted_replays"] = state.predicted_replays;
  answer["plain_step_ns"] = state.plain_step;
  answer["measured_step_ns"] = state.measured_step;
  answer["iterations"] = state.iterations;
  answer["planned_iterations"] = state.planned_iterations;
  answer["plans_made"] = state.plans_made;
  answer["plans_reused"] = state.plans_reused;
  answer["plans_taken"] = state.plans_taken;
  answer["plans_found"] = state.plans_found;
  answer["plans_kept"] = state.plans_kept;
  answer["collectives"] = RankMailbox::instance().ticks();
  answer["followed_from_collective"] = RankMailbox::instance().followed_from();
  answer["deviations"] = state.deviations;
  answer["fallbacks"] = state.fallbacks;
  answer["left_out"] = state.left_out;
  const auto stalled = [&](StallCause cause) { return state.stalls[static_cast<std::size_t>(cause)]; };
  answer["stalled_for_copies_out_ns"] = stalled(StallCause::sync);
  answer["stalled_for_copies_in_ns"] = stalled(StallCause::copy_in);
  answer["stalled_for_room_ns"] = stalled(StallCause::room);
  answer["planning_seconds"] = state.planning_seconds;
  return answer;
}

void write_trace(const std::string& path) {
  const std::shared_ptr<Steward> steward = required_steward();
  const std::lock_guard lock(steward->mutex());
  steward->device().write_trace(path);
}

void write_report(const std::string& path) {
  const std::shared_ptr<Steward> steward = required_steward();
  const std::lock_guard lock(steward->mutex());
  write_file_atomically(path, report_page(steward->device(), steward->limit()));
}

std::string parts_of_report() {
  const std::shared_ptr<Steward> steward = required_steward();
  const std::lock_guard lock(steward->mutex());
  return report_parts(steward->device(), steward->limit());
}

std::pair<std::string, std::string> sparklines_of_plan(std::size_t columns) {
  const std::shared_ptr<Steward> steward = current_steward();
  if (!steward) return {};
  const std::lock_guard lock(steward->mutex());
  const Sparklines lines = sparklines(steward->device(), columns);
  return {lines.before, lines.after};
}

Bytes smallest_limit() {
  const std::shared_ptr<Steward> steward = required_steward();
  const std::lock_guard lock(steward->mutex());
  return steward->smallest_limit();
}

// Of collectives whose Work only Python knows.
class GroupScope {
 public:
  GroupScope() {
    if (std::shared_ptr<Steward> steward = current_steward()) group_.emplace(std::move(steward));
  }
  void add(const at::Tensor& tensor) {
    if (group_ && tensor.defined() && tensor.unsafeGetTensorImpl()->has_storage()) group_->add(tensor);
  }
  // `work`: what torch.distributed returned, or None if all is done.
  void end(const py::object& work) {
    if (!group_) return;
    if (!work.is_none()) group_->set_works({work_of(work)});
    const py::gil_scoped_release release;
    group_.reset();
  }

 private:
  static CollectiveWork work_of(const py::object& work) {
#if EBB_TORCH_DISTRIBUTED
    try {
      return CollectiveWork(work.cast<c10::intrusive_ptr<c10d::Work>>());
    } catch (const py::cast_error&) {
      // Not of torch's own kind: nobody can say when it is over.
    }
#endif
    return CollectiveWork(c10::intrusive_ptr<torch::CustomClassHolder>());
  }

  std::optional<CollectiveGroup> group_;
};

template <typename Scope>
struct PythonScope {
  std::optional<Scope> inside;
};

template <typename Scope>
void add_scope(py::module& m, const char* name, const char* documentation) {
  py::class_<PythonScope<Scope>>(m, name, documentation)
      .def(py::init<>())
      .def("__enter__", [](PythonScope<Scope>& scope) { scope.inside.emplace(); })
      .def("__exit__", [](PythonScope<Scope>& scope, const py::args&) { scope.inside.reset(); });
}

// Around a fork: nothing is under way and nothing is dropped, so that the child can read all of it.

void before_fork() {
  current_mutex.lock();
  if (!current) return;
  current->mutex().lock();
  try {
    current->drain();
    current->device().settle();
  } catch (const std::exception&) {
    // The child will find some tensors empty, and say so when they are used.
  }
}

void after_fork_in_parent() {
  if (current) current->mutex().unlock();
  current_mutex.unlock();
}

void after_fork_in_child() {
  if (current) {
    current->give_up_in_child();
    // Its threads are gone and its lock is the parent's: it is left alone for ever.
    new std::shared_ptr<Steward>(std::move(current));
    current.reset();
  }
  set_listening(false);
  new (&current_mutex) std::mutex;
}

}  // namespace
}  // namespace ebb::torch_adapter

PYBIND11_MODULE(_native, m) {
  using namespace ebb::torch_adapter;
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.doc() = "Ebb underneath PyTorch: see ebb, the package around it.";
  out_of_memory_type = PyErr_NewExceptionWithDoc(
      "ebb._native.OutOfMemory",
      "The limit cannot be kept. Says which op asked for how much, and the smallest limit that would work.",
      PyExc_RuntimeError, nullptr);
  m.attr("OutOfMemory") = py::handle(out_of_memory_type);
  Steward::set_raise([](const std::string& message) { throw PythonOutOfMemory(message); });
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (PythonOutOfMemory& e) {
      PyErr_SetString(out_of_memory_type, e.what());
    } catch (const ebb::OutOfMemory& e) {
      PyErr_SetString(out_of_memory_type, e.what());
    } catch (const ebb::InputError& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const ebb::SystemError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    }
  });
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

  py::class_<TensorPin>(m, "Pin", "Keeps a tensor's memory where it is while it lives.")
      .def("release", &TensorPin::release, release_gil())
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](TensorPin& pin, const py::args&) {
        const py::gil_scoped_release release;
        pin.release();
      });
  py::class_<GroupScope>(
      m, "CollectiveGroup",
      "Collectives of this thread stay in memory until `end` has seen their Work and it is over.")
      .def(py::init<>())
      .def("add", &GroupScope::add, py::arg("tensor"), release_gil())
      .def("end", &GroupScope::end, py::arg("work"));
  add_scope<Surfaced>(m, "Surfaced", "Ops called inside a __torch_dispatch__ are seen while it is open.");
  add_scope<IntegersStay>(m, "IntegersStay", "Integers that ops make stay where they are while it is open.");
  m.def("start", &start, py::arg("limit"), py::kw_only(), py::arg("device") = "cpu",
        py::arg("mode") = "reactive", py::arg("host_limit") = 0, py::arg("recompute") = false,
        py::arg("stress") = false, py::arg("planner") = "", py::arg("record") = false,
        py::arg("link_is_shared") = false, py::arg("capture") = false, py::arg("kept_plans") = "",
        release_gil());
  m.def("stop", &stop, release_gil());
  m.def("stop_planning", &stop_planning, release_gil());
  m.def("set_limit", &set_limit, py::arg("limit"), release_gil());
  m.def("active", [] { return Steward::active() != nullptr; });
  m.def("status", &status);
  m.def("write_trace", &write_trace, py::arg("path"), release_gil());
  m.def("write_report", &write_report, py::arg("path"), release_gil());
  m.def("report_parts", &parts_of_report, release_gil());
  m.def("sparklines", &sparklines_of_plan, py::arg("columns"), release_gil());
  m.def("smallest_limit", &smallest_limit, release_gil());
  m.def("touch", &touch, py::arg("tensor"), py::arg("writing"), release_gil());
  m.def("pin", &pin, py::arg("tensor"), release_gil());
  m.def("pin_for_life", &pin_for_life, py::arg("tensor"), release_gil());
  m.def("managed", &managed, py::arg("tensor"), release_gil());
  m.def("enter_thread", [] { set_listening(true); });
  m.def("leave_thread", [] { set_listening(false); });
  m.def("listening", [] { return is_listening(); });
  m.def("in_fork_child", [] { set_listening(false); });
  add_mailbox(m);
  m.attr("torch_version") = TORCH_VERSION;
}
