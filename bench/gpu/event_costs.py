#!/usr/bin/env python3
"""What an event costs the queue it is recorded in, on a CUDA device: short kernels, with an event after every fourth.

The host is ahead: all of it is enqueued behind a pause. Events with a time hold the queue up, more so beside copies; others do
not. Microseconds per kernel, medians of a few runs.
"""

from __future__ import annotations

import statistics
import sys

import torch

KERNELS = 400
EVERY = 4
PAUSE_CYCLES = 60_000_000  # long enough to enqueue everything
COPY = 64 << 20
COPIES = 50  # each way, longer than the kernels take
KINDS = {"no events": None, "without a time": False, "with a time": True}


def microseconds_per_kernel(elements: int, beside_copies: bool, timed: bool | None) -> float:
    x = torch.zeros(elements, device="cuda")
    out, back = torch.cuda.Stream(), torch.cuda.Stream()
    host = [torch.empty(COPY, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
    device = [torch.empty(COPY, dtype=torch.uint8, device="cuda") for _ in range(2)]
    events = [torch.cuda.Event(enable_timing=bool(timed)) for _ in range(KERNELS)]
    for event in events:  # created here, not in the middle of it
        event.record()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    x.add_(1)
    torch.cuda.synchronize()
    torch.cuda._sleep(PAUSE_CYCLES)
    begin.record()
    for _ in range(COPIES if beside_copies else 0):
        with torch.cuda.stream(out):
            host[0].copy_(device[0], non_blocking=True)
        with torch.cuda.stream(back):
            device[1].copy_(host[1], non_blocking=True)
    for i in range(KERNELS):
        x.add_(1)
        if timed is not None and i % EVERY == 0:
            events[i].record()
    end.record()
    torch.cuda.synchronize()
    return 1e3 * begin.elapsed_time(end) / KERNELS


def main() -> int:
    for elements in (1 << 16, 1 << 22):
        for beside_copies in (False, True):
            times = {name: statistics.median(microseconds_per_kernel(elements, beside_copies, timed) for _ in range(5)) for name, timed in KINDS.items()}
            each = EVERY * (times["with a time"] - times["no events"])
            print(f"{elements:8} elements, {'beside copies' if beside_copies else 'alone':13}: {', '.join(f'{name} {time:.2f} us' for name, time in times.items())}; {each:.1f} us an event with a time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
