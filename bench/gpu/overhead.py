#!/usr/bin/env python3
"""What Ebb costs on a CUDA device when there is nothing to do: a limit above the peak against plain training.

Step time of resnet50 (batch 256) and gpt2 (16 x 1024), in rounds that alternate between plain and limited processes, and
the host time of small ops. Each run is a forked child with a time-out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

from models import MODELS, as_without_ebb, import_all, make_optimizer

import torch

import ebb
from harness import ChildFailed, in_child

BATCH = {"resnet50": 256, "gpt2": 16}


def step_seconds(name: str, precision: str, steps: int, limited: bool) -> list[float]:
    if not limited:
        as_without_ebb()
    torch.cuda.init()
    if limited:
        ebb.limit("90%", planner="none", recompute=False, device="cuda")
    torch.manual_seed(1)
    model = MODELS[name](BATCH[name], 1024) if name == "gpt2" else MODELS[name](BATCH[name])
    optimizer = make_optimizer("adamw" if name == "gpt2" else "sgd", model.module)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    for i in range(-5, steps):
        if i >= 0:
            marks[i].record()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = model.loss()
        loss.backward()
        optimizer.step()
    marks[steps].record()
    torch.cuda.synchronize()
    if limited and ebb.status()["evictions"]:
        raise RuntimeError("something was evicted: the limit is not above the peak")
    return [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])]


def op_seconds() -> list[dict[str, float]]:
    """Host time per op in one process, plain and then within a limit: ops that launch a small kernel, and one that only makes a view."""
    torch.cuda.init()
    plain = _each_op_seconds()
    ebb.limit("50%", planner="none", recompute=False, device="cuda")
    return [plain, _each_op_seconds()]


def _each_op_seconds(rounds: int = 40, ops: int = 5_000) -> dict[str, float]:
    """The best of many short rounds: the host has other work."""
    x = torch.zeros(1024, device="cuda")
    answers = {}
    for name, op in (("add_", lambda: x.add_(1)), ("view", lambda: x.view(-1)), ("add", lambda: x.add(1))):
        times = []
        for _ in range(rounds):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(ops):
                op()
            times.append((time.perf_counter() - start) / ops)
        answers[name] = min(times)
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="*", choices=list(BATCH), default=list(BATCH))
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    parser.add_argument("--no-ops", action="store_true", help="leave the small ops out")
    parser.add_argument("--json", help="file for the results; also printed at the end")
    options = parser.parse_args()
    import_all(options.models)
    results: dict[str, Any] = {"torch": torch.__version__}
    try:
        for name in options.models:
            times: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(options.rounds):
                for limited in (False, True):
                    run = in_child(step_seconds, name, options.precision, options.steps, limited, seconds=options.timeout)
                    times[limited] += run
            plain, limited_time = (statistics.median(times[limited]) for limited in (False, True))
            results[name] = {"plain": plain, "limited": limited_time, "ratio": limited_time / plain}
            print(f"{name} {options.precision}: plain {plain * 1e3:.2f} ms, limited {limited_time * 1e3:.2f} ms, ratio {limited_time / plain:.4f}", flush=True)
        if not options.no_ops:
            plain_ops, limited_ops = in_child(op_seconds, seconds=options.timeout)
            for name in plain_ops:
                more = limited_ops[name] - plain_ops[name]
                results[f"op {name}"] = {"plain": plain_ops[name], "limited": limited_ops[name], "more": more}
                print(f"op {name}: plain {plain_ops[name] * 1e6:.2f} us, limited {limited_ops[name] * 1e6:.2f} us, {more * 1e6:.2f} us more", flush=True)
    except ChildFailed as error:
        print(error, file=sys.stderr)
        results["failed"] = str(error)
    text = json.dumps(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    print(text)
    return 1 if "failed" in results else 0


if __name__ == "__main__":
    sys.exit(main())
