"""What training scripts do, each as a function of nothing that returns all it computed. The caller seeds torch."""

from __future__ import annotations

import copy
import io
import os
import tempfile
import unittest
from typing import Any, Callable, Iterator

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

FEATURES: dict[str, Callable[[], Any]] = {}


def feature(function: Callable[[], Any]) -> Callable[[], Any]:
    FEATURES[function.__name__] = function
    return function


def network(dropout: float = 0.0) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1),
        nn.BatchNorm2d(24),
        nn.ReLU(inplace=True),
        nn.Conv2d(24, 48, 3, padding=1),
        nn.BatchNorm2d(48),
        nn.ReLU(),
        nn.MaxPool2d(4),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(48 * 8 * 8, 64),
        nn.GELU(),
        nn.Linear(64, 10),
    )


def batch(size: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(size, 3, 32, 32), torch.randint(10, (size,))


def batches(count: int, size: int = 8) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for _ in range(count):
        yield batch(size)


def loss_of(model: nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    return F.cross_entropy(model(data[0]), data[1])


def fit(model: nn.Module, optimizer: torch.optim.Optimizer, data: Any) -> list[str]:
    losses = []
    for item in data:
        optimizer.zero_grad()
        loss = loss_of(model, item)
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    return losses


def told(model: nn.Module, optimizer: Any, *rest: Any) -> Any:
    return [model.state_dict(), optimizer.state_dict(), *rest]


def with_optimizer(make: Callable[..., torch.optim.Optimizer], **options: Any) -> Any:
    model = network()
    optimizer = make(model.parameters(), **options)
    return told(model, optimizer, fit(model, optimizer, batches(4)))


@feature
def sgd_foreach() -> Any:
    return with_optimizer(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True, foreach=True)


@feature
def adam_foreach() -> Any:
    return with_optimizer(torch.optim.Adam, lr=1e-3, amsgrad=True, foreach=True)


@feature
def adamw_foreach() -> Any:
    return with_optimizer(torch.optim.AdamW, lr=1e-3, foreach=True)


@feature
def adamw_one_by_one() -> Any:
    return with_optimizer(torch.optim.AdamW, lr=1e-3, foreach=False)


@feature
def rmsprop_and_adagrad_foreach() -> Any:
    return [
        with_optimizer(torch.optim.RMSprop, lr=1e-3, momentum=0.9, foreach=True),
        with_optimizer(torch.optim.Adagrad, lr=1e-2, foreach=True),
    ]


@feature
def fused_adam() -> Any:
    """Where this PyTorch has it for the CPU."""
    try:
        return with_optimizer(torch.optim.Adam, lr=1e-3, fused=True)
    except (RuntimeError, TypeError) as error:
        raise unittest.SkipTest(str(error)) from error


@feature
def lbfgs() -> Any:
    model = nn.Linear(512, 64)
    x, y = torch.randn(256, 512), torch.randn(256, 64)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    return [optimizer.step(closure).item().hex() for _ in range(2)], model.state_dict()


@feature
def mixed_precision_with_a_scaler() -> Any:
    """bfloat16 under autocast; the scaler is real where the device has one and passes through on the CPU."""
    with torch.backends.mkldnn.flags(enabled=False):  # its bfloat16 kernels need instructions that not every host allows
        return fit_in_bfloat16()


def fit_in_bfloat16() -> Any:
    model = network(dropout=0.2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())
    losses = []
    for data in batches(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(model, data)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item().hex())
    return told(model, optimizer, losses)


@feature
def gradient_accumulation() -> Any:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        for data in batches(3, 4):
            (loss_of(model, data) / 3).backward()
        optimizer.step()
    return told(model, optimizer, [p.grad for p in model.parameters()])


@feature
def gradients_set_to_none_and_to_zero() -> Any:
    model = network()
    optimizer = torch.optim.Adam(model.parameters())
    for i, data in enumerate(batches(4)):
        optimizer.zero_grad(set_to_none=i % 2 == 0)
        loss_of(model, data).backward()
        optimizer.step()
    return told(model, optimizer)


@feature
def evaluation_and_a_shorter_last_batch() -> Any:
    model = network(dropout=0.3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    seen = []
    for _ in range(2):
        model.train()
        seen += fit(model, optimizer, [batch(8), batch(8), batch(3)])
        model.eval()
        with torch.no_grad():
            seen.append(torch.stack([loss_of(model, data) for data in batches(2, 12)]))
    return told(model, optimizer, seen)


@feature
def schedulers() -> Any:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    parts = [
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 3)),
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10),
    ]
    losses = []
    for data in batches(5):
        losses += fit(model, optimizer, [data])
        for part in parts:
            part.step()
    return told(model, optimizer, losses)


@feature
def clipping() -> Any:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    norms = []
    for data in batches(3):
        optimizer.zero_grad()
        loss_of(model, data).backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.5))
        nn.utils.clip_grad_value_(model.parameters(), 0.01)
        optimizer.step()
    return told(model, optimizer, norms)


