#!/usr/bin/env python3
"""Trains real models on a CUDA device within limits and compares every bit with plain training.

For each model, optimizer and precision: two plain runs (do they agree with each other?), then runs in stress mode, where
everything that can leave does so after every op, and at a share of the peak, with swapping and with recomputation.
Losses, parameters, buffers and optimizer state must be the same bits, and the memory of the process must stay within
the limit plus what the CUDA context takes. Each run is a forked child with a time-out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from typing import Any

from models import MODELS, device_memory_in_use, import_all, make_optimizer

import torch

import ebb
from harness import ChildFailed, in_child

MIB = 2**20
BATCH = {"resnet50": 32, "vgg16": 16, "densenet121": 16, "vit_base": 16, "gpt2": 4}
SETTINGS = {"stress": (True, False), "stress-recompute": (True, True), "share": (False, False), "share-recompute": (False, True)}


def digest(tensor: torch.Tensor) -> str:
    import hashlib

    data = tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return hashlib.sha256(data.tobytes()).hexdigest()[:16]


def bits_of(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        return {name: digest(value)}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else None
    if items is None:
        return {name: value}
    return {k: v for key, inner in items for k, v in bits_of(inner, f"{name}/{key}").items()}


def train(case: tuple[str, str, str], steps: int, batch: int, limit: dict[str, Any] | None) -> dict[str, Any]:
    name, optimizer_kind, precision = case
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.cuda.init()
    if limit is not None:
        ebb.limit(device="cuda", planner="none", **limit)
    torch.manual_seed(20261115)
    model = MODELS[name](batch)
    optimizer = make_optimizer(optimizer_kind, model.module)
    losses, most, times = [], 0, []
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = model.loss()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
        times.append(time.perf_counter() - start)
        most = max(most, device_memory_in_use())
    status = ebb.status()
    peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()
    bits = bits_of({"loss": losses, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()})
    return {
        "bits": bits,
        "status": status,
        "peak": peak,
        "context": device_memory_in_use() - reserved if limit is None else 0,
        "device_memory": most,
        "step_seconds": sorted(times)[len(times) // 2],
    }


def differences(plain: dict[str, Any], limited: dict[str, Any]) -> list[str]:
    return sorted(set(plain) ^ set(limited)) + [name for name in plain if plain[name] != limited.get(name, plain[name])]


def check(case: tuple[str, str, str], options: argparse.Namespace) -> list[dict[str, Any]]:
    batch = options.batch or BATCH[case[0]]
    run = lambda limit: in_child(train, case, options.steps, batch, limit, seconds=options.timeout)  # noqa: E731
    results: list[dict[str, Any]] = []

    def tell(setting: str, good: bool, words: str, **numbers: Any) -> None:
        print(f"{'ok  ' if good else 'BAD '} {' '.join(case):24} {setting:16} {words}", flush=True)
        results.append({"case": list(case), "setting": setting, "good": good, "words": words, **numbers})

    try:
        plain = run(None)
        again = run(None) if not options.once else plain
    except ChildFailed as error:
        tell("plain", False, str(error).strip().splitlines()[-1], traceback=str(error))
        return results
    unsteady = differences(plain["bits"], again["bits"])
    tell("plain", not unsteady, f"peak {plain['peak'] / MIB:.0f} MiB, step {plain['step_seconds']:.3f} s"
         + (f"; two plain runs differ in {len(unsteady)} of {len(plain['bits'])}" if unsteady else ""), peak=plain["peak"])
    context = max(plain["context"], again["context"])
    for setting in options.settings:
        stress, recompute = SETTINGS[setting]
        limit = 2 * plain["peak"] if stress else int(plain["peak"] * options.share / 100)
        try:
            limited = run({"size": limit, "stress": stress, "recompute": recompute})
        except ChildFailed as error:
            tell(setting, False, str(error).strip().splitlines()[-1], limit=limit, traceback=str(error))
            continue
        different = differences(plain["bits"], limited["bits"])
        within = limited["device_memory"] <= limit + context + options.slack * MIB
        status = limited["status"]
        verdict = f"{len(different)} of {len(plain['bits'])} differ, first {different[0]}" if different else "same bits"
        words = (
            f"{verdict}, device {limited['device_memory'] / MIB:.0f} of {(limit + context) / MIB:.0f} MiB{'' if within else ' EXCEEDED'}, "
            f"step {limited['step_seconds']:.3f} s, {status['evictions']} evictions, {status['replays']} replays"
        )
        tell(setting, not different and within, words, limit=limit, context=context, status=status,
             device_memory=limited["device_memory"], step_seconds=limited["step_seconds"], different=different[:20])
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--optimizers", nargs="+", choices=["sgd", "adamw"], default=["sgd", "adamw"])
    parser.add_argument("--precisions", nargs="+", choices=["fp32", "bf16"], default=["fp32", "bf16"])
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--share", type=float, default=75, help="limit of the share settings in percent of the plain peak")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    parser.add_argument("--slack", type=float, default=64, help="MiB by which the context of two runs may differ")
    parser.add_argument("--once", action="store_true", help="one plain run instead of two")
    parser.add_argument("--json", help="file for all results; also printed at the end")
    options = parser.parse_args()
    import_all(options.models)
    results: list[dict[str, Any]] = []
    for case in itertools.product(options.models, options.optimizers, options.precisions):
        results += check(case, options)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
    bad = [r for r in results if not r["good"]]
    short = [{k: r[k] for k in ("case", "setting", "good", "words")} for r in results]
    print(json.dumps({"torch": torch.__version__, "good": len(results) - len(bad), "bad": len(bad), "results": short}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
