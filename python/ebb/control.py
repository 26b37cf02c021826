"""Turning Ebb on and off."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch

from ebb import collectives, functions, rank_report, reach, threads
from ebb.extension import native
from ebb.observation import Observation
from ebb.patching import Patches
from ebb.progress import Progress
from ebb.ranks import Ranks, ranks_on_host, slowest_of
from ebb.sizes import Amount, Size, format_bytes, parse_amount, parse_bytes


DEFAULT_PLANNER = "ebb"


@dataclass(frozen=True)
class Settings:
    """What Ebb was asked to do."""

    amount: Amount | None  # None: only observe
    device: str
    planner: str = ""
    recompute: bool = True
    host_limit: int = 0
    stress: bool = False
    record: bool = False
    capture: bool = False
    plans: str = ""


class _Control:
    """The one place that knows whether Ebb is on and as what."""

    def __init__(self) -> None:
        self.settings: Settings | None = None
        self._patches = Patches()
        self._observation: Observation | None = None
        self._progress: Progress | None = None
        self.ranks = Ranks()

    def start(self, settings: Settings) -> None:
        if settings.device == "cuda":
            torch.cuda.init()
        self._start_native(settings, _limit_known_now(settings))
        self.settings = settings
        for part in (reach, functions, collectives, self.ranks):
            part.install(self._patches)
        if settings.device == "cuda" and settings.amount is not None:
            _make_library_workspaces()
        self.ranks.start()
        if settings.amount is not None and _limit_known_now(settings) is None:
            self._observation = Observation(self._limit_to_share_of_peak)

    def stop(self) -> None:
        if self._observation is not None:
            self._observation.cancel()
            self._observation = None
        if self._progress is not None:
            self._progress.end()
            self._progress = None
        self.ranks.stop()
        if native.active():
            native.stop()
        self._patches.undo()
        self.settings = None

    def _limit_to_share_of_peak(self) -> None:
        settings = self.settings
        assert settings is not None and settings.amount is not None and settings.amount.share is not None
        self._observation = None
        share_of_peak = int(native.status()["peak"] * settings.amount.share)
        self._start_native(settings, share_of_peak)

    def _start_native(self, settings: Settings, bytes_: int | None) -> None:
        mode = "observe" if bytes_ is None else "planned" if settings.planner else "reactive"
        native.start(
            bytes_ or 0,
            device=settings.device,
            mode=mode,
            host_limit=max(1, settings.host_limit // ranks_on_host()) if settings.host_limit else 0,
            recompute=settings.recompute,
            stress=settings.stress,
            planner=settings.planner if mode == "planned" else "",
            record=settings.record,
            link_is_shared=ranks_on_host() > 1,
            capture=settings.capture,
            kept_plans=settings.plans,
        )
        if mode == "planned" and Progress.is_wanted():
            self._progress = Progress(settings.planner)


def _make_library_workspaces() -> None:
    """cuBLAS takes memory at its first use in a thread and never gives it back. Taken before all else, it lies at one
    end of the arena and is in nobody's way. If it does not work now, cuBLAS takes it when it comes to that."""
    with contextlib.suppress(RuntimeError), torch.enable_grad(), torch.autocast("cuda", enabled=False):
        linear = torch.nn.functional.linear
        weight = torch.ones(16, 16, device="cuda", requires_grad=True)
        weight.register_hook(lambda gradient: linear(gradient, gradient, gradient[0]))
        linear(weight, weight, weight[0]).sum().backward()


_control = _Control()
atexit.register(native.stop_planning)  # before all others, so that it runs after them
threads.install(Patches())
threads.watch_forks()


class Limit:
    """A limit that is being kept; as a context manager it ends with the block."""

    def __init__(self, before: Settings | None) -> None:
        self._before = before

    def __enter__(self) -> "Limit":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        off()
        if self._before is not None:
            _control.start(self._before)


class Recording:
    """A trace that is being recorded; as a context manager it is written at the end of the block."""

    def __init__(self, path: str) -> None:
        self._path: str | None = path
        atexit.register(self.finish)

    def finish(self) -> None:
        """Writes the trace and turns Ebb off. Doing it twice is fine."""
        path, self._path = self._path, None
        if path is None or not native.active():
            return
        atexit.unregister(self.finish)
        native.write_trace(path)
        off()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()


def limit(
    size: Size,
    *,
    planner: str | None = None,
    recompute: bool = True,
    host_limit: Size | None = None,
    device: str | None = None,
    stress: bool = False,
    record: bool = False,
    capture: bool | None = None,
    plans: str | os.PathLike[str] | None = None,
) -> Limit:
    """Keeps the program's tensors within `size` bytes of device memory from now on.

    size        "8GiB", "512MB", a number of bytes, or a share: "60%" is 60 % of the device's memory on CUDA, and on the
                CPU 60 % of the peak of the first iterations, which run without a limit
    planner     whose plan is followed once the iteration repeats (`ebb planners` lists them); None: Ebb's own, "ebb";
                "none" or "": no plan, things move on demand throughout, as they do in the first iterations
    recompute   also drop what can be computed again, instead of only moving it to the host
    host_limit  bytes of host memory that may be used for what has left; None: no limit
    device      "cuda" or "cpu"; None: cuda if there is one
    stress      for tests: after every op, everything that can leave does; without a plan unless a planner is named
    record      keep a trace, for write-outs and, where there is no planner, for the page of ebb.report
    capture     ops that a plan computes again at the same addresses in every iteration are captured once, and launched
                as that from then on, which costs the host less; None: on CUDA
    plans       a folder in which plans are kept: a later run of the same iteration within the same limit follows them at
                once

        ebb.limit("8GiB")              # until the program ends or ebb.off()
        with ebb.limit("60%"): ...     # for a block
    """
    followed = _choose_planner(planner, stress)
    if plans and not followed:
        raise ValueError("plans are kept where a planner makes them: with planner='none' nobody does")
    chosen_device = _choose_device(device)
    settings = Settings(
        amount=parse_amount(size),
        device=chosen_device,
        planner=followed,
        recompute=recompute,
        host_limit=0 if host_limit is None else parse_bytes(host_limit),
        stress=stress,
        record=record,
        capture=chosen_device == "cuda" if capture is None else capture,
        plans=_folder_for_plans(plans) if plans else "",
    )
    before = _control.settings
    if before is not None:
        off()
    _control.start(settings)
    return Limit(before)


