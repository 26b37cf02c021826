"""One training run of a workload, plain or within a limit, as digests of all it computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch

import ebb
from harness import ChildFailed, digests
from workloads import WORKLOADS, make_optimizer


@dataclass(frozen=True)
class Setting:
    """How Ebb is used. No limit: not at all."""

    limit: int = 0
    recompute: bool = False
    stress: bool = False

    def __str__(self) -> str:
        if not self.limit:
            return "plain"
        return f"{self.limit} bytes{', recompute' if self.recompute else ''}{', stress' if self.stress else ''}"


def train(name: str, optimizer_kind: str, steps: int, setting: Setting = Setting()) -> dict[str, Any]:
    """Losses, parameters, buffers and optimizer state as digests, and Ebb's status at the end."""
    if setting.limit:
        ebb.limit(setting.limit, planner="none", recompute=setting.recompute, stress=setting.stress, device="cpu")
    torch.manual_seed(20261115)
    workload = WORKLOADS[name]()
    optimizer = make_optimizer(optimizer_kind, workload)
    losses = []
    for i in range(steps):
        optimizer.zero_grad()
        loss = workload.loss(i)
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    status = ebb.status()
    told = {"loss": losses, "model": workload.model.state_dict(), "optimizer": optimizer.state_dict()}
    bits = digests(told)
    if setting.limit:
        ebb.off()
        assert digests(told) == bits, "turning Ebb off changed something"
    return {"bits": bits, "status": status}


def measure(name: str, optimizer_kind: str, steps: int) -> dict[str, int]:
    """The peak of a run without a limit, and the smallest limit its ops could have run under."""
    with ebb.observe(device="cpu"):
        torch.manual_seed(20261115)
        workload = WORKLOADS[name]()
        optimizer = make_optimizer(optimizer_kind, workload)
        for i in range(steps):
            optimizer.zero_grad()
            workload.loss(i).backward()
            optimizer.step()
        return {"peak": ebb.status()["peak"], "smallest": ebb.smallest_limit()}


def at_smallest(run: Callable[[int], Any], smallest: int) -> tuple[int, Any]:
    """The first limit from `smallest` upwards, in steps of a few percent, under which run(limit) has room, and what it
    returned. What an op needs at once is a lower bound: holes between its blocks are not in it, nor what must stay beside
    it, such as parameters that nobody has filled yet."""
    for percent in STEPS_UP:
        limit = smallest * percent // 100
        try:
            return limit, run(limit)
        except ChildFailed as failure:
            if "ebb._native.OutOfMemory" not in str(failure) or percent == STEPS_UP[-1]:
                raise
    raise AssertionError("unreachable")


STEPS_UP = (100, 103, 106, 110, 120, 135, 150)
