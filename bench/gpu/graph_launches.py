#!/usr/bin/env python3
"""What an op costs the host that runs it again: through PyTorch, and as a CUDA graph that was captured once.

The ops that the 1001-layer ResNet's plans replay, by themselves and three at once, in microseconds of the host; the
device is held meanwhile, so that launch queues do not run dry, and never so long that they fill. Needs PyTorch alone.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Callable

import torch

HELD_CYCLES = 200_000_000


def ops(side: int, channels: int) -> dict[str, Callable[[], object]]:
    x = torch.randn(32, channels, side, side, device="cuda")
    narrow, wide = (torch.randn(channels, channels, k, k, device="cuda") for k in (1, 3))
    scale, shift, mean, var = (torch.ones(channels, device="cuda") for _ in range(4))
    norm = lambda: torch.ops.aten.cudnn_batch_norm(x, scale, shift, mean, var, True, 0.1, 1e-5)  # noqa: E731
    single: dict[str, Callable[[], object]] = {
        "convolution 1x1": lambda: torch.conv2d(x, narrow),
        "convolution 3x3": lambda: torch.conv2d(x, wide, padding=1),
        "batch norm": norm,
        "relu_": lambda: torch.relu_(x),
    }
    return single | {"batch norm, relu_, convolution 3x3": lambda: torch.conv2d(torch.relu_(norm()[0]), wide, padding=1)}


def host_us(call: Callable[[], object], calls: int, rounds: int) -> float:
    """The median of rounds, each while the device is held."""
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        torch.cuda._sleep(HELD_CYCLES)
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def captured(call: Callable[[], object]) -> torch.cuda.CUDAGraph:
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        call()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--side", type=int, default=14, help="pixels")
    parser.add_argument("--channels", type=int, default=256)
    parser.add_argument("--calls", type=int, default=200, help="in a row")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.backends.cudnn.deterministic = True
    with torch.no_grad():
        for name, call in ops(options.side, options.channels).items():
            for _ in range(3):
                call()
            graph = captured(call)
            through, as_graph = (host_us(c, options.calls, options.rounds) for c in (call, graph.replay))
            print(f"{name}: {through:.1f} us through PyTorch, {as_graph:.1f} as a graph", flush=True)


if __name__ == "__main__":
    main()
