#!/usr/bin/env python3
"""Planned training on a CUDA device: bits, memory, step time and its prediction at shares of the plain peak.

For each model: plain steps, on the stream on which it was made and on another, the same with torch.utils.checkpoint and with save_on_cpu, then runs within limits, each until a
plan is followed and for a number of steps more. Losses, parameters, buffers and optimizer state are compared with a plain
run of as many steps, under deterministic settings throughout. Times are medians between CUDA events. Each run is a forked
child with a time-out; a line is printed as it ends, another when its bits have been compared, and all of it as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any, Callable

from models import MODELS, STRICT, as_without_ebb, checkpoint_by_hand, deterministic, device_memory_in_use, import_all, make_optimizer

import torch

import ebb
from harness import ChildFailed, in_child

MIB = 2**20
BATCH = {"resnet50": 256, "vgg16": 128, "densenet121": 128, "vit_base": 128, "gpt2": 16}
OPTIMIZER = {"resnet50": "sgd", "vgg16": "sgd", "densenet121": "sgd", "vit_base": "adamw", "gpt2": "adamw"}
MOST_STEPS = 60  # until a plan is followed
SLOW_S = 2.0  # a step that takes longer is timed once, not --steps times


def digest(value: Any, into: Any = None) -> str:
    """Of every tensor's bytes and every number in it, in order."""
    total = into or hashlib.blake2b(digest_size=16)
    if isinstance(value, torch.Tensor):
        total.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    elif isinstance(value, dict):
        for key in value:
            total.update(str(key).encode())
            digest(value[key], total)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            digest(inner, total)
    else:
        total.update(repr(value).encode())
    return total.hexdigest()


