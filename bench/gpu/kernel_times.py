#!/usr/bin/env python3
"""Where a step's time goes on the GPU, without a limit and within limits: kernels by name, and the time between them.

For one model: a plain run, then runs within shares of its peak, each until a plan is followed; three steps of each are
profiled. A row per kernel name says how much longer or shorter the kernels of a step are than those of the plain one, as
many as that has. Each run is a forked child with a time-out.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from models import STRICT, as_without_ebb, deterministic, import_all
from planned import BATCH, MIB, Training

import torch

import ebb
from harness import ChildFailed, in_child

PROFILED = 3


def profiled(training: Training) -> dict[str, Any]:
    """Microseconds a step: of all kernels, of nothing in between, and count and sum by name. Copies are left out."""
    training.run(4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        training.run(PROFILED)
    kernels = sorted(
        (event.start_ns(), event.duration_ns(), event.name())
        for event in profile.profiler.kineto_results.events()
        if event.device_type() == torch.autograd.DeviceType.CUDA and not event.name().startswith(("Memcpy", "Memset", "Context"))
    )
    names: dict[str, list[float]] = {}
    end = kernels[0][0]
    idle = 0
    for start, duration, name in kernels:
        idle += max(0, start - end)
        end = max(end, start + duration)
        count_and_sum = names.setdefault(name, [0.0, 0.0])
        count_and_sum[0] += 1 / PROFILED
        count_and_sum[1] += duration / 1e3 / PROFILED
    return {"kernels": len(kernels) / PROFILED, "busy": sum(total for _, total in names.values()), "idle": idle / 1e3 / PROFILED, "names": names}


def run(name: str, options: argparse.Namespace, limit: int) -> dict[str, Any]:
    if not limit:
        as_without_ebb()
    deterministic(name in STRICT)
    if limit:
        ebb.limit(limit, device="cuda", planner=options.planner)
    training = Training(name, options)
    training.settle(options.patience if limit else None)
    milliseconds = training.timed(options.steps)
    return {"ms": milliseconds, "peak": torch.cuda.max_memory_allocated(), "status": ebb.status() if limit else {}, **profiled(training)}


def show(what: str, row: dict[str, Any], plain: dict[str, Any], most: int) -> None:
    times = {key: f"{row[key] / 1e3:.2f} ms ({(row[key] - plain[key]) / 1e3:+.2f})" for key in ("busy", "idle")}
    print(f"{what}: step {row['ms']:.2f} ms ({row['ms'] - plain['ms']:+.2f}); profiled: {row['kernels']:.0f} kernels of {times['busy']}, idle {times['idle']}")
    if row["status"]:
        print(f"   plain predicted as {row['status']['plain_step_ns'] / 1e6:.2f} ms, this as {row['status']['predicted_step_ns'] / 1e6:.2f}, {row['status']['predicted_replays']} replays")
    if row is plain:
        return
    changes = []
    for name, (count, total) in plain["names"].items():
        other_count, other_total = row["names"].get(name, (0.0, 0.0))
        if other_count:
            changes.append((count * (other_total / other_count - total / count), total, count, other_count, name))
    changes.sort(key=lambda change: -abs(change[0]))
    print(f"   kernels of plain alone: {sum(change[0] for change in changes) / 1e3:+.2f} ms")
    for change, total, count, other_count, name in changes[:most]:
        print(f"   {change:+9.1f} us of {total:9.1f}  {count:6.1f} -> {other_count:6.1f}  {name[:110]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=list(BATCH), default="densenet121")
    parser.add_argument("--shares", nargs="*", type=float, default=[120, 90, 60], help="limits in percent of the plain peak")
    parser.add_argument("--planner", default="ebb")
    parser.add_argument("--steps", type=int, default=20, help="that are timed without the profiler")
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="bf16: by autocast")
    parser.add_argument("--patience", type=float, default=5, help="seconds that a better plan is waited for")
    parser.add_argument("--rows", type=int, default=12, help="kernels that are shown")
    parser.add_argument("--timeout", type=float, default=90, help="seconds for one run")
    parser.add_argument("--json", help="file for all of it")
    options = parser.parse_args()
    import_all([options.model])
    results: dict[str, Any] = {}
    try:
        plain = results["plain"] = in_child(run, options.model, options, 0, seconds=options.timeout)
        show("plain", plain, plain, options.rows)
        for share in options.shares:
            limit = int(plain["peak"] * share / 100)
            row = results[f"{share:g} %"] = in_child(run, options.model, options, limit, seconds=options.timeout)
            show(f"{share:g} % ({limit / MIB:.0f} MiB)", row, plain, options.rows)
        again = results["plain again"] = in_child(run, options.model, options, 0, seconds=options.timeout)
        show("plain again", again, plain, options.rows)
    except ChildFailed as error:
        print(error, file=sys.stderr)
        results["failed"] = str(error)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, **results}, file, indent=1)
    return 1 if "failed" in results else 0


if __name__ == "__main__":
    sys.exit(main())
