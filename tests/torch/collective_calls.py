"""Every collective, waited for late, with ops in between: each a function of rank and world that returns what it computed."""

from __future__ import annotations

from typing import Any, Callable

import torch
import torch.distributed as dist

SIZE = 40_000  # floats: worth moving

CALLS: dict[str, Callable[[int, int], Any]] = {}


def call(function: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
    CALLS[function.__name__] = function
    return function


def draw(count: int = 1) -> list[torch.Tensor]:
    return [torch.randn(SIZE) for _ in range(count)]


def compute_meanwhile() -> torch.Tensor:
    total = torch.zeros(SIZE)
    for i in range(6):
        total = total + torch.full((SIZE,), float(i)).cos()
    return total


def finished(*works: Any) -> torch.Tensor:
    computed = compute_meanwhile()
    for work in works:
        work.wait()
    return computed


@call
def all_reduce(rank: int, world: int) -> Any:
    tensors = draw(3)
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    return [finished(*works), *tensors]


@call
def all_reduce_of_a_view(rank: int, world: int) -> Any:
    whole = torch.randn(4, SIZE)
    work = dist.all_reduce(whole[2], async_op=True)
    return [finished(work), whole]


@call
def all_reduce_that_nobody_waits_for(rank: int, world: int) -> Any:
    tensors = draw(2)
    for tensor in tensors:
        dist.all_reduce(tensor, async_op=True)
    computed = compute_meanwhile()
    dist.barrier()
    dist.all_reduce(torch.zeros(1))
    return [computed, *tensors]


@call
def broadcast(rank: int, world: int) -> Any:
    (tensor,) = draw()
    return [finished(dist.broadcast(tensor, 1, async_op=True)), tensor]


@call
def reduce(rank: int, world: int) -> Any:
    (tensor,) = draw()
    computed = finished(dist.reduce(tensor, 0, async_op=True))
    return [computed] + ([tensor] if rank == 0 else [])


@call
def all_gather(rank: int, world: int) -> Any:
    (tensor,) = draw()
    parts = [torch.empty(SIZE) for _ in range(world)]
    return [finished(dist.all_gather(parts, tensor, async_op=True)), *parts]


@call
def all_gather_into_tensor(rank: int, world: int) -> Any:
    (tensor,) = draw()
    whole = torch.empty(world * SIZE)
    return [finished(dist._all_gather_base(whole, tensor, async_op=True)), whole]


@call
def gather(rank: int, world: int) -> Any:
    (tensor,) = draw()
    parts = [torch.empty(SIZE) for _ in range(world)] if rank == 0 else None
    return [finished(dist.gather(tensor, parts, 0, async_op=True)), *(parts or [])]


@call
def scatter(rank: int, world: int) -> Any:
    parts = draw(world) if rank == 0 else None
    received = torch.empty(SIZE)
    return [finished(dist.scatter(received, parts, 0, async_op=True)), received]


@call
def reduce_scatter(rank: int, world: int) -> Any:
    received = torch.empty(SIZE)
    return [finished(dist.reduce_scatter(received, draw(world), async_op=True)), received]


@call
def all_to_all(rank: int, world: int) -> Any:
    received = [torch.empty(SIZE) for _ in range(world)]
    return [finished(dist.all_to_all(received, draw(world), async_op=True)), *received]


@call
def all_to_all_single(rank: int, world: int) -> Any:
    received = torch.empty(world, SIZE)
    return [finished(dist.all_to_all_single(received, torch.randn(world, SIZE), async_op=True)), received]


@call
def all_reduce_coalesced(rank: int, world: int) -> Any:
    tensors = draw(3)
    return [finished(dist.all_reduce_coalesced(tensors, async_op=True)), *tensors]


@call
def all_gather_coalesced(rank: int, world: int) -> Any:
    parts = [[torch.empty(SIZE) for _ in range(2)] for _ in range(world)]
    return [finished(dist.all_gather_coalesced(parts, draw(2), async_op=True)), parts]


@call
def send_and_receive(rank: int, world: int) -> Any:
    sent, received = draw()[0], torch.empty(SIZE)
    works = [dist.isend(sent, (rank + 1) % world), dist.irecv(received, (rank - 1) % world)]
    return [finished(*works), received]


@call
def send_dropped(rank: int, world: int) -> Any:
    received = torch.empty(SIZE)
    work = dist.irecv(received, (rank - 1) % world)
    sending = dist.isend(draw()[0], (rank + 1) % world)
    computed = finished(work)
    dist.barrier()
    del sending
    return [computed, received]


@call
def receive_from_anybody(rank: int, world: int) -> Any:
    received = torch.empty(SIZE)
    if rank == 0:
        dist.recv(received)
    elif rank == 1:
        dist.send(draw()[0], 0)
    return [compute_meanwhile(), received if rank == 0 else 0]


@call
def objects(rank: int, world: int) -> Any:
    told: list[Any] = [None] * world
    dist.all_gather_object(told, {"rank": rank, "tensor": draw()[0]})
    shared = [torch.arange(SIZE) if rank == 0 else None]
    dist.broadcast_object_list(shared, 0)
    return [[part["tensor"] for part in told], shared[0]]


@call
def callbacks_of_a_future(rank: int, world: int) -> Any:
    (tensor,) = draw()
    future = dist.all_reduce(tensor, async_op=True).get_future()
    halved = future.then(lambda done: done.value()[0] / world + torch.ones(SIZE))
    computed = compute_meanwhile()
    return [computed, halved.wait()]


def run_call(name: str, rank: int, world: int) -> Any:
    """What it computed, or torch's own words if this backend does not have it."""
    torch.manual_seed(rank)
    try:
        return CALLS[name](rank, world)
    except RuntimeError as error:
        if "support" not in str(error):
            raise
        return str(error)
