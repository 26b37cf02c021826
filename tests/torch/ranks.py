"""Several ranks of a Gloo process group on this machine, each a fork of the test program, and what they train."""

from __future__ import annotations

import datetime
import os
import pickle
import select
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
import torch.distributed as dist
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.distributed.optim import ZeroRedundancyOptimizer as Zero
from torch.nn.parallel import DistributedDataParallel

import ebb
from harness import ChildFailed, _run_child, digests
from workloads import Transformer

SEED = 20261115
TIMEOUT = 60  # seconds, of a collective


@dataclass
class Ended:
    """How a rank came to its end."""

    signal: int = 0
    code: int = 0
    answer: Any = None
    failure: str = ""


def start_rank(rank: int, world: int, store: str, function: Callable[..., Any], args: tuple, timeout: float) -> tuple[int, int]:
    """The child's id, and where its answer can be read."""
    sys.stdout.flush()
    sys.stderr.flush()
    readable, writable = os.pipe()
    child = os.fork()
    if child != 0:
        os.close(writable)
        return child, readable
    os.close(readable)

    def body() -> Any:
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        os.environ.update(LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(world))
        dist.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=world, timeout=datetime.timedelta(seconds=timeout)
        )
        answer = function(rank, *args)
        dist.barrier()
        return answer

    _run_child(writable, body)
    raise AssertionError("unreachable")


def ends_of_ranks(
    world: int, function: Callable[..., Any], *args: Any, seconds: float = 300, timeout: float = TIMEOUT
) -> list[Ended]:
    """Runs function(rank, *args) in every rank; none is left when this returns."""
    with tempfile.TemporaryDirectory() as folder:
        children = [start_rank(rank, world, f"{folder}/store", function, args, timeout) for rank in range(world)]
        answers = _answers([readable for _, readable in children], time.monotonic() + seconds)
        ends = []
        for (child, readable), answer in zip(children, answers):
            os.close(readable)
            ends.append(_end_of(child, answer))
        return ends


