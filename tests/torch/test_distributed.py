"""Ebb under torch.distributed: Gloo, two and four ranks on this machine: test_distributed.py [Collectives] [Training] …"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
import types
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import ebb
from collective_calls import CALLS, run_call
from harness import SOAK, EbbTest, digests, in_child, main
from ranks import MODELS, Run, ends_of_ranks, in_ranks, measure, train

MIB = 2**20
PERCENT = 60
TIMEOUT = 5  # seconds until torch gives a rank up that does not answer


class RanksTest(EbbTest):
    def limited(self, run: Run, percent: int = PERCENT) -> Run:
        return dataclasses.replace(run, limit=max(in_ranks(2, measure, run)) * percent // 100)

    def assertAsPlainDdp(self, run: Run, world: int = 2) -> list[dict[str, Any]]:
        """The statuses of all ranks, which computed what plain DDP does."""
        limited = in_ranks(world, train, run)
        plain = in_ranks(world, train, dataclasses.replace(run, limit=0, follow=0, steps=limited[0]["steps"]))
        for rank in range(world):
            self.assertSameBits(plain[rank]["bits"], limited[rank]["bits"], f"{run}, rank {rank}")
            self.assertWithin(run.limit, limited[rank]["status"], str(run))
            self.assertEqual(limited[rank]["status"]["collectives_in_flight"], 0)
        statuses = [rank["status"] for rank in limited]
        self.assertTrue(all(status["evictions"] > 0 for status in statuses))
        return statuses


class Collectives(EbbTest):
    def test_no_collective_sees_memory_that_has_left(self):
        def body(rank: int, limit: int) -> Any:
            if limit:
                ebb.limit(limit, planner="none", stress=True, device="cpu")
            computed = {name: digests(run_call(name, rank, dist.get_world_size())) for name in CALLS}
            return computed, ebb.status()

        for world in (2, 4):
            plain = in_ranks(world, body, 0)
            limited = in_ranks(world, body, 3 * MIB)
            for rank in range(world):
                for name in CALLS:
                    with self.subTest(world=world, rank=rank, collective=name):
                        self.assertSameBits(plain[rank][0][name], limited[rank][0][name])
                self.assertGreater(limited[rank][1]["evictions"], 0)
            computed = [name for name in CALLS if list(plain[0][0][name]) != [""]]
            self.assertGreater(len(computed), 10, "this Gloo computes hardly any")

    def test_tensors_may_leave_again_when_it_is_over(self):
        def body(rank: int) -> Any:
            ebb.limit(64 * MIB, planner="none", device="cpu")
            tensors = [torch.randn(100_000) for _ in range(3)]
            works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
            issued = ebb.status()["collectives_in_flight"]
            for work in works:
                work.wait()
            deadline = time.monotonic() + 10
            while (waited_for := ebb.status()["collectives_in_flight"]) and time.monotonic() < deadline:
                time.sleep(0.01)
            return issued, waited_for, ebb.status()["pinned_bytes"]

        for issued, waited_for, pinned in in_ranks(2, body):
            self.assertLessEqual(issued, 3)
            self.assertEqual((waited_for, pinned), (0, 0))

    def test_an_op_waits_for_memory_that_a_collective_keeps(self):
        def body(rank: int) -> Any:
            ebb.limit(4 * MIB, planner="none", device="cpu")
            sent = torch.ones(600_000)
            if rank == 1:
                time.sleep(1)  # the other rank's tensor is in flight meanwhile, and leaves no room
            work = dist.all_reduce(sent, async_op=True)
            computed = torch.ones(500_000) * 2
            work.wait()
            return computed.sum().item(), sent.sum().item(), ebb.status()["evictions"]

        for computed, reduced, evictions in in_ranks(2, body):
            self.assertEqual((computed, reduced), (1_000_000, 1_200_000))
            self.assertGreater(evictions, 0)

    def test_integers_stay_while_somebody_keeps_their_address(self):
        def body() -> Any:
            ebb.limit(4 * MIB, planner="none", stress=True, device="cpu")
            with ebb.extension.native.IntegersStay():
                kept = torch.arange(100_000)
                floats = torch.ones(100_000)
            torch.ones(10)
            return [ebb.extension.native.managed(tensor) for tensor in (kept, floats)]

        self.assertEqual(in_child(body), [False, True])


class Training(RanksTest):
    def check(self, model: str) -> None:
        run = self.limited(Run(model))
        self.assertAsPlainDdp(run)
        self.assertAsPlainDdp(dataclasses.replace(run, stress=True, steps=2))
        statuses = self.assertAsPlainDdp(dataclasses.replace(run, planner="ebb", follow=3))
        if not all(status["refusal"] for status in statuses):
            self.assertGreaterEqual(min(status["planned_iterations"] for status in statuses), 3)

    def test_resnet18(self):
        self.check("resnet18")

    def test_transformer(self):
        self.check("transformer")

    def test_four_ranks(self):
        run = self.limited(Run("convolutions", optimizer="adamw"))
        self.assertAsPlainDdp(run, 4)


class Options(RanksTest):
    MODEL = "convolutions"

    def check(self, **options: Any) -> None:
        run = self.limited(Run(self.MODEL, **options), 65)
        for stress in (False, True) if SOAK else (True,):
            with self.subTest(stress=stress):
                self.assertAsPlainDdp(dataclasses.replace(run, stress=stress))

    def test_gradients_are_views_of_buckets(self):
        self.check(ddp={"gradient_as_bucket_view": True, "bucket_cap_mb": 0.1})

    def test_buckets_are_small_and_rebuilt(self):
        self.check(ddp={"bucket_cap_mb": 0.1})

    def test_parameters_that_are_not_used(self):
        self.check(ddp={"find_unused_parameters": True}, unused=True)

    def test_a_graph_that_does_not_change(self):
        self.check(ddp={"static_graph": True})

    def test_gradients_add_up_without_synchronization(self):
        self.check(no_sync=True)

    def test_gradients_are_compressed_in_a_hook(self):
        self.check(compress=True)

    def test_an_optimizer_whose_state_is_sharded(self):
        self.check(optimizer="zero")

    def test_fsdp_is_refused_with_a_reason(self):
        def body() -> Any:
            try:
                import torch.distributed.fsdp as fsdp
            except ValueError:  # PyTorch 1.13's cannot be imported by Python 3.11
                fsdp = types.ModuleType("torch.distributed.fsdp")
                fsdp.FullyShardedDataParallel = type("FullyShardedDataParallel", (torch.nn.Module,), {"__init__": init})
                sys.modules["torch.distributed.fsdp"] = fsdp
            before = fsdp.FullyShardedDataParallel.__init__
            with ebb.limit(64 * MIB, device="cpu"):
                try:
                    fsdp.FullyShardedDataParallel(torch.nn.Linear(8, 8))
                except RuntimeError as error:
                    refusal = str(error)
            return refusal, fsdp.FullyShardedDataParallel.__init__ is before

        def init(self: Any, module: Any) -> None:
            super(type(self), self).__init__()

        refusal, is_as_before = in_child(body)
        self.assertIn("resizes the storages of its flat parameters", refusal)
        self.assertTrue(is_as_before)


class Trouble(RanksTest):
    def test_one_rank_is_slow_and_one_has_a_shorter_last_batch(self):
        run = self.limited(Run("convolutions", slow_rank=1, short_rank=0, steps=4))
        self.assertAsPlainDdp(run)
        self.assertAsPlainDdp(dataclasses.replace(run, slow_rank=0, short_rank=1), 4)

    def test_when_a_rank_dies_the_others_end_with_torchs_own_error(self):
        def body(rank: int, limit: int) -> Any:
            if limit:
                ebb.limit(limit, planner="ebb", device="cpu")
            model, draw, loss_of = MODELS["convolutions"]()
            wrapped = DistributedDataParallel(model)
            for i in range(100):
                if rank == 1 and i == 3:
                    os.kill(os.getpid(), signal.SIGKILL)
                inputs, target = draw(4)
                loss_of(wrapped(inputs), target).backward()

        limit = self.limited(Run("convolutions")).limit
        for world in (2, 4):
            begun = time.monotonic()
            ends = ends_of_ranks(world, body, limit, timeout=TIMEOUT)
            self.assertLess(time.monotonic() - begun, 60)
            self.assertEqual(ends[1].signal, signal.SIGKILL)
            for rank in set(range(world)) - {1}:
                self.assertEqual(ends[rank].signal, 0, f"rank {rank} hung")
                self.assertRegex(ends[rank].failure, "RuntimeError: .*(gloo|Connection|peer|[Tt]imed? ?out)")
                self.assertNotIn("ebb", ends[rank].failure.splitlines()[-1])


if __name__ == "__main__":
    main()
