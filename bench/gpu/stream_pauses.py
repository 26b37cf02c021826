#!/usr/bin/env python3
"""Does a step take as long on any CUDA stream? Without Ebb: on the default stream, on another, on one of high priority.

A model's steps, free and behind a kernel that holds the device until the host has issued all of the step: what they take
then is the device's alone. Each run is a forked child with a time-out.
"""

from __future__ import annotations

import argparse
import sys

from models import STRICT, as_without_ebb, deterministic, import_all
from planned import BATCH, Training

import torch

from harness import ChildFailed, in_child

HELD_CYCLES = 500_000_000  # longer than the host takes for a step
# The streams that one process uses, one after the other; a number is a priority.
RUNS: dict[str, list[int | None]] = {
    "default": [None],
    "another": [0],
    "of high priority": [-1],
    "default, another, default": [None, 0, None],
}


def held(training: Training) -> float:
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(HELD_CYCLES)
    begin.record()
    training.step()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def run(name: str, options: argparse.Namespace, priorities: list[int | None]) -> list[tuple[float, float]]:
    """Milliseconds of a step, free and held, on each stream."""
    as_without_ebb()
    deterministic(name in STRICT)
    training = Training(name, options)
    answers = []
    for priority in priorities:
        stream = torch.cuda.default_stream() if priority is None else torch.cuda.Stream(priority=priority)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        with torch.cuda.stream(stream):
            training.run(3)
            answers.append((training.timed(options.steps), min(held(training) for _ in range(3))))
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=list(BATCH), default="densenet121")
    parser.add_argument("--steps", type=int, default=8, help="that are timed")
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    options = parser.parse_args()
    import_all([options.model])
    for what, priorities in RUNS.items():
        try:
            answers = in_child(run, options.model, options, priorities, seconds=options.timeout)
        except ChildFailed as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{what}: " + "; ".join(f"{free:.2f} ms a step, {behind:.2f} with the host ahead" for free, behind in answers), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