def in_ranks(world: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """What function(rank, *args) returned in every rank."""
    ends = ends_of_ranks(world, function, *args, **kwargs)
    for rank, end in enumerate(ends):
        if end.failure:
            raise ChildFailed(f"rank {rank}: {end.failure}")
    return [end.answer for end in ends]


def _answers(readables: list[int], deadline: float) -> list[bytes]:
    parts: dict[int, list[bytes]] = {readable: [] for readable in readables}
    waiting = set(readables)
    while waiting:
        ready, _, _ = select.select(list(waiting), [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            break
        for readable in ready:
            part = os.read(readable, 1 << 20)
            parts[readable].append(part)
            if not part:
                waiting.discard(readable)
    return [b"".join(parts[readable]) for readable in readables]


def _end_of(child: int, answer: bytes) -> Ended:
    for _ in range(500):
        done, state = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return Ended(signal=signal.SIGKILL, failure="it did not end by itself")
    end = Ended(signal=os.WTERMSIG(state) if os.WIFSIGNALED(state) else 0, code=os.waitstatus_to_exitcode(state))
    if not answer:
        end.failure = f"it ended with {end.code} and no answer"
        return end
    kind, value = pickle.loads(answer)
    end.answer, end.failure = (value, "") if kind == "done" else (None, value)
    return end


# What they train.


def resnet18() -> tuple[nn.Module, Callable[[int], Any], Callable[..., torch.Tensor]]:
    draw = lambda batch: (torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,)))
    return torchvision.models.resnet18(num_classes=10), draw, F.cross_entropy


def convolutions() -> tuple[nn.Module, Callable[[int], Any], Callable[..., torch.Tensor]]:
    layers: list[nn.Module] = []
    for channels in (3, 16, 16, 16):
        layers += [nn.Conv2d(channels, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * 32 * 32, 10))
    return model, lambda batch: (torch.randn(4 * batch, 3, 32, 32), torch.randint(10, (4 * batch,))), F.cross_entropy


def transformer() -> tuple[nn.Module, Callable[[int], Any], Callable[..., torch.Tensor]]:
    words = 200

    def draw(batch: int) -> Any:
        text = torch.randint(words, (2 * batch, 65))
        return text[:, :-1], text[:, 1:].flatten()

    return Transformer(words, 64, 2), draw, lambda out, target: F.cross_entropy(out.flatten(0, 1), target)


MODELS = {make.__name__: make for make in (resnet18, convolutions, transformer)}


@dataclass(frozen=True)
class Run:
    """One training. No limit: plain DDP. Steps are counted, or go on until a plan was followed on every rank."""

    model: str
    limit: int = 0
    planner: str = "none"
    stress: bool = False
    steps: int = 3
    follow: int = 0  # iterations by a plan before it ends
    optimizer: str = "sgd"
    slow_rank: int = -1
    short_rank: int = -1  # its last batch is half as large
    other_rank: int = -1  # all its batches are half as large
    unused: bool = False  # a part of the model that only odd steps use
    no_sync: bool = False  # two backwards a step, of which one is not reduced
    compress: bool = False  # gradients, in a hook
    ddp: dict[str, Any] = field(default_factory=dict)


MOST_STEPS = 80
PAUSE = 0.3  # seconds between steps while a plan is being made, or waits for its time


def train(rank: int, run: Run) -> dict[str, Any]:
    """Digests of losses, parameters, buffers and optimizer state, and Ebb's status at the end."""
    if run.limit:
        ebb.limit(run.limit, planner=run.planner, stress=run.stress, device="cpu")
    torch.manual_seed(SEED)
    model, draw, loss_of = make_model(run)
    wrapped = wrap(model, run)
    optimizer = make_optimizer(run.optimizer, wrapped)
    torch.manual_seed(SEED + 1 + rank)
    losses: list[str] = []
    steps = MOST_STEPS if run.follow else run.steps
    while len(losses) < steps:
        if rank == run.slow_rank:
            time.sleep(0.05)
        last = len(losses) == steps - 1
        optimizer.zero_grad()
        if run.no_sync:
            with wrapped.no_sync():
                inputs, target = draw(4)
                loss_of(wrapped(inputs), target).backward()
        inputs, target = draw(2 if rank == run.other_rank or (rank == run.short_rank and last) else 4)
        loss = loss_of(wrapped(inputs), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
        if run.follow and steps == MOST_STEPS and all_followed(run.follow):
            if run.short_rank < 0:
                break
            steps = len(losses) + 1  # and the last one is short
    if isinstance(optimizer, Zero):
        optimizer.consolidate_state_dict(0)
    told = {"loss": losses, "model": model.state_dict(), "optimizer": state_of(optimizer, rank)}
    bits = digests(told)
    for _ in range(500):  # a Work says that it is over a moment after who waited for it goes on
        status = ebb.status()
        if not status.get("collectives_in_flight"):
            break
        time.sleep(0.01)
    return {"bits": bits, "steps": len(losses), "status": status}





class SometimesMore(nn.Module):
    """Adds a part every second time."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.more = nn.Linear(10, 10)
        self.calls = 0

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        out = self.model(inputs)
        return out + self.more(out) if self.calls % 2 else out


def make_model(run: Run) -> tuple[nn.Module, Callable[[int], Any], Callable[..., torch.Tensor]]:
    model, draw, loss_of = MODELS[run.model]()
    return SometimesMore(model) if run.unused else model, draw, loss_of


def wrap(model: nn.Module, run: Run) -> DistributedDataParallel:
    wrapped = DistributedDataParallel(model, **run.ddp)
    if run.compress:
        wrapped.register_comm_hook(None, fp16_compress_hook)
    return wrapped


def make_optimizer(kind: str, model: nn.Module) -> torch.optim.Optimizer:
    if kind == "zero":
        return Zero(model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)
    if kind == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=1e-3)
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def state_of(optimizer: torch.optim.Optimizer, rank: int) -> Any:
    return optimizer.state_dict() if rank == 0 or not isinstance(optimizer, Zero) else {}


def all_followed(goal: int) -> bool:
    """Has every rank followed a plan so often, or been refused one? Asked over the store, not by a collective."""
    status = ebb.status()
    done = status["planned_iterations"] >= goal or (status["refusal"] and not status["planning"])
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, (bool(done), status["planning"] or (bool(status["planner"]) and status["now"] != "planned")))
    if any(waiting for _, waiting in told):
        time.sleep(PAUSE)
    return all(done for done, _ in told)


def measure(rank: int, run: Run) -> int:
    """The peak of a rank of plain DDP."""
    with ebb.observe(device="cpu"):
        torch.manual_seed(SEED)
        model, draw, loss_of = make_model(run)
        wrapped = wrap(model, run)
        optimizer = make_optimizer(run.optimizer, wrapped)
        for _ in range(2):  # the second has the optimizer's state
            optimizer.zero_grad()
            inputs, target = draw(4)
            loss_of(wrapped(inputs), target).backward()
            optimizer.step()
        return ebb.status()["peak"]
