"""What Ebb costs an op that needs nothing: CPU time per op, plain, observed, and under a limit with room.

    PYTHONPATH=build/python /usr/bin/python3 bench/torch/op_cost.py
"""

import time

import torch

from ebb import _native

OPS = 20_000
ROUNDS = 7


def small_ops():
    a = torch.randn(16, 16)
    b = torch.randn(16, 16)
    yield "add", lambda: torch.add(a, b)
    yield "add_", lambda: a.add_(b, alpha=1e-9)
    yield "view", lambda: a.view(256)
    yield "relu", lambda: torch.relu(a)
    yield "mm", lambda: torch.mm(a, b)


def microseconds_per_op(call):
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.thread_time_ns()
        for _ in range(OPS):
            call()
        best = min(best, time.thread_time_ns() - begin)
    return best / OPS / 1e3


def measure():
    with torch.no_grad():
        return {name: microseconds_per_op(call) for name, call in small_ops()}


def under(mode, **options):
    _native.start(1 << 30, mode=mode, **options)
    try:
        return measure()
    finally:
        _native.stop()


if __name__ == "__main__":
    torch.set_num_threads(1)
    columns = {
        "plain": measure(),
        "observe": under("observe"),
        "reactive": under("reactive"),
        "recompute": under("reactive", recompute=True),
    }
    print("op".ljust(8), *(name.rjust(10) for name in columns), "  (us per op)")
    for op in columns["plain"]:
        print(op.ljust(8), *(f"{column[op]:10.2f}" for column in columns.values()))
