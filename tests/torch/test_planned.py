"""With a plan the bits stay the same: real models, every planner, and programs that leave the plan and come back.

How long planning takes is not known, so a limited run goes on until its plan has been followed, and the plain one does
as many steps: test_planned.py [Models] [Planners] [Progress] [Norms] [Deviations] [Captured] [Kept].
"""

from __future__ import annotations

import collections
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any

import torch
import torch.nn.functional as F

import ebb
from harness import SOAK, EbbTest, digests, in_child, main
from training import measure
from workloads import WORKLOADS, make_optimizer

TOOL = os.environ.get("EBB_TOOL", "")
FOLLOWED = 3  # iterations, before a run may end
MOST_STEPS = 160  # most of them pauses on a loaded machine
PAUSE = 0.5  # seconds between steps while a plan is being made
SEED = 20261115


class Training:
    """A workload trained step by step; `did` is the kind of each step, for another run to repeat."""

    def __init__(self, name: str, optimizer: str) -> None:
        torch.manual_seed(SEED)
        self.workload = WORKLOADS[name]()
        self.optimizer = make_optimizer(optimizer, self.workload)
        self.losses: list[str] = []
        self.did: list[str] = []

    def step(self, kind: str = "usual") -> None:
        model = self.workload.model
        if kind == "evaluation":
            model.eval()
            with torch.no_grad():
                self.losses.append(self.workload.loss(0).item().hex())
            model.train()
        self.optimizer.zero_grad()
        loss = short_batch(model) if kind == "shorter batch" else self.workload.loss(len(self.did))
        loss.backward()
        if kind == "extra op":
            self.losses.append(sum(p.grad.norm() for p in model.parameters()).item().hex())
        if kind != "skipped update":
            self.optimizer.step()
        self.losses.append(loss.item().hex())
        self.did.append(kind)

    def follow_plan(self, least_steps: int = 1) -> None:
        """Until a few more iterations went by the plan, or there is none to wait for."""
        goal = ebb.status()["planned_iterations"] + FOLLOWED
        for i in range(MOST_STEPS):
            self.step()
            status = ebb.status()
            done = status["planned_iterations"] >= goal or (status["refusal"] and not status["planning"])
            if done and i + 1 >= least_steps:
                return
            if status["planning"]:
                time.sleep(PAUSE)

    def settle(self) -> None:
        """Follows the last plan that is made."""
        self.follow_plan()
        for _ in range(MOST_STEPS):
            if not ebb.status()["improving"]:
                break
            self.step()
            time.sleep(PAUSE)
        self.follow_plan()

    def bits(self) -> dict[str, Any]:
        return digests(
            {"loss": self.losses, "model": self.workload.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        )


def short_batch(model: torch.nn.Module) -> torch.Tensor:
    return F.cross_entropy(model(torch.randn(6, 3, 32, 32)), torch.randint(10, (6,)))


DEVIATIONS = ("extra op", "shorter batch", "evaluation", "skipped update")


def train_plain(name: str, optimizer: str, did: list[str]) -> dict[str, Any]:
    training = Training(name, optimizer)
    for kind in did:
        training.step(kind)
    return training.bits()


def train_planned(name: str, optimizer: str, limit: int, planner: str, steps: int) -> dict[str, Any]:
    ebb.limit(limit, planner=planner, device="cpu")
    training = Training(name, optimizer)
    training.follow_plan(steps)
    status = ebb.status()
    return {"bits": training.bits(), "did": training.did, "status": status}


def train_deviating(name: str, optimizer: str, limit: int, deviation: str) -> dict[str, Any]:
    ebb.limit(limit, device="cpu")
    training = Training(name, optimizer)
    training.follow_plan()
    before = ebb.status()
    training.step(deviation)
    training.follow_plan()
    status = ebb.status()
    return {"bits": training.bits(), "did": training.did, "before": before, "status": status}


def train_captured(name: str, limit: int, planner: str) -> dict[str, Any]:
    ebb.limit(limit, planner=planner, capture=True, device="cpu")
    training = Training(name, "sgd")
    training.settle()
    for _ in range(3):  # where small blocks lie may alternate: each place has to be seen twice
        training.follow_plan()
    before = ebb.status()
    training.follow_plan()
    after = ebb.status()
    training.step("evaluation")
    training.follow_plan()
    return {"bits": training.bits(), "did": training.did, "before": before, "after": after, "status": ebb.status()}


def train_keeping_plans(name: str, limit: int, folder: str) -> dict[str, Any]:
    ebb.limit(limit, planner="drop-cheap", plans=folder, device="cpu")
    training = Training(name, "sgd")
    training.settle()
    return {"bits": training.bits(), "did": training.did, "status": ebb.status()}


class PlannedTest(EbbTest):
    def assertAsPlain(self, name: str, optimizer: str, limit: int, limited: dict[str, Any], what: str) -> None:
        plain = in_child(train_plain, name, optimizer, limited["did"])
        self.assertSameBits(plain, limited["bits"], what)
        self.assertWithin(limit, limited["status"], what)


class Models(PlannedTest):
    """Packing a plan has a deadline, so a loaded machine may end without one: said, and correct all the same."""

    def test_real_models_follow_a_plan_to_the_same_bits(self):
        followed = []
        for name in ("resnet18", "lstm", "transformer", "unet", "vgg11"):
            for optimizer in ("adamw", "sgd") if SOAK else ("adamw",):
                for percent in (80, 60, 45) if SOAK else (60,):
                    with self.subTest(model=name, optimizer=optimizer, percent=percent):
                        followed += [name] if self.check(name, optimizer, percent) else []
        self.assertTrue(followed, "no model followed a plan")

    def check(self, name: str, optimizer: str, percent: int) -> bool:
        limit = in_child(measure, name, optimizer, 3)["peak"] * percent // 100
        limited = in_child(train_planned, name, optimizer, limit, "ebb", 12)
        self.assertAsPlain(name, optimizer, limit, limited, f"{name} {optimizer} at {percent} %")
        status = limited["status"]
        if status["refusal"]:
            print(f"{name} at {percent} %: no plan: {status['refusal']}", file=sys.stderr)
            self.assertEqual((status["planner"], status["planned_iterations"]), ("", 0))
            return False
        self.assertEqual(status["planner"], "ebb")
        self.assertGreaterEqual(status["planned_iterations"], FOLLOWED, status)
        return True


@unittest.skipUnless(TOOL, "EBB_TOOL does not say where the tool is")
class Planners(PlannedTest):
    """Each at the smallest of a few limits that it can reach; above the peak nothing is to be planned, and keep is the plan."""

    MODEL = "resnet18" if SOAK else "convolutions"

    def test_every_planner_is_followed_to_the_same_bits(self):
        told = subprocess.run([TOOL, "planners", "--json"], capture_output=True, text=True, check=True)
        peak = in_child(measure, self.MODEL, "sgd", 3)["peak"]
        names = [planner["name"] for planner in json.loads(told.stdout) if planner["name"] != "dqn"]  # the tool's alone
        followed = []
        for name in names:
            with self.subTest(planner=name):
                followed.append(self.check(name, peak))
        without = sorted(set(names) - set(followed))
        self.assertLess(len(without), len(names) / 4, f"followed at no limit below the peak: {without}")

    def check(self, planner: str, peak: int) -> str:
        """Whose plan was followed."""
        for percent in (70, 85, 130):
            limit = peak * percent // 100
            limited = in_child(train_planned, self.MODEL, "sgd", limit, planner, 10)
            self.assertAsPlain(self.MODEL, "sgd", limit, limited, f"{planner} at {percent} %")
            status = limited["status"]
            if not status["refusal"]:
                break
            self.assertEqual((status["planner"], status["planned_iterations"]), ("", 0), status["refusal"])
        self.assertEqual((status["planner"], status["refusal"]), (planner if percent < 100 else "keep", ""))
        self.assertGreaterEqual(status["planned_iterations"], FOLLOWED, status)
        return status["planner"]


class Progress(EbbTest):
    def test_lines_say_what_was_found_and_what_became_of_it(self):
        def lines(percent):
            os.environ["EBB_PROGRESS"] = "1"
            sys.stderr = io.StringIO()
            train_planned("convolutions", "sgd", peak * percent // 100, "keep", 1)
            for thread in threading.enumerate():
                if thread.name == "ebb-progress":
                    thread.join(60)
            ebb.off()
            return sys.stderr.getvalue()

        peak = in_child(measure, "convolutions", "sgd", 3)["peak"]
        for percent, last in ((130, r"ebb: planned with keep in \d+\.\d s; predicted 1\.\d\d x plain\nebb: memory without a limit  \S.{58}\S\nebb: memory by the plan      \S.{58}\S"), (70, "ebb: no plan by keep: .+")):
            said = in_child(lines, percent)
            self.assertRegex(said, rf"^ebb: iteration of \d+ ops found; planning with keep …\n{last}\n$")


@unittest.skipUnless(TOOL, "EBB_TOOL does not say where the tool is")
class Reports(EbbTest):
    def test_a_followed_plan_is_shown_beside_what_was_measured(self):
        def body(folder, limit):
            train_planned("convolutions", "sgd", limit, "keep", 3)
            ebb.report(os.path.join(folder, "run.json"))
            ebb.extension.native.write_trace(os.path.join(folder, "run.ebb"))

        peak = in_child(measure, "convolutions", "sgd", 3)["peak"]
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            in_child(body, folder, peak * 130 // 100)
            with open(path("run.json"), encoding="utf-8") as file:
                told = json.load(file)
            self.assertEqual(told["plan"]["planner"], "keep")
            self.assertGreater(told["measured"]["step"], 0)
            self.assertEqual(len(told["measured"]["timeline"]["compute"]["op"]), told["status"]["ops_per_iteration"])
            made = subprocess.run(
                [TOOL, "report", path("run.ebb"), "--measured", path("run.json"), "--perfetto", path("timeline.json")],
                capture_output=True,
                text=True,
            )
            self.assertEqual(made.returncode, 0, made.stderr)
            with open(path("timeline.json"), encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            tracks = [event["args"]["name"] for event in events if event["name"] == "process_name"]
            self.assertEqual([track.split(": ")[-1] for track in tracks], ["without a limit", "keep, predicted", "keep, measured"])


class Norms(PlannedTest):
    def test_batch_norm_is_run_again_without_its_statistics_only_if_its_results_stay_the_same(self):
        for name in ("convolutions", "norms_without_weights"):
            with self.subTest(model=name):
                limit = in_child(measure, name, "sgd", 3)["peak"] * 8 // 10
                limited = in_child(train_planned, name, "sgd", limit, "sublinear", FOLLOWED)
                self.assertAsPlain(name, "sgd", limit, limited, name)
                self.assertEqual(limited["status"]["refusal"], "")
                self.assertGreater(limited["status"]["replays"], 0)
                self.assertEqual(limited["status"]["left_out"], 0)


class Deviations(PlannedTest):
    def test_a_program_that_does_something_else_is_counted_and_returns_to_its_plan(self):
        name, optimizer = "convolutions", "adamw"
        limit = in_child(measure, name, optimizer, 3)["peak"] * 6 // 10
        for deviation in DEVIATIONS:
            with self.subTest(deviation=deviation):
                limited = in_child(train_deviating, name, optimizer, limit, deviation)
                self.assertAsPlain(name, optimizer, limit, limited, deviation)
                before, status = limited["before"], limited["status"]
                if before["refusal"]:
                    self.skipTest(f"no plan to leave: {before['refusal']}")
                self.assertGreaterEqual(before["planned_iterations"], FOLLOWED, before)
                self.assertEqual(before["deviations"], 0)
                self.assertGreater(status["deviations"], 0)
                self.assertGreaterEqual(status["planned_iterations"], before["planned_iterations"] + FOLLOWED)


class Captured(PlannedTest):
    """On a CPU nothing is enqueued: what was captured is what an op does on given memory, done again.

    Of the ops that are replayed here, convolutions and batch norms give memory back between mallocs, as they do not on a
    GPU, and are left alone.
    """

    def test_replays_that_repeat_are_captured_once_and_make_the_same_bits(self):
        counted = collections.Counter()  # in all of them: which few ops a plan replays depends on what they took
        for name, planner in (("convolutions", "drop-cheap"), ("unet", "sublinear"), ("mobilenet_v2", "dtr")):
            with self.subTest(model=name):
                limited = self.check(name, planner)
                if limited["status"]["refusal"]:
                    print(f"{name}: no plan: {limited['status']['refusal']}", file=sys.stderr)
                    continue
                self.assertGreater(limited["status"]["captured_replays"], 0)
                for key in ("captures", "captured_replays", "replays"):
                    counted[key] += limited["after"][key] - limited["before"][key]
        self.assertGreater(counted["captured_replays"], counted["replays"] / 4, counted)
        self.assertLess(counted["captures"], counted["captured_replays"] / 4, counted)

    def test_numbers_that_change_are_not_those_that_were_captured(self):
        limited = self.check("changing_bounds", "drop-cheap", percent=90)
        if limited["status"]["refusal"]:
            self.skipTest(f"no plan: {limited['status']['refusal']}")
        self.assertGreater(limited["status"]["captured_replays"], 0)

    def check(self, name: str, planner: str, percent: int = 80) -> dict[str, Any]:
        limit = in_child(measure, name, "sgd", 3)["peak"] * percent // 100
        limited = in_child(train_captured, name, limit, planner)
        self.assertAsPlain(name, "sgd", limit, limited, name)
        self.assertGreater(limited["status"]["replays"], 0)
        return limited


ENDS_WHILE_PLANNING = """
import atexit, os

def threads():
    return len(os.listdir("/proc/self/task"))

def at_the_end():
    print(before, threads(), ebb.status()["planning"])

atexit.register(at_the_end)  # before Ebb's own, so it runs after them
import torch, ebb
from torch import nn

torch.set_num_threads(1)
ebb.limit("2500KiB", device="cpu")
model = nn.Sequential(*[layer for _ in range(40) for layer in (nn.Linear(64, 64), nn.Tanh())])
while not (ebb.status()["planning"] or ebb.status()["improving"]):
    model(torch.randn(256, 64)).square().mean().backward()
before = threads()
"""


class TheEnd(unittest.TestCase):
    def test_nobody_plans_any_more_when_the_program_has_ended(self):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", ENDS_WHILE_PLANNING], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after, planning = done.stdout.split()
        self.assertLess(int(after), int(before), done.stderr)
        self.assertEqual(planning, "False")


class Kept(PlannedTest):
    """Plans that outlive the program."""

    def test_a_later_run_follows_an_earlier_ones_plan_to_the_same_bits(self):
        limit = in_child(measure, "convolutions", "sgd", 3)["peak"] * 8 // 10
        runs: list[dict[str, Any]] = []
        with tempfile.TemporaryDirectory() as folder:
            # On a loaded machine a run may end before it follows, or find its iteration later than others did.
            while len(runs) < 4 and not (runs and runs[-1]["status"]["plans_found"]):
                runs.append(in_child(train_keeping_plans, "convolutions", limit, os.path.join(folder, "of this training")))
        first, last = runs[0]["status"], runs[-1]["status"]
        self.assertEqual((first["plans_made"] > 0, first["plans_found"]), (True, 0))
        self.assertEqual(last["plans_found"], 1, last)
        self.assertGreater(first["plans_kept"], 0)
        self.assertGreaterEqual(last["planned_iterations"], FOLLOWED)
        for run in (runs[0], runs[-1]):
            self.assertAsPlain("convolutions", "sgd", limit, run, "plans kept")

    def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(self):
        with tempfile.NamedTemporaryFile() as file, self.assertRaisesRegex(OSError, "cannot keep plans in .*/below: "):
            ebb.limit("1GiB", plans=os.path.join(file.name, "below"), device="cpu")
        self.assertFalse(ebb.status()["active"])

    def test_plans_are_not_kept_where_none_are_made(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "planner='none'"):
                ebb.limit("1GiB", planner="none", plans=os.path.join(folder, "below"), device="cpu")
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    main()
