"""The package as a user meets it: sizes, limits as calls and blocks, errors that say what to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import torch
from torch import nn

import ebb
from ebb import extension, sizes
from harness import MIB, EbbTest, in_child, main

TOOL = os.environ.get("EBB_TOOL", "")


def step(model: nn.Module, batch: int = 256) -> None:
    model(torch.randn(batch, 512)).square().mean().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.01 * parameter.grad
            parameter.grad = None


def perceptron() -> nn.Module:
    return nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.ReLU())])


class Sizes(unittest.TestCase):
    def test_what_people_write(self):
        for text, count in (("8GiB", 2**33), ("512MB", 512 * 10**6), ("1.5 KiB", 1536), ("64", 64), (64, 64), ("2gib", 2**31)):
            self.assertEqual(sizes.parse_amount(text).bytes, count)
        self.assertAlmostEqual(sizes.parse_amount("60%").share, 0.6)
        self.assertEqual(sizes.format_bytes(3 * 2**29), "1.50 GiB")

    def test_what_makes_no_sense(self):
        for text in ("", "GiB", "8 gigs", "-1GiB", "0", "0%", "8GiB of it", "nan", "1e3"):
            with self.assertRaisesRegex(ValueError, "size"):
                sizes.parse_amount(text)
        for value in (None, 1.5, True, [1]):
            with self.assertRaises(TypeError):
                sizes.parse_amount(value)
        with self.assertRaisesRegex(ValueError, "not a share"):
            sizes.parse_bytes("60%")


class LaunchQueues(unittest.TestCase):
    def queues(self, **given: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "CUDA_SCALE_LAUNCH_QUEUES"}
        show = "import os, ebb; print(os.environ['CUDA_SCALE_LAUNCH_QUEUES'])"
        return subprocess.run([sys.executable, "-W", "ignore", "-c", show], env=environment | given, check=True, capture_output=True, text=True).stdout.strip()

    def test_the_host_may_run_further_ahead_unless_somebody_has_said_how_far(self):
        self.assertEqual(self.queues(), "4x")
        self.assertEqual(self.queues(CUDA_SCALE_LAUNCH_QUEUES="2x"), "2x")


class Versions(unittest.TestCase):
    def test_versions_that_work_and_versions_that_do_not(self):
        for version in ("1.13.0a0", "1.13.1+cu117", "2.0.0", "2.11.0+cu130", "2.12.1"):
            extension.check_torch(version)
        with self.assertRaisesRegex(ImportError, "1.13 or later; this is 1.12.1"):
            extension.check_torch("1.12.1")
        with self.assertRaisesRegex(ImportError, "before 2.13; this is 2.13.0"):
            extension.check_torch("2.13.0")


class Limits(EbbTest):
    def test_a_call_lasts_until_off(self):
        def body():
            self.assertEqual(ebb.status(), {"active": False})
            ebb.limit("64MiB", device="cpu")
            status = ebb.status()
            self.assertTrue(status["active"])
            self.assertEqual(status["limit"], 64 * MIB)
            self.assertEqual(status["mode"], "planned")
            ebb.off()
            ebb.off()
            self.assertEqual(ebb.status(), {"active": False})

        in_child(body)

    def test_a_plan_is_made_by_default_and_not_if_none_is_wanted(self):
        def body():
            for arguments, mode in (
                ({}, "planned"),
                ({"planner": "keep"}, "planned"),
                ({"planner": "none"}, "reactive"),
                ({"planner": ""}, "reactive"),
                ({"stress": True}, "reactive"),
            ):
                with ebb.limit("64MiB", device="cpu", **arguments):
                    self.assertEqual(ebb.status()["mode"], mode, arguments)

        in_child(body)

    def test_a_block_ends_it_also_by_an_exception(self):
        def body():
            with self.assertRaises(KeyError), ebb.limit("64MiB", device="cpu"):
                raise KeyError
            self.assertFalse(ebb.status()["active"])

        in_child(body)

    def test_a_block_inside_a_limit_gives_it_back(self):
        def body():
            ebb.limit("64MiB", device="cpu")
            x = torch.ones(MIB)
            with ebb.limit("32MiB", device="cpu"):
                self.assertEqual(ebb.status()["limit"], 32 * MIB)
                self.assertEqual(x.sum().item(), MIB)
            self.assertEqual(ebb.status()["limit"], 64 * MIB)
            self.assertEqual(x.sum().item(), MIB)

        in_child(body)

    def test_tensors_made_before_the_limit_keep_their_bytes(self):
        def body():
            many = [torch.full((MIB // 4,), float(i)) for i in range(32)]
            with ebb.limit("8MiB", planner="none", recompute=False, device="cpu"):
                for _ in range(2):
                    for x in many:
                        x.add_(1)
                more = [x * 2 for x in many]
                self.assertWithin(8 * MIB, ebb.status())
                self.assertGreater(ebb.status()["evictions"], 0)
            for i, (x, y) in enumerate(zip(many, more)):
                self.assertEqual((x[5].item(), y[5].item()), (i + 2, 2 * (i + 2)))

        in_child(body)

    def test_a_share_on_the_cpu_is_of_the_peak_of_the_first_iterations(self):
        def body():
            model = perceptron()
            ebb.limit("60%", planner="none", recompute=False, device="cpu")
            for _ in range(3):
                self.assertEqual(ebb.status()["mode"], "observe")
                observed = ebb.status()["peak"]
                step(model)
            status = ebb.status()
            self.assertEqual(status["mode"], "reactive")
            self.assertGreater(status["limit"], 0.6 * observed - 1)
            for _ in range(3):
                step(model)
            self.assertGreater(ebb.status()["evictions"], 0)
            self.assertWithin(status["limit"], ebb.status())

        in_child(body)

    def test_without_recomputation_everything_goes_to_the_host(self):
        def body(recompute):
            model = perceptron()
            with ebb.limit(14 * MIB, planner="none", recompute=recompute, device="cpu"):
                for _ in range(2):
                    step(model, 1024)
                return ebb.status()

        swapped = in_child(body, False)
        self.assertEqual((swapped["drops"], swapped["replays"]), (0, 0))
        self.assertGreater(swapped["bytes_out"], 0)
        # Whether dropping pays is decided by times that were measured; that something leaves is not.
        self.assertGreater(in_child(body, True)["evictions"], 0)


class Errors(EbbTest):
    def test_bad_arguments_change_nothing(self):
        def body():
            for arguments, kind in (
                (("8 gigs",), ValueError),
                ((0,), ValueError),
                ((None,), TypeError),
            ):
                with self.assertRaises(kind):
                    ebb.limit(*arguments, device="cpu")
            with self.assertRaisesRegex(ValueError, "'cpu' or 'cuda'"):
                ebb.limit("1GiB", device="tpu")
            with self.assertRaisesRegex(ValueError, "planner"):
                ebb.limit("1GiB", device="cpu", planner="no-such")
            with self.assertRaisesRegex(TypeError, "takes a tensor"):
                ebb.pin([1, 2])
            self.assertFalse(ebb.status()["active"])
            torch.ones(10).numpy()

        in_child(body)

    def test_cuda_without_a_device(self):
        if torch.cuda.is_available():
            self.skipTest("there is one")
        with self.assertRaisesRegex(RuntimeError, "Ebb cannot limit CUDA memory: "):
            ebb.limit("1GiB", device="cuda")

    def test_out_of_memory_names_the_op_its_bytes_the_limit_and_one_that_would_work(self):
        def body():
            with ebb.limit(4 * MIB, device="cpu"):
                x = torch.ones(MIB // 2)
                with self.assertRaises(ebb.OutOfMemory) as caught:
                    torch.cat([x, x, x])
                self.assertEqual(x.sum().item(), MIB // 2)  # the program may go on
            return str(caught.exception)

        message = in_child(body)
        self.assertIn("aten::cat", message)
        self.assertRegex(message, r"(?i)limit")
        smallest = max(int(number) for number in re.findall(r"(\d{6,}) bytes", message))

        def again():
            with ebb.limit(smallest, device="cpu"):
                x = torch.ones(MIB // 2)
                return torch.cat([x, x, x]).sum().item()

        self.assertEqual(in_child(again), 3 * MIB // 2)

    def test_out_of_memory_is_a_runtime_error_and_not_torchs(self):
        self.assertTrue(issubclass(ebb.OutOfMemory, RuntimeError))
        if hasattr(torch.cuda, "OutOfMemoryError"):
            self.assertFalse(issubclass(ebb.OutOfMemory, torch.cuda.OutOfMemoryError))


class Outputs(EbbTest):
    def test_a_report_is_json(self):
        def body():
            with tempfile.TemporaryDirectory() as folder, ebb.limit("8MiB", device="cpu"):
                step(perceptron())
                ebb.report(os.path.join(folder, "report.json"))
                with open(os.path.join(folder, "report.json")) as file:
                    return json.load(file)

        told = in_child(body)
        self.assertEqual(told["asked"]["amount"]["bytes"], 8 * MIB)
        self.assertEqual(told["torch"], torch.__version__)
        self.assertGreater(told["status"]["ops"], 0)
        self.assertGreater(told["smallest_limit"], 0)

    def test_a_report_that_ends_in_html_is_a_page(self):
        def body(folder):
            model = perceptron()
            page = os.path.join(folder, "report.html")
            with self.assertRaisesRegex(RuntimeError, "Ebb is off"):
                ebb.report(page)
            with ebb.observe(device="cpu"):
                for _ in range(6):
                    step(model)
                ebb.report(page)
            with open(page, encoding="utf-8") as file:
                return file.read()

        with tempfile.TemporaryDirectory() as folder:
            try:
                page = in_child(body, folder)
            except Exception as error:
                if "not part of this build" in str(error):
                    self.skipTest("the page was not built: there is no npm")
                raise
        self.assertIn("<!doctype html>", page.lower())
        self.assertIn('"format":"ebb-report"', page)
        self.assertIn("aten::addmm", page)

    def test_a_recorded_trace_is_read_by_the_tool(self):
        def body(path):
            model = perceptron()
            with ebb.record(path, device="cpu"):
                for _ in range(6):
                    step(model)
            self.assertFalse(ebb.status()["active"])

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "step.ebb")
            in_child(body, path)
            self.assertGreater(os.path.getsize(path), 0)
            if not TOOL:
                self.skipTest("EBB_TOOL does not say where the tool is")
            told = subprocess.run([TOOL, "inspect", path, "--json"], capture_output=True, text=True)
            self.assertEqual(told.returncode, 0, told.stderr)
            # Per iteration: 4 × (addmm, relu), their backward, the loss and the update.
            self.assertGreater(json.loads(told.stdout)["ops"], 30)

    def test_recording_while_a_limit_is_kept_is_refused(self):
        def body():
            with ebb.limit("64MiB", device="cpu"):
                with self.assertRaisesRegex(RuntimeError, "already on"):
                    ebb.record("x.ebb")
            with self.assertRaisesRegex(OSError, "cannot write"):
                ebb.record("/no/such/folder/x.ebb", device="cpu")

        in_child(body)


if __name__ == "__main__":
    main()
