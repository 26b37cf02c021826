#!/usr/bin/env python3
"""Where the host's time of a step goes: stacks of the program's threads, sampled while it trains.

The 1001-layer ResNet (or one of the five models), without Ebb, with room for everything and within a limit: a row per kind
of work in milliseconds of a step. A sample counts for the innermost function that a row names, so that rows add up. Each run
is a forked child with a time-out. Needs g++ and binutils.
"""

from __future__ import annotations

import argparse
import bisect
import collections
import ctypes
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

from models import MODELS, STRICT, as_without_ebb, deterministic, import_all

import paper_models
import planned as shares_of_peak
import torch
from paper_runs import Case, Training

import ebb
from harness import ChildFailed, in_child

GIB = 2**30
EVERY_US = 250
IDLE = re.compile(r"pthread_cond|futex|^poll$|epoll|^select$|sem_wait|nanosleep|__lll_lock")
Frame = tuple[str, str]  # file, function


def build_sampler(folder: str) -> str:
    path = os.path.join(folder, "stack_sampler.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stack_sampler.cc")
    subprocess.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", source, "-o", path, "-ldl", "-lpthread"], check=True)
    return path


def threads_that_work() -> list[int]:
    """The program's own and those of autograd."""
    found = [os.getpid()]
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/comm", encoding="utf-8") as file:
            if file.read().startswith("pt_autograd"):
                found.append(int(task))
    return found


class Symbols:
    """Names of functions in files that keep them, hidden ones too."""

    def __init__(self) -> None:
        self.tables: dict[str, tuple[list[int], list[str]]] = {}

    def find(self, file: str, offset: int, exported: str) -> str:
        if "_native" not in file:
            return exported
        if file not in self.tables:
            lines = subprocess.run(["nm", "-C", "-n", "--defined-only", file], capture_output=True, text=True, check=True).stdout.splitlines()
            parts = [line.split(" ", 2) for line in lines]
            self.tables[file] = [int(part[0], 16) for part in parts], [part[2] for part in parts]
        addresses, names = self.tables[file]
        place = bisect.bisect_right(addresses, offset) - 1
        return names[place] if place >= 0 else exported


def read_samples(path: str) -> list[list[Frame]]:
    symbols = Symbols()
    stacks = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            frames = [frame.split("|") for frame in line.rstrip("\n").split("\t")[1:]]
            stacks.append([(os.path.basename(name), symbols.find(name, int(offset, 16), symbol)) for name, offset, symbol in frames])
    return stacks


@functools.cache
def short(function: str) -> str:
    return re.sub(r"\(.*|<.*", "", function).removeprefix("ebb::")[:60]


def kind_of(stack: list[Frame]) -> str:
    """Driver calls by name, and whose: Ebb's own, a replay's, an op's. Then what the innermost frame belongs to."""
    own = [short(function) for file, function in stack if "_native" in file]
    inside = next((i for i, (file, _) in enumerate(stack) if "_native" in file), len(stack))
    whose = "program" if not own else "replayed op" if any(name.startswith("Replay::run_function") for name in own) else "op"
    if any(file.startswith(("libtorch_c", "libcudnn", "libcublas", "libc10", "libaten")) for file, _ in stack[:inside]):
        pass  # an op's function is between Ebb and what runs
    elif own:
        whose = "Ebb"
    call = next((function for file, function in reversed(stack[:inside]) if file.startswith(("libcudart", "libcuda.")) and function.startswith("cu")), "")
    if call:
        return f"driver: {call} of {whose}"
    file = stack[0][0]
    if "_native" in file:
        return "Ebb itself" + (", in a replay" if any(name.startswith("Replay::") for name in own) else "")
    if file.startswith("libcuda"):
        return f"driver of {whose}"
    if "python" in file:
        return "Python"
    return f"{'C library' if file.startswith(('libc.', 'libstdc', 'ld-')) else 'PyTorch and CUDA libraries'} of {whose}"


def summary(stacks: list[list[Frame]], step_ms: float) -> dict[str, Any]:
    busy = [stack for stack in stacks if stack and not any(IDLE.search(function) for _, function in stack[:4])]
    kinds: collections.Counter[str] = collections.Counter(kind_of(stack) for stack in busy)
    functions: collections.Counter[str] = collections.Counter()
    innermost: collections.Counter[str] = collections.Counter()
    for stack in busy:
        own = [short(function) for file, function in stack if "_native" in file]
        functions.update(set(own))
        if "_native" in stack[0][0]:
            innermost[own[0]] += 1
    each = step_ms / max(1, len(busy))
    listed = lambda counter, most: {name: round(count * each, 2) for name, count in counter.most_common(most)}  # noqa: E731
    return {"samples": len(busy), "kinds": listed(kinds, 40), "functions": listed(functions, 60), "innermost": listed(innermost, 30)}