@feature
def saving_and_resuming() -> Any:
    model = network(dropout=0.1)
    optimizer = torch.optim.AdamW(model.parameters())
    losses = fit(model, optimizer, batches(2))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.pt")
        saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state()}
        torch.save(saved, path)
        fit(model, optimizer, batches(1))  # thrown away
        back = torch.load(path)
    model, optimizer = None, None
    model = network(dropout=0.1)
    optimizer = torch.optim.AdamW(model.parameters())
    model.load_state_dict(back["model"])
    optimizer.load_state_dict(back["optimizer"])
    torch.set_rng_state(back["random"])
    return told(model, optimizer, losses, fit(model, optimizer, batches(2)))


@feature
def a_whole_model_saved_and_loaded() -> Any:
    model = network()
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    model = torch.load(file, **({"weights_only": False} if hasattr(torch.serialization, "add_safe_globals") else {}))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return told(model, optimizer, fit(model, optimizer, batches(2)))


def with_checkpoints(reentrant: bool) -> Any:
    class Segmented(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(3, 24, 3, padding=1)
            self.parts = nn.ModuleList(
                nn.Sequential(nn.Conv2d(24, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Dropout(0.1))
                for _ in range(3)
            )
            self.head = nn.Linear(24, 10)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.first(x)
            for part in self.parts:
                x = checkpoint(part, x, use_reentrant=reentrant)
            return self.head(x.mean((2, 3)))

    model = Segmented()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return told(model, optimizer, fit(model, optimizer, batches(3)))


@feature
def checkpointed_segments() -> Any:
    return with_checkpoints(True)


@feature
def checkpointed_segments_without_reentry() -> Any:
    return with_checkpoints(False)


@feature
def a_loader_with_workers() -> Any:
    """Which make their batches on the CPU, as loaders do."""
    host = torch.Generator("cpu").manual_seed(5)
    data = TensorDataset(torch.randn(20, 3, 32, 32, generator=host, device="cpu"), torch.randint(10, (20,), generator=host, device="cpu"))
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    where = next(model.parameters()).device
    losses = []
    for _ in range(2):
        loader = DataLoader(data, batch_size=8, sampler=torch.randperm(20, generator=host, device="cpu").tolist(), num_workers=2)
        losses += fit(model, optimizer, ([part.to(where) for part in item] for item in loader))
    return told(model, optimizer, losses)


@feature
def two_models_alternating() -> Any:
    maker = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 768), nn.Tanh())
    judge = nn.Sequential(nn.Linear(768, 512), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(512, 1))
    makers = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.999))
    judges = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
    ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
    for _ in range(4):
        judges.zero_grad()
        made = maker(torch.randn(64, 64))
        real = F.binary_cross_entropy_with_logits(judge(torch.randn(64, 768)), ones)
        (real + F.binary_cross_entropy_with_logits(judge(made.detach()), zeros)).backward()
        judges.step()
        makers.zero_grad()
        F.binary_cross_entropy_with_logits(judge(made), ones).backward()
        makers.step()
    return told(maker, makers), told(judge, judges)


@feature
def averaged_weights() -> Any:
    model = network()
    mean = copy.deepcopy(model)
    swa = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for data in batches(3):
        fit(model, optimizer, [data])
        swa.update_parameters(model)
        with torch.no_grad():
            for slow, fast in zip(mean.parameters(), model.parameters()):
                slow.lerp_(fast, 0.1)
    return told(model, optimizer, mean.state_dict(), swa.state_dict())


@feature
def a_gradient_penalty() -> Any:
    model = nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        x = torch.randn(128, 256, requires_grad=True)
        y = model(x).sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        optimizer.zero_grad()
        (y + (slope.norm(dim=1) - 1).square().mean()).backward()
        optimizer.step()
    return told(model, optimizer)


@feature
def tied_weights_and_hooks() -> Any:
    embed, head = nn.Embedding(1000, 64), nn.Linear(64, 1000, bias=False)
    head.weight = embed.weight
    model = nn.ModuleList([embed, head])
    seen: list[torch.Tensor] = []
    head.register_forward_hook(lambda module, inputs, output: seen.append(output.detach().mean()))
    embed.weight.register_hook(lambda gradient: gradient * 0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        text = torch.randint(1000, (8, 32))
        optimizer.zero_grad()
        F.cross_entropy(head(embed(text)).flatten(0, 1), text.flatten()).backward()
        optimizer.step()
    return told(model, optimizer, seen)


@feature
def channels_last_and_frozen_layers() -> Any:
    model = network().to(memory_format=torch.channels_last)
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1, momentum=0.9)
    data = [(x.contiguous(memory_format=torch.channels_last), y) for x, y in batches(3)]
    return told(model, optimizer, fit(model, optimizer, data))
