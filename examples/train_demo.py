"""Trains ResNet-18 twice, without Ebb and within half of its memory, and compares every bit.

    PYTHONPATH=build/python python3 examples/train_demo.py [--share 50] [--steps 24] [--report FILE]

Each run is a process of its own with the same seeds. What is compared: the loss of every step, and parameters, buffers
and optimizer state at the end. Exit code 1 if anything differs or the limit was not kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

MIB = 1 << 20


def train(steps: int, batch: int, size: int) -> dict[str, Any]:
    """One training run, as anybody would write it."""
    import torch
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    images = torch.randn(batch, 3, size, size)
    labels = torch.randint(10, (batch,))
    losses, seconds = [], []
    for _ in range(steps):
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - began)
    return {
        "losses": losses,
        "seconds": seconds,
        "digests": {
            "parameters": digest(p for p in model.parameters()),
            "buffers": digest(b for b in model.buffers()),
            "optimizer state": digest(
                value
                for state in optimizer.state.values()
                for value in state.values()
                if isinstance(value, torch.Tensor)
            ),
        },
    }


def digest(tensors: Any) -> str:
    seen = hashlib.sha256()
    for tensor in tensors:
        seen.update(tensor.detach().numpy().tobytes())
    return seen.hexdigest()


def run_child(options: argparse.Namespace) -> None:
    import torch

    torch.set_num_threads(options.threads)
    told: dict[str, Any] = {}
    if options.child != "plain":
        import ebb

        if options.child == "observed":
            ebb.observe()
        else:
            ebb.limit(int(options.limit), planner=options.planner)
    told.update(train(options.steps, options.batch, options.size))
    if options.child != "plain":
        told["status"] = ebb.status()
        for path in options.report if options.child == "limited" else []:
            ebb.report(path)
        ebb.off()
    json.dump(told, sys.stdout)


def child(kind: str, options: argparse.Namespace, steps: int, limit: int = 0) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", kind, "--limit", str(limit), "--steps", str(steps)]
    for path in options.report:
        command += ["--report", path]
    for name in ("batch", "size", "threads", "planner"):
        if getattr(options, name) not in (None, ""):
            command += [f"--{name}", str(getattr(options, name))]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.exit(f"the {kind} run failed with exit code {result.returncode}")
    return json.loads(result.stdout)


def steady(run: dict[str, Any]) -> float:
    """Milliseconds of a step, once it is known and planned."""
    return 1000 * statistics.median(run["seconds"][len(run["seconds"]) // 2 :])


def compare(plain: dict[str, Any], limited: dict[str, Any]) -> list[str]:
    """What differs; nothing if all is identical."""
    different = [] if plain["losses"] == limited["losses"] else ["losses"]
    return different + [name for name, value in plain["digests"].items() if limited["digests"][name] != value]


def told_of_plan(status: dict[str, Any]) -> str:
    if not status["planner"]:
        return "moved on demand"
    return (
        f"planned in {status['planning_seconds']:.1f} s, followed for {status['planned_iterations']} steps, "
        f"{status['deviations']} deviations"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=50, help="limit as a percentage of the peak (default 50)")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=96, help="of the images, in pixels")
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=max(1, processors - 1), help="that compute (default: all processors but one, which copies, as a GPU's copy engines do)")
    parser.add_argument("--planner", default="ebb", help="of the limited run (default ebb); none: move on demand only")
    parser.add_argument("--report", action="append", default=[], help="write what Ebb did here: a page if it ends in .html, or JSON")
    parser.add_argument("--child", choices=("plain", "observed", "limited"), help=argparse.SUPPRESS)
    parser.add_argument("--limit", default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options)
        return 0

    print(f"ResNet-18, batch {options.batch}, {options.size} x {options.size}, AdamW, {options.steps} steps on the CPU")
    others = "; what is left copies, as a GPU's copy engines do" if options.threads < processors else ", which copy as well"
    print(f"  computing with {options.threads} of {processors} processors{others}")
    print("  watching three steps to learn the peak …", flush=True)
    peak = child("observed", options, 3)["status"]["peak"]
    limit = int(peak * options.share / 100)
    print(f"  training without Ebb ({options.steps} steps) …", flush=True)
    plain = child("plain", options, options.steps)
    print(f"  training within {limit / MIB:.0f} MiB ({options.steps} steps) …", flush=True)
    limited = child("limited", options, options.steps, limit)
    status = limited["status"]
    different = compare(plain, limited)
    kept = status["arena_high_water"] <= limit

    print(f"\n{'':24}{'plain':>12}{'limited':>12}")
    print(f"{'memory (MiB)':24}{peak / MIB:>12.0f}{status['arena_high_water'] / MIB:>12.0f}   limit {limit / MIB:.0f}: {'kept' if kept else 'EXCEEDED'}")
    print(f"{'step (ms)':24}{steady(plain):>12.1f}{steady(limited):>12.1f}   {steady(limited) / steady(plain):.2f} x")
    if status["planner"]:
        predicted, measured = status["predicted_step_ns"] / 1e6, status["measured_step_ns"] / 1e6
        ratio = status["predicted_step_ns"] / status["plain_step_ns"]
        print(f"{'predicted step (ms)':24}{status['plain_step_ns'] / 1e6:>12.1f}{predicted:>12.1f}   {ratio:.2f} x; measured by Ebb {measured:.1f}")
    print(f"{'planner':24}{'':>12}{status['planner'] or 'none':>12}   {status['refusal'] or told_of_plan(status)}")
    print(f"{'moved (MiB)':24}{'':>12}{(status['bytes_out'] + status['bytes_in']) / MIB:>12.0f}   {status['replays']} ops computed again")
    print(f"{'last loss':24}{plain['losses'][-1]:>12.6f}{limited['losses'][-1]:>12.6f}")
    print(f"\nidentical: {'yes — losses, parameters, buffers, optimizer state' if not different else 'NO: ' + ', '.join(different)}")
    return 0 if not different and kept else 1


if __name__ == "__main__":
    sys.exit(main())
