"""Ebb under torch.distributed: Gloo, two and four ranks on this machine: test_distributed.py [Collectives] [Training] …"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
import unittest
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import ebb
from ebb import rank_report
from ebb.ranks import slowest_of
from collective_calls import CALLS, run_call
from harness import SOAK, EbbTest, digests, in_child, main
from ranks import MODELS, Run, ends_of_ranks, in_ranks, measure, train

TOOL = os.environ.get("EBB_TOOL", "")
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

    def test_turning_ebb_off_gives_its_memory_back(self):
        def resident() -> int:
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize()

        def body(rank: int) -> Any:
            after = []
            for _ in range(4):
                ebb.limit(64 * MIB, planner="none", device="cpu")
                tensors = [torch.ones(2_000_000) for _ in range(6)]
                small = torch.ones(50_000)
                dist.all_reduce(small)
                del tensors
                ebb.off()
                after.append(resident())
            return after

        for after in in_ranks(2, body):
            self.assertLess(after[-1] - after[0], 32 * MIB, after)

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
        statuses = self.assertAsPlainDdp(dataclasses.replace(run, planner="ebb", follow=2))
        if not all(status["refusal"] for status in statuses):
            self.assertGreaterEqual(min(status["planned_iterations"] for status in statuses), 2)

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


class Plans(RanksTest):
    def follow(self, world: int, percent: int, **options: Any) -> list[dict[str, Any]]:
        run = self.limited(Run("convolutions", **options), percent)
        statuses = self.assertAsPlainDdp(dataclasses.replace(run, planner="ebb", follow=3), world)
        for status in statuses:
            self.assertEqual(status["refusal"], "")
            self.assertGreaterEqual(status["planned_iterations"], 3)
        return statuses

    def test_equal_ranks_make_one_plan_and_follow_it_from_the_same_iteration_on(self):
        world = 4
        statuses = self.follow(world, 50)
        plans = sum(status["plans_made"] for status in statuses)
        print(f"plans computed for {world} equal ranks: {plans}", file=sys.stderr, flush=True)
        self.assertEqual(plans, 1)
        self.assertEqual(sum(status["plans_taken"] for status in statuses), world - 1)
        self.assertEqual(len({status["followed_from_collective"] for status in statuses}), 1)
        self.assertEqual(len({status["predicted_step_ns"] for status in statuses}), 1)

    def test_a_rank_that_differs_plans_for_itself(self):
        statuses = self.follow(2, 60, other_rank=1)
        self.assertEqual([status["plans_made"] for status in statuses], [1, 1])
        self.assertEqual(len({status["fingerprint"] for status in statuses}), 2)

    def test_one_rank_can_ask_how_the_others_are_doing(self):
        def body(rank: int) -> Any:
            with ebb.limit(8 * MIB, device="cpu"):
                tensor = torch.ones(100_000)
                for _ in range(3):
                    dist.all_reduce(tensor)
                told = ebb.status(ranks=True) if rank == 1 else {}
                dist.barrier()
                alone = ebb.status()
            return told, alone

        answers = in_ranks(2, body)
        told = answers[1][0]
        self.assertEqual([one["limit"] for one in told["ranks"]], [8 * MIB, 8 * MIB])
        self.assertTrue(all(one["collectives"] >= 3 for one in told["ranks"]))
        self.assertNotIn("ranks", answers[0][1])

    def test_ranks_are_shown_side_by_side_and_the_slowest_is_marked(self):
        with ebb.observe(device="cpu"):
            one = ebb.status()
        fast, slow = {**one, "measured_step_ns": 1_000_000}, {**one, "measured_step_ns": 2_500_000}
        status = {"ranks": [fast, slow, None], "slowest": slowest_of([fast, slow, None])}
        lines = rank_report.as_text(status).splitlines()
        self.assertRegex(lines[1], r"^\s*0 +1\.0 ms")
        self.assertRegex(lines[2], r"^1 slowest +2\.5 ms")
        self.assertRegex(lines[3], r"^\s*2 +no answer")
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/page.html"
            with open(path, "w") as file:
                file.write("<html><body><p>step</p></body></html>")
            rank_report.add_to_page(path, status)
            with open(path) as file:
                page = file.read()
        self.assertRegex(page, "<p>step</p><section id=ranks>.*</section></body></html>$")
        self.assertEqual((page.count("<tr"), page.count("class=slowest")), (4, 1))


TRAIN = """
import sys

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(1)
layers = [layer for _ in range(4) for layer in (nn.Linear(256, 256), nn.Tanh())]
model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
optimizer = torch.optim.Adam(model.parameters())
torch.manual_seed(dist.get_rank())
for _ in range(6):
    optimizer.zero_grad()
    loss = model(torch.randn(512, 256)).square().mean()
    loss.backward()
    optimizer.step()
