#!/usr/bin/env python3
"""Trains real models on a CUDA device within limits and compares every bit with plain training.

For each model, optimizer and precision: a plain run, then runs at a share of its peak and in stress mode, where everything
that can leave does so after every op; then a second plain run (do they agree with each other?) and the same again with
recomputation. Losses, parameters, buffers and optimizer state must be the same bits, and the memory of the process must stay
within the limit plus what the CUDA context takes. Each run is a forked child with a time-out. The grid is walked setting by
setting, the cases with the least memory first, until --seconds are over; --json gets a line as each run ends. --at-once N
walks it in N processes, where the driver tells what each has of the device's memory. With --device cpu small models show
that the script works.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from typing import Any

from models import MODELS, STRICT, Model, deterministic, device_memory_in_use, import_all, make_optimizer
from paper_models import HOME

import torch

import ebb
from harness import ChildFailed
from journal import Budget, Journal, Measurements, OutOfTime, at_once

MIB = 2**20
BATCH = {"resnet50": 32, "vgg16": 16, "densenet121": 16, "vit_base": 16, "gpt2": 4}
# In the order in which they are run.
SETTINGS = {"share": (False, False), "stress": (True, False), "again": (False, False), "share-recompute": (False, True), "stress-recompute": (True, True)}
SMALL = {network.name: network for network in HOME if network.name in ("Plain20", "SqueezeNet")}
Case = tuple[str, str, str]  # model, optimizer, precision


def digest(tensor: torch.Tensor) -> str:
    import hashlib

    data = tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return hashlib.sha256(data.tobytes()).hexdigest()[:16]


def bits_of(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        return {name: digest(value)}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else None
    if items is None:
        return {name: value}
    return {k: v for key, inner in items for k, v in bits_of(inner, f"{name}/{key}").items()}


def make_model(name: str, options: argparse.Namespace) -> Model:
    if options.device == "cpu":
        return SMALL[name].make(options.batch or 4, "cpu")
    return MODELS[name](options.batch or BATCH[name])


def prepare(name: str, device: str, limit: dict[str, Any] | None) -> None:
    if device == "cuda":
        deterministic(name in STRICT)
    else:
        torch.use_deterministic_algorithms(True, warn_only=True)
    if limit is not None:
        ebb.limit(device=device, planner="none", **limit)
    elif device == "cpu":
        ebb.observe(device=device)


def memory_of(status: dict[str, Any], device: str, limited: bool) -> dict[str, int]:
    """`context` is what the device's memory holds beside what PyTorch reserved."""
    if device == "cpu":
        return {"peak": status["peak"], "context": 0, "device_memory": status["arena_high_water"]}
    in_use = device_memory_in_use()
    return {
        "peak": torch.cuda.max_memory_allocated(),
        "context": 0 if limited else in_use - torch.cuda.memory_reserved(),
        "device_memory": in_use,
    }


