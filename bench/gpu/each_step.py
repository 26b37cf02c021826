#!/usr/bin/env python3
"""Every step of a training by itself: what it took the device and the host, and what the host did in it.

The 1001-layer ResNet (or one of the five models), without Ebb, with room for everything and within a limit. A line per step:
milliseconds between the device's events, of the host, of all processors; of Python's collector; pages the system had to
map, times a thread had to wait for a processor; and what Ebb moved and did. Each run is a forked child with a time-out.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import sys
import time
from typing import Any

from models import as_without_ebb, device_memory_in_use

import torch
from host_samples import import_model, limit_of, make_training, parser_of_runs

import ebb
from harness import ChildFailed, in_child

COUNTED = ("replays", "captured_replays", "bytes_out", "bytes_in", "evictions", "left_out", "planned_iterations", "deviations", "plans_made")


class Collections:
    """Seconds that Python's cyclic collector has taken."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0
        gc.callbacks.append(self._on)

    def _on(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self.seconds += time.perf_counter() - self._began


def counters(collections: Collections, limited: bool) -> dict[str, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    status = ebb.status() if limited else {}
    return {
        "host_ms": 1e3 * time.perf_counter(),
        "cpu_ms": 1e3 * time.process_time(),
        "gc_ms": 1e3 * collections.seconds,
        "faults": usage.ru_minflt,
        "preempted": usage.ru_nivcsw,
        "waited": usage.ru_nvcsw,
        **{name: status[name] for name in COUNTED if name in status},
    }


def steps_of(training: Any, steps: int, limited: bool, waits: bool) -> list[dict[str, float]]:
    collections = Collections()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    seen, improving = [counters(collections, limited)], []
    for mark in marks[:-1]:
        mark.record()
        training.step()
        if waits:
            torch.cuda.synchronize()
        seen.append(counters(collections, limited))
        improving.append(bool(limited and ebb.status()["improving"]))
    marks[-1].record()
    torch.cuda.synchronize()
    rows = []
    for i, (before, after) in enumerate(zip(seen, seen[1:])):
        rows.append({"ms": marks[i].elapsed_time(marks[i + 1]), "improving": improving[i], **{name: after[name] - before[name] for name in after}})
    return rows


def run(options: argparse.Namespace, limit: dict[str, Any]) -> dict[str, Any]:
    if not limit:
        as_without_ebb()
    make = make_training(options)
    if limit:
        ebb.limit(device="cuda", **limit)
    start = time.perf_counter()
    training = make()
    training.settle(options.patience if limit else None)
    before = time.perf_counter() - start
    rows = steps_of(training, options.steps, bool(limit), options.wait)
    return {"settled_s": before, "rows": rows, "device_memory": device_memory_in_use(), "status": ebb.status() if limit else {}}


def show(what: str, answer: dict[str, Any]) -> None:
    rows, status = answer["rows"], answer["status"]
    predicted = f", predicted {status['predicted_step_ns'] / 1e6:.1f} of plain {status['plain_step_ns'] / 1e6:.1f}" if status else ""
    captured = f", {status['captures']} captures" if status and status["captures"] else ""
    print(f"== {what}: median {statistics.median(row['ms'] for row in rows):.1f} ms ({min(row['ms'] for row in rows):.1f} to {max(row['ms'] for row in rows):.1f}){predicted}; settled after {answer['settled_s']:.1f} s; {answer['device_memory'] / 2**20:.0f} MiB of the device{captured}")
    names = list(rows[0])
    print("   " + " ".join(f"{name:>9}" for name in names))
    for row in rows:
        print("   " + " ".join(f"{row[name] / 1e6 if name.startswith('bytes') else float(row[name]):9.1f}" for name in names), flush=True)


def main() -> int:
    parser = parser_of_runs(__doc__.split("\n")[0], ["plain", "60:ebb", "7:ebb", "plain"], 24)
    parser.add_argument("--wait", action="store_true", help="wait for the device after each step")
    options = parser.parse_args()
    import_model(options.model)

    results: list[dict[str, Any]] = []
    for what in options.runs:
        try:
            results.append({"run": what, **in_child(run, options, limit_of(what, options.plans), seconds=options.timeout)})
            show(what, results[-1])
        except ChildFailed as error:
            print(f"== {what}: {error}", file=sys.stderr)
            results.append({"run": what, "failed": str(error)})
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump({"torch": torch.__version__, "runs": results}, file, indent=1)
    return 1 if any("failed" in row for row in results) else 0


if __name__ == "__main__":
    sys.exit(main())