with open(f"{sys.argv[1]}/{dist.get_rank()}", "w") as file:
    print(loss.item().hex(), sum(p.detach().double().sum() for p in model.parameters()).item().hex(), file=file)
dist.destroy_process_group()
"""


@unittest.skipUnless(TOOL, "EBB_TOOL does not say where the tool is")
class Launched(EbbTest):
    def launch(self, folder: str, kind: str, *before: str) -> list[str]:
        """What each rank wrote into its own file: on the output they share, lines can mix."""
        results = f"{folder}/{kind}"
        os.mkdir(results)
        # Python 3.11 and the launcher of PyTorch 1.13 agree on these two ways for output alone.
        words = ["torchrun", "--redirects", "2", "--tee", "1", "--log_dir", f"{folder}/log", "--nproc_per_node", "2"]
        words += ["--monitor_interval", "0.5"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words += ["--master_addr", "127.0.0.1", "--master_port", str(port)]
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [*before, *words, f"{folder}/train.py", results],
            capture_output=True, text=True, timeout=120, env={**clean, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = []
        for rank in sorted(os.listdir(results)):
            with open(f"{results}/{rank}") as file:
                ends.append(f"{rank}: {file.read()}")
        return ends

    @unittest.skipUnless(shutil.which("torchrun"), "there is no torchrun")
    def test_ebb_run_reaches_every_rank_that_torchrun_starts(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/train.py", "w") as file:
                file.write(TRAIN)
            plain = self.launch(folder, "plain")
            report = f"{folder}/report.json"
            options = ("--limit", "70%", "--host-limit", "64MiB", "--device", "cpu", "--report", report)
            limited = self.launch(folder, "limited", TOOL, "run", *options, "--")
            self.assertEqual(len(plain), 2)
            self.assertEqual(limited, plain)
            with open(report) as file:
                status = json.load(file)["status"]
        self.assertEqual(len(status["ranks"]), 2)
        for one in status["ranks"]:
            self.assertGreater(one["evictions"], 0)
            self.assertWithin(one["limit"], one)
            self.assertLessEqual(one["host_reserved"], 32 * MIB)


class Trouble(RanksTest):
    def test_one_rank_is_slow_and_one_has_a_shorter_last_batch(self):
        run = self.limited(Run("convolutions", slow_rank=1, short_rank=0, steps=4))
        self.assertAsPlainDdp(run)
        self.assertAsPlainDdp(dataclasses.replace(run, slow_rank=0, short_rank=1), 4)

    def test_where_one_rank_deviates_the_others_follow_on(self):
        run = self.limited(Run("convolutions", planner="ebb", follow=2, short_rank=0))
        statuses = self.assertAsPlainDdp(run)
        self.assertEqual([status["refusal"] for status in statuses], ["", ""])
        self.assertGreater(statuses[0]["deviations"], 0)
        self.assertEqual((statuses[1]["deviations"], statuses[1]["fallbacks"], statuses[1]["now"]), (0, 0, "planned"))

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