def train(case: Case, options: argparse.Namespace, limit: dict[str, Any] | None) -> dict[str, Any]:
    name, optimizer_kind, precision = case
    prepare(name, options.device, limit)
    torch.manual_seed(20261115)
    model = make_model(name, options)
    optimizer = make_optimizer(optimizer_kind, model.module)
    losses, most, times = [], 0, []
    for _ in range(options.steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(options.device, dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = model.loss()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
        times.append(time.perf_counter() - start)
        most = max(most, device_memory_in_use() if options.device == "cuda" else 0)
    status = ebb.status()
    memory = memory_of(status, options.device, limit is not None)
    memory["device_memory"] = max(most, memory["device_memory"])
    bits = bits_of({"loss": losses, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()})
    return {"bits": bits, "status": status, **memory, "step_seconds": sorted(times)[len(times) // 2]}


def differences(plain: dict[str, Any], limited: dict[str, Any]) -> list[str]:
    return sorted(set(plain) ^ set(limited)) + [name for name in plain if plain[name] != limited.get(name, plain[name])]


class Grid:
    """Cases by settings."""

    def __init__(self, options: argparse.Namespace, measurements: Measurements) -> None:
        self.options = options
        self.measurements = measurements
        self.plain: dict[Case, dict[str, Any]] = {}

    def walk(self, cases: list[Case]) -> None:
        for case in cases:
            self._cell(case, "plain")
        for setting in SETTINGS:
            for case in sorted(self.plain, key=lambda case: self.plain[case]["peak"]):
                if setting in self.options.settings:
                    self._cell(case, setting)

    def _cell(self, case: Case, setting: str) -> None:
        try:
            if setting == "plain":
                self.plain[case] = self._run(case, None)
                self._tell(case, setting, True, f"peak {self.plain[case]['peak'] / MIB:.0f} MiB, step {self.plain[case]['step_seconds']:.3f} s", peak=self.plain[case]["peak"])
            elif setting == "again":
                unsteady = differences(self.plain[case]["bits"], self._run(case, None)["bits"])
                words = f"two plain runs differ in {len(unsteady)} of {len(self.plain[case]['bits'])}" if unsteady else "two plain runs have the same bits"
                self._tell(case, setting, not unsteady, words, different=unsteady[:20])
            else:
                self._compare(case, setting)
        except ChildFailed as error:
            self._tell(case, setting, False, str(error).strip().splitlines()[-1], traceback=str(error)[-4000:])
        except OutOfTime:
            print(f"left {' '.join(case):24} {setting}", flush=True)

    def _compare(self, case: Case, setting: str) -> None:
        plain = self.plain[case]
        stress, recompute = SETTINGS[setting]
        limit = 2 * plain["peak"] if stress else int(plain["peak"] * self.options.share / 100)
        limited = self._run(case, {"size": limit, "stress": stress, "recompute": recompute})
        different = differences(plain["bits"], limited["bits"])
        allowed = limit + plain["context"]
        within = limited["device_memory"] <= allowed + self.options.slack * MIB
        status = limited["status"]
        verdict = f"{len(different)} of {len(plain['bits'])} differ, first {different[0]}" if different else "same bits"
        words = (
            f"{verdict}, device {limited['device_memory'] / MIB:.0f} of {allowed / MIB:.0f} MiB{'' if within else ' EXCEEDED'}, "
            f"step {limited['step_seconds']:.3f} s, {status['evictions']} evictions, {status['replays']} replays"
        )
        self._tell(case, setting, not different and within, words, limit=limit, context=plain["context"], status=status,
                   device_memory=limited["device_memory"], step_seconds=limited["step_seconds"], different=different[:20])

    def _run(self, case: Case, limit: dict[str, Any] | None) -> dict[str, Any]:
        return self.measurements.run(train, case, self.options, limit)

    def _tell(self, case: Case, setting: str, good: bool, words: str, **numbers: Any) -> None:
        print(f"{'ok  ' if good else 'BAD '} {' '.join(case):24} {setting:16} {words}", flush=True)
        self.measurements.journal.add({"case": list(case), "setting": setting, "good": good, "words": words, **numbers})


def walk(options: argparse.Namespace, cases: list[Case], journal: Journal) -> int:
    """Returns how many cells were left out."""
    measurements = Measurements(journal)
    measurements.budget = Budget(options.seconds)
    measurements.timeout = options.timeout
    Grid(options, measurements).walk(cases)
    return measurements.left_out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--models", nargs="+", help="of " + ", ".join(MODELS) + "; on the CPU of " + ", ".join(SMALL) + "; unless told, all")
    parser.add_argument("--optimizers", nargs="+", choices=["sgd", "adamw"], default=["sgd", "adamw"])
    parser.add_argument("--precisions", nargs="+", choices=["fp32", "bf16"], help="unless told, both; on the CPU fp32")
    parser.add_argument("--settings", nargs="*", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--share", type=float, default=75, help="limit of the share settings in percent of the plain peak")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    parser.add_argument("--seconds", type=float, default=520, help="for all runs; what is left then is left out")
    parser.add_argument("--at-once", type=int, default=1, help="processes that share the device")
    parser.add_argument("--slack", type=float, default=64, help="MiB by which the context of two runs may differ")
    parser.add_argument("--json", help="file that a line is appended to as each run ends")
    options = parser.parse_args()
    known = list(SMALL if options.device == "cpu" else MODELS)
    options.models = options.models or known
    options.precisions = options.precisions or (["fp32"] if options.device == "cpu" else ["fp32", "bf16"])
    if unknown := set(options.models) - set(known):
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    import_all(options.models)
    cases = list(itertools.product(options.models, options.optimizers, options.precisions))
    journal = Journal(options.json)
    left_out = at_once(options.at_once, lambda k, rows: walk(options, cases[k :: options.at_once], rows), journal)
    results = journal.rows
    bad = [r for r in results if not r["good"]]
    short = [{k: r[k] for k in ("case", "setting", "good")} for r in results]
    print(json.dumps({"torch": torch.__version__, "good": len(results) - len(bad), "bad": len(bad), "left_out": left_out, "results": short}))
    return 1 if bad or left_out else 0


if __name__ == "__main__":
    sys.exit(main())
