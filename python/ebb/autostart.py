"""Turns Ebb on as `ebb run` and `ebb record` asked, right after the program has imported torch.

The tool hands over by environment variables:

    EBB_PROCESS     the process it became; others (launchers' children) inherit the rest
    EBB_LIMIT EBB_PLANNER EBB_RECOMPUTE EBB_HOST_LIMIT EBB_DEVICE EBB_PLANS    of ebb run
    EBB_REPORT      of ebb run: a file for ebb.report when the program ends
    EBB_RECORD      of ebb record: the file
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Callable

import torch

import ebb
from ebb import rank_report
from ebb.patching import Patches


def begin() -> None:
    """On the CPU at once; with CUDA when the program first uses it, as it may still choose its devices."""
    if _launches_ranks():
        return
    has_cuda = _has_cuda()
    device = os.environ.get("EBB_DEVICE") or ("cuda" if has_cuda else "cpu")
    if device == "cuda" and has_cuda:
        _when_cuda_starts(lambda: _start("cuda"))
    else:
        _start(device)


def _start(device: str) -> None:
    if "EBB_RECORD" in os.environ:
        path = os.environ["EBB_RECORD"]
        name = os.environ.get("RANK", str(os.getpid()))
        ebb.record(path if _is_first_process() else f"{path}.{name}", device=device)
        return
    planner = os.environ.get("EBB_PLANNER") or None
    ebb.limit(
        os.environ["EBB_LIMIT"],
        planner=planner,
        recompute=os.environ.get("EBB_RECOMPUTE") != "0",
        host_limit=os.environ.get("EBB_HOST_LIMIT") or None,
        plans=os.environ.get("EBB_PLANS") or None,
        device=device,
        record="EBB_REPORT" in os.environ and planner == "none",
    )
    if "EBB_REPORT" not in os.environ:
        return
    if "RANK" in os.environ:
        rank_report.write_when_it_ends(os.environ["EBB_REPORT"])
    elif _is_first_process():
        atexit.register(ebb.report, os.environ["EBB_REPORT"])


def _launches_ranks() -> bool:
    """torchrun and its like compute nothing; the ranks that they start do."""
    words = [os.path.basename(word) for word in sys.orig_argv[:4]]
    return "RANK" not in os.environ and bool({"torchrun", "torch.distributed.run", "torch.distributed.launch"} & set(words))


def _is_first_process() -> bool:
    return os.environ.get("EBB_PROCESS") == str(os.getpid())


def _has_cuda() -> bool:
    # Asks the driver's library, not the runtime, which would read CUDA_VISIBLE_DEVICES for good.
    name = "PYTORCH_NVML_BASED_CUDA_CHECK"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        return torch.cuda.is_available()
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _when_cuda_starts(start: Callable[[], None]) -> None:
    patches = Patches()

    def starting(original: Callable[[], Any]) -> Callable[[], Any]:
        def lazy_init() -> None:
            original()
            if torch.cuda.is_initialized():
                patches.undo()
                try:
                    start()
                except Exception as error:
                    sys.exit(f"ebb: {error}")

        return lazy_init

    patches.replace(torch.cuda, "_lazy_init", starting)
