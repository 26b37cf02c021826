#!/usr/bin/env python3
"""Records training steps on a CUDA device with `ebb.record`: resnet50 as the recorded step of data/ has it, and the workloads
of the papers that data/ lacks. One trace per workload in the folder given, and a line with its ops, blocks and peak.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Callable

from models import Model, import_all, resnet50

import paper_models
import torch
import torch.nn.functional as F
from torch import nn

import ebb
from harness import ChildFailed, in_child

MIB = 2**20


def _small_images(module: nn.Module, batch: int, side: int = 32) -> Model:
    module = module.cuda()
    x = torch.randn(batch, 3, side, side, device="cuda")
    y = torch.randint(10, (batch,), device="cuda")
    return Model(module, lambda: F.cross_entropy(module(x), y))


class Survivor(nn.Module):
    """A residual block that a step leaves out at random, its skip connection apart (Huang et al. 2016)."""

    def __init__(self, block: nn.Module, survival: float) -> None:
        super().__init__()
        self.block, self.survival = block, survival

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.block.downsample is None and torch.rand(()).item() > self.survival:
            return x
        return self.block(x)


def stochastic_depth_resnet() -> Model:
    import torchvision

    module = torchvision.models.resnet34(num_classes=10)
    for stage in (module.layer1, module.layer2, module.layer3, module.layer4):
        for i, block in enumerate(stage):
            stage[i] = Survivor(block, 0.8)
    torch.manual_seed(8)
    return _small_images(module, 512)


class Characters(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, 2 * width, num_layers=3, dropout=0.2, batch_first=True)
        self.head = nn.Linear(2 * width, words)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.embed(text))[0])


def characters_lstm() -> Model:
    module = Characters(96, 512).cuda()
    text = torch.randint(96, (128, 257), device="cuda")
    return Model(module, lambda: F.cross_entropy(module(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()))


def squeezenet() -> Model:
    import torchvision

    return _small_images(torchvision.models.squeezenet1_1(num_classes=10), 1024)


def inception() -> Model:
    """75 pixels a side, the smallest that the network takes."""
    import torchvision

    return _small_images(torchvision.models.inception_v3(num_classes=10, aux_logits=False, init_weights=False), 256, 75)


WORKLOADS: dict[str, Callable[[], Model]] = {
    "resnet50-b256": lambda: resnet50(256),
    "stochastic-depth-resnet34-cifar-b512": stochastic_depth_resnet,
    "characters-lstm-b128": characters_lstm,
    "home-squeezenet-cifar-b1024": squeezenet,
    "home-inception-75-b256": inception,
    "sublinear-resnet1001-b32": lambda: paper_models.RESNET1001.make(32, "cuda"),
}


def record(name: str, path: str, steps: int) -> tuple[int, int]:
    torch.cuda.init()
    torch.manual_seed(1)
    recording = ebb.record(path, device="cuda")
    model = WORKLOADS[name]()
    optimizer = torch.optim.SGD(model.module.parameters(), lr=0.01, momentum=0.9, foreach=True)
    for _ in range(steps):
        if name.startswith("stochastic"):
            torch.manual_seed(8)  # the same blocks survive in every step, so that the step repeats
        optimizer.zero_grad(set_to_none=True)
        model.loss().backward()
        optimizer.step()
    torch.cuda.synchronize()
    status = ebb.status()
    recording.finish()
    return status["ops"], status["peak"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    import_all(["resnet50"])
    failures = 0
    for name in options.workloads:
        path = os.path.join(options.folder, name + ".ebb")
        try:
            ops, peak = in_child(record, name, path, options.steps, seconds=options.timeout)
            print(f"{name}: {ops} ops in {options.steps} steps, peak {peak / MIB:.1f} MiB, {os.path.getsize(path) / 1024:.0f} KiB in {path}", flush=True)
        except ChildFailed as error:
            failures += 1
            print(f"{name}: {str(error).strip().splitlines()[-1]}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