def make_training(options: argparse.Namespace) -> Any:
    if options.model == "deep":
        case = Case(paper_models.RESNET1001, 32, "cuda", options.steps, exact=True)
        case.prepare()
        return lambda: Training(case)
    deterministic(options.model in STRICT)
    return lambda: shares_of_peak.Training(options.model, options)


def run(options: argparse.Namespace, sampler: str, limit: dict[str, Any]) -> dict[str, Any]:
    if not limit:
        as_without_ebb()
    make = make_training(options)
    if limit:
        ebb.limit(device="cuda", **limit)
    training = make()
    training.settle(options.patience if limit else None)
    step = training.timed(options.steps)
    each = training.each
    before = ebb.status() if limit else {}
    library = ctypes.CDLL(sampler)
    threads = threads_that_work()
    library.start_sampling((ctypes.c_int * len(threads))(*threads), len(threads), EVERY_US)
    start = time.perf_counter()
    training.run(options.steps)
    sampled = 1e3 * (time.perf_counter() - start) / options.steps
    library.stop_sampling()
    after = ebb.status() if limit else {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "samples")
        library.write_samples(path.encode())
        answer = summary(read_samples(path), step)
    per_step = {key: (after[key] - before[key]) / options.steps for key in ("ops", "replays", "captured_replays", "bytes_out", "bytes_in", "evictions", "left_out", "planned_iterations") if key in after}
    stalls = {key: (after[key] - before[key]) / options.steps / 1e6 for key in after if key.startswith("stalled_")}
    return {"ms": step, "each": each, "sampled_ms": sampled, "per_step": per_step, "stalls_ms": stalls, "status": after, "report": shares_of_peak.whole_report() if limit else {}, **answer}


def show(what: str, row: dict[str, Any]) -> None:
    print(f"== {what}: step {row['ms']:.1f} ms ({min(row['each']):.1f} to {max(row['each']):.1f}, sampled {row['sampled_ms']:.1f}), {row['samples']} samples", flush=True)
    if row["per_step"]:
        status = row["status"]
        print(f"   per step {row['per_step']}; stalls {row['stalls_ms']}; {'a better plan is looked for' if status['improving'] else 'settled'}; predicted {status['predicted_step_ns'] / 1e6:.1f} of plain {status['plain_step_ns'] / 1e6:.1f} ms")
    for name, milliseconds in row["kinds"].items():
        print(f"   {milliseconds:8.2f} ms  {name}")
    if row["functions"]:
        print("   in Ebb's functions and below: " + ", ".join(f"{name} {ms}" for name, ms in row["functions"].items()))
        print("   in themselves: " + ", ".join(f"{name} {ms}" for name, ms in row["innermost"].items()))


def parser_of_runs(description: str, runs: list[str], steps: int) -> argparse.ArgumentParser:
    """What a script takes that runs one model plain and within limits."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", choices=["deep", *MODELS], default="deep")
    parser.add_argument("--runs", nargs="+", default=runs, help="plain, GIB:PLANNER, or GIB:PLANNER:no-capture")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--plans", help="folder of plans: a second run of a kind is without a search")
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="of the five models; bf16: by autocast")
    parser.add_argument("--patience", type=float, default=40, help="seconds that a better plan is waited for")
    parser.add_argument("--timeout", type=float, default=150, help="seconds for one run")
    parser.add_argument("--json", help="file for all of it")
    return parser


def import_model(name: str) -> None:
    if name != "deep":
        import_all([name])
    import torchvision  # noqa: F401


def limit_of(what: str, plans: str | None) -> dict[str, Any]:
    """A run's arguments of ebb.limit; none where there is no limit."""
    if what == "plain":
        return {}
    size, planner, *other = what.split(":")
    if other not in ([], ["no-capture"]):
        raise SystemExit(f"--runs: {what} is neither plain, GIB:PLANNER nor GIB:PLANNER:no-capture")
    return {"size": int(float(size) * GIB), "planner": planner, "capture": False if other else None, "plans": plans}


def main() -> int:
    options = parser_of_runs(__doc__.split("\n")[0], ["plain", "60:ebb", "7:ebb", "7:sublinear"], 8).parse_args()
    import_model(options.model)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        sampler = build_sampler(folder)
        for what in options.runs:
            try:
                results[what] = in_child(run, options, sampler, limit_of(what, options.plans), seconds=options.timeout)
                show(what, results[what])
            except ChildFailed as error:
                print(f"== {what}: {error}", file=sys.stderr)
                results[what] = {"failed": str(error)}
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump({"torch": torch.__version__, **results}, file, indent=1)
    return 1 if any("failed" in row for row in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
