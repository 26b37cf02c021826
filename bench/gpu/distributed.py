#!/usr/bin/env python3
"""Ranks that share one GPU over Gloo, each within a limit, under DistributedDataParallel, bit for bit as without Ebb.

For each model: two plain runs of all ranks (do they agree with each other?), then runs at a share of a rank's plain peak:
on demand, in stress mode, where everything that can leave does so after every op, and under a plan. Losses, parameters,
buffers and optimizer state of every rank must be the same bits, every rank's arena within its limit, and the memory of the
device within all limits plus what the CUDA contexts take. With --device cpu small models show that the script works.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import models
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import ebb
from harness import ChildFailed
from ranks import MODELS as SMALL
from ranks import in_ranks
from torch_exactness import bits_of, differences

MIB = 2**20
BATCH = {"resnet50": 16, "vgg16": 8, "densenet121": 8, "vit_base": 8, "gpt2": 2}
FOLLOWED = 5  # iterations by a plan before a planned run may end
MOST_STEPS = 120
PAUSE = 0.2  # seconds between steps while a plan is made
SETTINGS = {
    "demand": {"planner": "none"},
    "stress": {"planner": "none", "stress": True},
    "planned": {"planner": "ebb"},
}


class Loss(nn.Module):
    """A model together with its batch, so that DDP sees one forward."""

    def __init__(self, module: nn.Module, loss: Any) -> None:
        super().__init__()
        self.module = module
        self._loss = loss

    def forward(self) -> torch.Tensor:
        return self._loss()


def make_model(name: str, device: str, batch: int, sync_batch_norm: bool, rank: int) -> Loss:
    torch.manual_seed(20261115)
    if device == "cpu":
        module, draw, loss_of = SMALL[name]()
        torch.manual_seed(rank)
        return Loss(module, lambda: (lambda data: loss_of(module(data[0]), data[1]))(draw(batch)))
    torch.manual_seed(20261115 + rank)  # the batch; DDP gives every rank the parameters of the first
    model = models.MODELS[name](batch)
    if sync_batch_norm:
        nn.SyncBatchNorm.convert_sync_batchnorm(model.module)
    return Loss(model.module, model.loss)


def train(rank: int, name: str, options: argparse.Namespace, steps: int, limit: dict[str, Any] | None) -> dict[str, Any]:
    cuda = options.device == "cuda"
    if cuda:
        models.deterministic(name in models.STRICT)
    if limit is not None:
        ebb.limit(device=options.device, **limit)
    model = make_model(name, options.device, options.batch or BATCH.get(name, 4), options.sync_batch_norm, rank)
    wrapped = DistributedDataParallel(model, gradient_as_bucket_view=options.bucket_views)
    optimizer = models.make_optimizer(options.optimizer, wrapped)
    losses, times, most = [], [], 0
    planned = limit is not None and limit["planner"] != "none"
    for _ in range(MOST_STEPS if planned else steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = wrapped()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
        times.append(time.perf_counter() - start)
        most = max(most, models.device_memory_in_use()) if cuda else 0
        if planned and all_done(ebb.status()):
            break
    status = ebb.status()
    reserved = torch.cuda.memory_reserved() if cuda else 0
    peak = torch.cuda.max_memory_allocated() if cuda else 0
    dist.barrier()
    in_use = models.device_memory_in_use() if cuda else 0
    bits = bits_of({"loss": losses, "model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return {
        "bits": bits,
        "status": status,
        "steps": len(losses),
        "peak": peak,
        "reserved": reserved,
        "in_use": in_use,
        "device_memory": most,
        "step_seconds": sorted(times[-FOLLOWED:])[len(times[-FOLLOWED:]) // 2],
    }


def all_done(status: dict[str, Any]) -> bool:
    """Has every rank followed its plan long enough, or been refused one?"""
    done = status["planned_iterations"] >= FOLLOWED or bool(status["refusal"] and not status["planning"])
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, (done, status["planning"]))
    if any(planning for _, planning in told):
        time.sleep(PAUSE)
    return all(done for done, _ in told)


def peak_on_cpu(rank: int, name: str, options: argparse.Namespace) -> int:
    with ebb.observe(device="cpu"):
        train(rank, name, options, 3, None)
        return ebb.status()["peak"]


def check(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    run = lambda steps, limit: in_ranks(  # noqa: E731
        options.ranks, train, name, options, steps, limit, seconds=options.timeout, timeout=options.timeout
    )

    def tell(setting: str, good: bool, words: str, **numbers: Any) -> None:
        print(f"{'ok  ' if good else 'BAD '} {name:12} {setting:8} {words}", flush=True)
        results.append({"model": name, "setting": setting, "good": good, "words": words, **numbers})

    try:
        plain, again = run(options.steps, None), run(options.steps, None)
    except ChildFailed as error:
        tell("plain", False, str(error).strip().splitlines()[-1], traceback=str(error))
        return results
    unsteady = [d for a, b in zip(plain, again) for d in differences(a["bits"], b["bits"])]
    peaks = [rank["peak"] for rank in plain]
    if options.device == "cpu":
        peaks = in_ranks(options.ranks, peak_on_cpu, name, options)
    context = max(0, plain[0]["in_use"] - sum(rank["reserved"] for rank in plain)) // options.ranks
    tell("plain", not unsteady, f"peak of each rank {[peak // MIB for peak in peaks]} MiB, step {plain[0]['step_seconds']:.3f} s"
         + (f"; two plain runs differ in {len(unsteady)}" if unsteady else ""), peaks=peaks, context=context)
    for setting in options.settings:
        limit = max(peaks) * options.share // 100
        try:
            limited = run(options.steps, {"size": limit, **SETTINGS[setting]})
            steps = limited[0]["steps"]
            beside = plain if steps == options.steps else run(steps, None)
        except ChildFailed as error:
            tell(setting, False, str(error).strip().splitlines()[-1], limit=limit, traceback=str(error))
            continue
        different = [f"rank {r}: {d}" for r in range(options.ranks) for d in differences(beside[r]["bits"], limited[r]["bits"])]
        statuses = [rank["status"] for rank in limited]
        arenas = [status["arena_high_water"] for status in statuses]
        device = max(rank["device_memory"] for rank in limited)
        allowed = options.ranks * (limit + context) + options.slack * MIB
        within = max(arenas) <= limit and device <= allowed
        words = (
            (f"{len(different)} differ, first {different[0]}" if different else "same bits")
            + f", arenas {[arena // MIB for arena in arenas]} of {limit // MIB} MiB"
            + (f", device {device // MIB} of {allowed // MIB} MiB" if device else "")
            + ("" if within else " EXCEEDED")
            + f", step {limited[0]['step_seconds']:.3f} s ({limited[0]['step_seconds'] / beside[0]['step_seconds']:.2f} x plain)"
            + f", evictions {[status['evictions'] for status in statuses]}, in flight {[status['collectives_in_flight'] for status in statuses]}"
        )
        if setting == "planned":
            words += f", planned iterations {[status['planned_iterations'] for status in statuses]}"
            words += f", plans made {[status['plans_made'] for status in statuses]}, taken {[status['plans_taken'] for status in statuses]}"
            words += f", followed from collective {[status['followed_from_collective'] for status in statuses]}"
            refusals = [status["refusal"] for status in statuses if status["refusal"]]
            words += f", no plan: {refusals[0]}" if refusals else ""
        tell(setting, not different and within, words, limit=limit, context=context, device_memory=device, status=statuses, different=different[:20])
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--models", nargs="+", help="default: resnet50 and gpt2; on the CPU: convolutions and transformer")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--optimizer", choices=["sgd", "adamw"], default="adamw")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--share", type=int, default=70, help="limit in percent of a rank's plain peak")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, help="of a rank, instead of the model's own")
    parser.add_argument("--bucket-views", action="store_true", help="gradient_as_bucket_view")
    parser.add_argument("--sync-batch-norm", action="store_true")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for one run, and for one collective")
    parser.add_argument("--slack", type=int, default=128, help="MiB by which the contexts may differ")
    parser.add_argument("--json", help="file for all results")
    options = parser.parse_args()
    names = options.models or (["convolutions", "transformer"] if options.device == "cpu" else ["resnet50", "gpt2"])
    models.import_all(names)
    results = [result for name in names for result in check(name, options)]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    bad = sum(not result["good"] for result in results)
    print(json.dumps({"torch": torch.__version__, "ranks": options.ranks, "good": len(results) - bad, "bad": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
