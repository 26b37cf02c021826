"""Small training workloads over real models. Everything is drawn from torch's generator: seed it first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
import torchvision
from torch import nn


@dataclass
class Workload:
    """A model and where its batches come from. `loss(i)` draws the i-th batch and runs forward on it."""

    model: nn.Module
    loss: Callable[[int], torch.Tensor]
    sparse: bool = False  # gradients that AdamW cannot take


def images(model: nn.Module, batch: int, side: int, classes: int = 10) -> Workload:
    def loss(i: int) -> torch.Tensor:
        return F.cross_entropy(model(torch.randn(batch, 3, side, side)), torch.randint(classes, (batch,)))

    return Workload(model, loss)


def resnet18() -> Workload:
    return images(torchvision.models.resnet18(num_classes=10), 4, 32)


def convolutions() -> Workload:
    """A step of a few milliseconds whose activations, of 1 MiB each, are most of its memory."""
    layers: list[nn.Module] = []
    for channels in (3, 16, 16, 16, 16):
        layers += [nn.Conv2d(channels, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    return images(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)), 16, 32)


def norms_without_weights() -> Workload:
    """In bfloat16: what batch norm returns is float all the same, since its running statistics are."""
    layers: list[nn.Module] = []
    for channels in (3, 16, 16, 16, 16):
        layers += [nn.Conv2d(channels, 16, 3, padding=1), nn.BatchNorm2d(16, affine=False), nn.ReLU()]
    usual = images(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)), 16, 32)

    def loss(i: int) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return usual.loss(i)

    return Workload(usual.model, loss)


class Clipped(nn.Module):
    bound = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(x, -self.bound, self.bound)


def changing_bounds() -> Workload:
    """The same ops on the same shapes in every step, with other numbers in each."""
    clipped = Clipped()
    layers: list[nn.Module] = []
    for channels in (3, 16, 16, 16):
        layers += [nn.Conv2d(channels, 16, 3, padding=1), nn.BatchNorm2d(16), clipped, nn.ReLU()]
    usual = images(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)), 16, 32)

    def loss(i: int) -> torch.Tensor:
        clipped.bound = 1 + i / 64
        return usual.loss(i)

    return Workload(usual.model, loss)


def densenet121() -> Workload:
    return images(torchvision.models.densenet121(num_classes=10), 4, 32)


def vgg11() -> Workload:
    """Its convolutions, dropout and three linear layers; these are narrower than the original's 100 million weights."""
    vgg = torchvision.models.vgg
    model = nn.Sequential(
        vgg.make_layers(vgg.cfgs["A"]),
        nn.Flatten(),
        *(nn.Linear(512, 512), nn.ReLU(True), nn.Dropout()),
        *(nn.Linear(512, 512), nn.ReLU(True), nn.Dropout()),
        nn.Linear(512, 10),
    )
    return images(model, 4, 32)


def mobilenet_v2() -> Workload:
    return images(torchvision.models.mobilenet_v2(num_classes=10), 4, 64)


class Transformer(nn.Module):
    def __init__(self, words: int, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, words)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embed(text)))


def transformer() -> Workload:
    words = 200
    model = Transformer(words, 64, 2)

    def loss(i: int) -> torch.Tensor:
        text = torch.randint(words, (8, 65))
        return F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())

    return Workload(model, loss)


class Characters(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, 2 * width, num_layers=2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(2 * width, words)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.embed(text))[0])


def lstm() -> Workload:
    words = 60
    model = Characters(words, 64)

    def loss(i: int) -> torch.Tensor:
        text = torch.randint(words, (16, 13))
        return F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())

    return Workload(model, loss)


class UNet(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(depth)]
        self.down = nn.ModuleList(self.double(a, b) for a, b in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in widths[-2::-1])
        self.join = nn.ModuleList(self.double(2 * w, w) for w in widths[-2::-1])
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def double(a: int, b: int) -> nn.Module:
        layers: list[nn.Module] = []
        for channels in (a, b):
            layers += [nn.Conv2d(channels, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True)]
        return nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skipped = []
        for level in self.down:
            x = level(x if not skipped else F.max_pool2d(x, 2))
            skipped.append(x)
        for up, join, side in zip(self.up, self.join, skipped[-2::-1]):
            x = join(torch.cat([up(x), side], 1))
        return self.head(x)


def unet() -> Workload:
    model = UNet(16, 4)

    def loss(i: int) -> torch.Tensor:
        return F.cross_entropy(model(torch.randn(2, 3, 64, 64)), torch.randint(2, (2, 64, 64)))

    return Workload(model, loss)


class Residual(nn.Module):
    def __init__(self, width: int, survival: float) -> None:
        super().__init__()
        self.survival = survival
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and torch.rand(()).item() > self.survival:
            return x
        return F.relu(x + self.body(x))


def stochastic_depth() -> Workload:
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        *[Residual(32, 1 - 0.5 * i / 8) for i in range(8)],
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )
    return images(model, 8, 32)


class Bags(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width, sparse=True)
        self.body = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.body(self.embed(text).mean(1))


def sparse_embedding() -> Workload:
    words = 2_000
    model = Bags(words, 32)

    def loss(i: int) -> torch.Tensor:
        return F.cross_entropy(model(torch.randint(words, (256, 4))), torch.randint(10, (256,)))

    return Workload(model, loss, sparse=True)


WORKLOADS = {
    make.__name__: make
    for make in (
        convolutions, norms_without_weights, changing_bounds, resnet18, densenet121, vgg11, mobilenet_v2, transformer, lstm, unet, stochastic_depth, sparse_embedding,
    )
}


def make_optimizer(kind: str, workload: Workload) -> torch.optim.Optimizer:
    if kind == "sgd":
        return torch.optim.SGD(workload.model.parameters(), lr=0.05, momentum=0.0 if workload.sparse else 0.9)
    if workload.sparse:
        sparse = [p for name, p in workload.model.named_parameters() if name.startswith("embed")]
        dense = [p for name, p in workload.model.named_parameters() if not name.startswith("embed")]
        return Together([torch.optim.SparseAdam(sparse, lr=1e-2), torch.optim.AdamW(dense, lr=1e-3)])
    return torch.optim.AdamW(workload.model.parameters(), lr=1e-3)


class Together:
    """Several optimizers that step as one."""

    def __init__(self, parts: list[torch.optim.Optimizer]) -> None:
        self.parts = parts

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad()

    def step(self) -> None:
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict:
        return {str(i): part.state_dict() for i, part in enumerate(self.parts)}