def record(path: str | os.PathLike[str], *, device: str | None = None) -> Recording:
    """Records what the program does from now on, without a limit, and writes an Ebb trace at its end.

        ebb.record("train.ebb")             # written when the program ends or by Recording.finish()
        with ebb.record("step.ebb"): ...    # written after the block

    `ebb inspect`, `ebb plan` and `ebb compare` read the file.
    """
    if _control.settings is not None:
        raise RuntimeError("Ebb is already on; call ebb.off() before recording")
    target = os.path.abspath(os.fspath(path))
    if not os.access(os.path.dirname(target), os.W_OK):
        raise OSError(f"cannot write {target}: its folder does not exist or is not writable")
    _control.start(Settings(amount=None, device=_choose_device(device), record=True))
    return Recording(target)


def observe(*, device: str | None = None) -> Limit:
    """Watches without a limit: afterwards status()["peak"] and smallest_limit() say what limits make sense.

    Ends with a block or by ebb.off(), as ebb.limit does.
    """
    before = _control.settings
    if before is not None:
        off()
    _control.start(Settings(amount=None, device=_choose_device(device)))
    return Limit(before)


def off() -> None:
    """Turns Ebb off: everything comes back and PyTorch is as it was. Nothing happens if it is off."""
    _control.stop()


def status(*, ranks: bool = False) -> dict[str, Any]:
    """What Ebb is doing, counted: `active`, the limit, bytes in use and moved, evictions, recomputed ops, the plan and more.

    ranks   also ask the other ranks of a distributed training, which answer by themselves within a second or so: `ranks`
            is then the list of their statuses, None for one that did not answer, and `slowest` the rank with the longest
            step. Any one rank may ask; nobody else has to.
    """
    if not native.active():
        return {"active": False}
    told: dict[str, Any] = {"active": True, **native.status()}
    if ranks:
        messenger = _control.ranks.messenger
        told["ranks"] = [told.copy()] if messenger is None else messenger.ask_for_status(told.copy())
        told["slowest"] = slowest_of(told["ranks"])
    return told


def smallest_limit() -> int:
    """The smallest limit, in bytes, that the ops seen so far could have run under."""
    if not native.active():
        raise RuntimeError("Ebb is off: it has seen no ops; call ebb.limit or ebb.record first")
    return int(native.smallest_limit())


def report(path: str | os.PathLike[str], *, ranks: bool = False) -> None:
    """Writes what Ebb did so far; with `ranks`, that of all ranks side by side, with the slowest marked (see status).

    A path that ends in .html: a page that shows the iteration, its plan and how it went; Ebb must be on and have found
    the iteration. Otherwise JSON: the versions, what was asked for, everything status() counts and, once a plan was
    followed, the plan and one iteration as it was measured, for `ebb report --measured`.
    """
    import ebb

    if os.fspath(path).endswith(".html"):
        if not native.active():
            raise RuntimeError("Ebb is off: there is nothing to show; call ebb.report before ebb.off()")
        native.write_report(os.fspath(path))
        if ranks:
            rank_report.add_to_page(path, status(ranks=True))
        return
    asked = _control.settings
    told = {
        "ebb": ebb.__version__,
        "torch": torch.__version__,
        "asked": None if asked is None else {**vars(asked), "amount": asked.amount and asked.amount._asdict()},
        "status": status(ranks=ranks),
    }
    if native.active():
        told["smallest_limit"] = smallest_limit()
        told.update(json.loads(native.report_parts()))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file, indent=2)
        file.write("\n")


def describe_limit() -> str:
    """One phrase for people: '8.00 GiB on cuda'."""
    settings = _control.settings
    if settings is None:
        return "no limit"
    if settings.amount is None:
        return f"observing {settings.device}"
    if settings.amount.bytes is None:
        return f"{settings.amount.share:.0%} on {settings.device}"
    return f"{format_bytes(settings.amount.bytes)} on {settings.device}"


def _folder_for_plans(path: str | os.PathLike[str]) -> str:
    folder = os.path.abspath(os.path.expanduser(os.fspath(path)))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OSError(f"cannot keep plans in {folder}: {error.strerror}") from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise OSError(f"cannot keep plans in {folder}: it may not be read and written to")
    return folder


def _choose_planner(planner: str | None, stress: bool) -> str:
    if planner is None:
        return "" if stress else DEFAULT_PLANNER
    return "" if planner == "none" else planner


def _choose_device(device: str | None) -> str:
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device {device!r}: 'cpu' or 'cuda' is expected")
    if device == "cuda" and not torch.cuda.is_available():
        reason = "this PyTorch was built without CUDA" if torch.version.cuda is None else "no CUDA device was found"
        raise RuntimeError(f"Ebb cannot limit CUDA memory: {reason}")
    return device


def _limit_known_now(settings: Settings) -> int | None:
    amount = settings.amount
    if amount is None or amount.bytes is not None:
        return amount and amount.bytes
    if settings.device == "cpu":
        return None
    return int(amount.share * torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory)