class Training:
    """One model in a process of its own."""

    device = "cuda"
    precision = "fp32"

    def __init__(self, name: str, options: argparse.Namespace, variant: str = "") -> None:
        torch.manual_seed(20261115)
        batch = options.batch or BATCH[name]
        self.model = MODELS[name](batch, 1024) if name == "gpt2" else MODELS[name](batch)
        if variant == "checkpoint":
            checkpoint_by_hand(name, self.model)
        self.around = torch.autograd.graph.save_on_cpu(pin_memory=True) if variant == "save_on_cpu" else contextlib.nullcontext()
        self.precision = options.precision
        self.optimizer = make_optimizer(OPTIMIZER[name], self.model.module)
        self.losses = torch.zeros(MOST_STEPS + 200 + 2 * options.steps, device="cuda")
        self.steps = 0
        self.each: list[float] = []  # the milliseconds of those timed last

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        with self.around, torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            loss = self.model.loss()
        loss.backward()
        self.optimizer.step()
        self.losses[self.steps] = loss.detach()
        self.steps += 1

    def timed(self, steps: int) -> float:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
        for mark in marks[:-1]:
            mark.record()
            self.step()
        marks[-1].record()
        torch.cuda.synchronize()
        self.each = [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
        return statistics.median(self.each)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()
        self.wait()

    def wait(self) -> None:
        torch.cuda.synchronize()

    def run_until_planned(self, after_step: Callable[[], None] = lambda: None) -> None:
        """Or until it is known that there is no plan."""
        status = ebb.status()
        while not (status["now"] == "planned" or status["refusal"]) and self.steps < MOST_STEPS:
            self.run(1)
            after_step()
            status = ebb.status()
            while status["planning"]:
                time.sleep(0.02)
                status = ebb.status()

    def wait_for_better(self, patience: float) -> None:
        """For a plan that is better, for so many seconds at most."""
        start = time.perf_counter()
        while ebb.status()["improving"] and time.perf_counter() - start < patience and self.steps < len(self.losses) - 100:
            self.run(4)  # together, as a program has them that does not wait for its device
            time.sleep(1)

    def settle(self, patience: float | None) -> None:
        """Until steps take what they will: within a limit, by a plan that was waited for so long; None: there is no limit."""
        self.run(3)
        if patience is not None:
            self.run_until_planned()
            self.wait_for_better(patience)
        self.run(2)

    def bits(self) -> str:
        return digest([self.losses, self.model.module.state_dict(), self.optimizer.state_dict()])


def whole_report() -> dict[str, Any]:
    """The plan and one iteration as it was measured are in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        ebb.report(path)
        with open(path, encoding="utf-8") as file:
            return dict(json.load(file))


def prepare(name: str, options: argparse.Namespace) -> None:
    deterministic(name in STRICT)
    if options.another_stream:
        torch.cuda.set_stream(torch.cuda.Stream())


def timed_alone(training: Training, steps: int) -> float:
    """What the peak is counted of, too."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    return training.timed(steps)


def on_another_stream(training: Training, steps: int) -> float:
    """Where the model was not made: there kernels may follow each other sooner (stream_pauses.py)."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    with torch.cuda.stream(torch.cuda.Stream()):
        training.run(3)
        return training.timed(steps)


def plain(name: str, options: argparse.Namespace, variant: str = "", bits_after: tuple[int, ...] = (), streams: int = 1) -> dict[str, Any]:
    """With `streams` = 2 the steps are timed on another stream, too."""
    as_without_ebb()
    prepare(name, options)
    training = Training(name, options, variant)
    training.step()
    milliseconds = timed_alone(training, 1)
    slow = milliseconds > 1000 * SLOW_S
    if not slow:
        training.step()
        milliseconds = timed_alone(training, options.steps)
    each = training.each
    bits = {}
    for count in sorted(set(bits_after)):
        while training.steps < count:
            training.step()
        bits[count] = training.bits()
    in_use = device_memory_in_use()
    answer = {
        "ms": milliseconds,
        "each_ms": each,
        "peak": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "context": in_use - torch.cuda.memory_reserved(),
        "bits": bits,
    }
    if streams == 2:
        answer["ms_on_another_stream"] = on_another_stream(training, 1 if slow else options.steps)
    return answer


def limited(name: str, options: argparse.Namespace, limit: int, planner: str) -> dict[str, Any]:
    prepare(name, options)
    start = time.perf_counter()
    ebb.limit(limit, device="cuda", planner=planner, capture=options.capture, plans=options.plans)
    training = Training(name, options)
    in_use = [0]
    training.run_until_planned(lambda: in_use.append(device_memory_in_use()))
    before = time.perf_counter() - start
    training.wait_for_better(options.patience)
    for _ in range(2):
        training.step()
    first = ebb.status()
    milliseconds = training.timed(options.steps)
    status = ebb.status()
    in_use.append(device_memory_in_use())
    stalls = [key for key in status if key.startswith("stalled_")]
    in_steps = {key: (status[key] - first[key]) / options.steps for key in ("bytes_out", "bytes_in", "replays", "captured_replays", "planned_iterations", "left_out", "deviations", *stalls)}
    return {
        "ms": milliseconds,
        "each_ms": training.each,
        "until_planned_s": before,
        "steps": training.steps,
        "bits": training.bits(),
        "device_memory": max(in_use),
        "status": status,
        "per_step": in_steps,
        "report": whole_report() if options.timelines else {},
    }


def show(model: str, what: str, words: str) -> None:
    print(f"{model:12} {what:22} {words}", flush=True)


def measure_model(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    run = lambda *args, **kwargs: in_child(*args, seconds=options.timeout, **kwargs)  # noqa: E731
    base = run(plain, name, options, bits_after=(options.steps + 3,), streams=2)
    show(name, "plain", f"{base['ms']:.2f} ms, {base['ms_on_another_stream']:.2f} on another stream, peak {base['peak'] / MIB:.0f} MiB, reserved {base['reserved'] / MIB:.0f} MiB")
    results.append({"model": name, "what": "plain", **base})
    limits = [(f"{share:g} %", int(base["peak"] * share / 100)) for share in options.shares]
    for variant in options.beside:
        try:
            other = run(plain, name, options, variant)
        except ChildFailed as error:
            show(name, variant, str(error).strip().splitlines()[-1])
            continue
        show(name, variant, f"{other['ms'] / base['ms']:.4f} x plain, peak {other['peak'] / MIB:.0f} MiB = {100 * other['peak'] / base['peak']:.1f} %")
        results.append({"model": name, "what": variant, **other})
        if variant == "checkpoint" and options.at_checkpoint:
            limits.append(("as checkpoint", other["peak"]))
    runs = []
    for what, limit in limits:
        for planner in options.planners:
            try:
                result = run(limited, name, options, limit, planner)
            except ChildFailed as error:
                show(name, f"{what} {planner}", str(error).strip().splitlines()[-1][:600])
                results.append({"model": name, "what": what, "limit": limit, "planner": planner, "failed": str(error)[-2000:]})
                continue
            runs.append({"model": name, "what": what, "limit": limit, "planner": planner, **result, **compared(result, base, limit, options)})
            show(name, f"{what} {result['status']['planner'] or planner}", in_words(runs[-1], base))
    truth = run(plain, name, options, bits_after=(options.steps + 3, *(r["steps"] for r in runs)))
    if truth["bits"][options.steps + 3] != base["bits"][options.steps + 3]:
        show(name, "plain", "two plain runs differ in their bits: nothing can be said of the others'")
    for r in runs:
        r["same"] = r["bits"] == truth["bits"][r["steps"]]
        show(name, f"{r['what']} {r['status']['planner'] or r['planner']}", f"{'same bits' if r['same'] else 'OTHER BITS'} after {r['steps']} steps")
    return results + runs


def compared(r: dict[str, Any], base: dict[str, Any], limit: int, options: argparse.Namespace) -> dict[str, Any]:
    """Of a run within a limit: its step by plain ones, and whether it did as it was told."""
    status = r["status"]
    return {
        "ratio": r["ms"] / base["ms"],
        "of_fastest": r["ms"] / min(base["ms"], base["ms_on_another_stream"]),
        "predicted": status["predicted_step_ns"] / max(status["plain_step_ns"], 1),
        "within": r["device_memory"] <= limit + base["context"] + options.slack * MIB,
        "follows": status["now"] == "planned" and r["per_step"]["planned_iterations"] > 0.9,
    }


def in_words(r: dict[str, Any], base: dict[str, Any]) -> str:
    status, per_step = r["status"], r["per_step"]
    off = lambda measured, foretold: f"{100 * (measured / foretold - 1) if foretold else 0:+.2f} %"  # noqa: E731
    left_out = f", {per_step['left_out']:.0f} LEFT OUT" if per_step["left_out"] >= 1 else ""
    return (
        f"{r['ratio']:.4f} x plain ({min(r['each_ms']) / base['ms']:.3f} to {max(r['each_ms']) / base['ms']:.3f}), {r['of_fastest']:.4f} x the fastest plain, predicted {r['predicted']:.4f} ({off(r['ratio'], r['predicted'])}; {off(r['of_fastest'], r['predicted'])}), "
        f"{r['ms']:.1f} ms, predicted {status['predicted_step_ns'] / 1e6:.1f} ({off(1e6 * r['ms'], status['predicted_step_ns'])}), "
        f"device {r['device_memory'] / MIB:.0f} of {(r['limit'] + base['context']) / MIB:.0f} MiB{'' if r['within'] else ' EXCEEDED'}, "
        f"{per_step['bytes_out'] / MIB:.0f} MiB out, {per_step['replays']:.0f} replays, {per_step['captured_replays']:.0f} of them captured{left_out}, "
        f"waits of {sum(v for k, v in per_step.items() if k.startswith('stalled_')) / 1e6:.2f} ms, "
        f"planned in {status['planning_seconds']:.1f} s, {r['steps']} steps{'' if r['follows'] else ', NO PLAN: ' + status['refusal']}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--shares", nargs="*", type=float, default=[90, 75, 60, 45], help="limits in percent of the plain peak")
    parser.add_argument("--planners", nargs="+", default=["ebb"])
    parser.add_argument("--beside", nargs="*", choices=["checkpoint", "save_on_cpu"], default=["checkpoint", "save_on_cpu"])
    parser.add_argument("--at-checkpoint", action="store_true", help="also at the peak that torch.utils.checkpoint reaches")
    parser.add_argument("--steps", type=int, default=10, help="that are timed")
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="bf16: by autocast")
    parser.add_argument("--timeout", type=float, default=150, help="seconds for one run")
    parser.add_argument("--slack", type=float, default=64, help="MiB by which the context of two runs may differ")
    parser.add_argument("--patience", type=float, default=30, help="seconds that a better plan is waited for")
    parser.add_argument("--plans", help="folder of plans: a second call is without a search")
    parser.add_argument("--no-capture", dest="capture", action="store_const", const=False, help="capture no replays")
    parser.add_argument("--another-stream", action="store_true", help="train on a stream of its own, not the default one")
    parser.add_argument("--json", help="file for all results")
    parser.add_argument("--timelines", action="store_true", help="the plan and a measured step of each run, in the JSON")
    options = parser.parse_args()
    import_all(options.models)
    results: list[dict[str, Any]] = []
    for name in options.models:
        try:
            results += measure_model(name, options)
        except ChildFailed as error:
            show(name, "plain", str(error).strip().splitlines()[-1])
            results.append({"model": name, "failed": str(error)[-2000:]})
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump({"torch": torch.__version__, "device": "cuda", "results": results}, file, indent=1)
    bad = [r for r in results if "failed" in r or not r.get("same", True) or not r.get("within", True)]
    print(f"{len(results)} rows, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
