#!/usr/bin/env python3
"""How long a GPU pauses between kernels, against how much memory they reach.

Small kernels, one after the other, the host ahead; each touches 32 pages of 2 MiB, and all of them together the first so many
GiB of one allocation, again and again. The pauses and the kernels themselves are timed by CUPTI. Needs PyTorch alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys

import torch

MIB = 2**20
GIB = 2**30
PAGE = 2 * MIB
PAGES_OF_A_KERNEL = 32
HELD_CYCLES = 60_000_000  # while the host gets ahead


def kernels_over(pages: torch.Tensor, kernels: int) -> list[tuple[int, int]]:
    """Begin and duration in ns, in order. `pages` has a row a page."""
    groups = pages.shape[0] // PAGES_OF_A_KERNEL
    views = [pages[g * PAGES_OF_A_KERNEL : (g + 1) * PAGES_OF_A_KERNEL, :1024] for g in range(groups)]
    for view in views:
        view.add_(1)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        torch.cuda._sleep(HELD_CYCLES)
        for k in range(kernels):
            views[k % groups].add_(1)
        torch.cuda.synchronize()
    events = sorted(
        (event.start_ns(), event.duration_ns())
        for event in profile.profiler.kineto_results.events()
        if event.device_type() == torch.autograd.DeviceType.CUDA and "elementwise" in event.name()
    )
    return events


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gib", nargs="+", type=float, default=[1, 4, 8, 12, 14, 15, 16, 17, 18, 20, 24, 32, 48])
    parser.add_argument("--kernels", type=int, default=900, help="at most what the queue of launches holds")
    options = parser.parse_args()
    memory = torch.empty(int(max(options.gib) * GIB), dtype=torch.uint8, device="cuda").zero_()
    for gib in options.gib:
        pages = memory[: int(gib * GIB)].view(-1, PAGE)
        events = kernels_over(pages, options.kernels)
        gaps = [b[0] - a[0] - a[1] for a, b in zip(events, events[1:])]
        print(
            f"{gib:5.1f} GiB reached: pauses of {statistics.median(gaps):6.0f} ns (mean {statistics.mean(gaps):6.0f}) between kernels of {statistics.median(e[1] for e in events):6.0f} ns, {len(events)} of them",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
