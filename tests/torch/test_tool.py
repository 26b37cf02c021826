"""`ebb run` and `ebb record` over scripts that know nothing of Ebb."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import harness
from harness import MIB

TOOL = os.environ.get("EBB_TOOL", "")

TRAIN = """
import sys
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
model = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.ReLU())])
optimizer = torch.optim.Adam(model.parameters())
for _ in range(6):
    optimizer.zero_grad()
    loss = model(torch.randn(512, 512)).square().mean()
    loss.backward()
    optimizer.step()
print(loss.item().hex())
print([p.detach().double().sum().item().hex() for p in model.parameters()])
"""


@unittest.skipUnless(TOOL, "EBB_TOOL does not say where the tool is")
class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name: str, text: str | None = None) -> str:
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(textwrap.dedent(text))
        return path

    def ebb(self, *words: str, **environment: str) -> subprocess.CompletedProcess:
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        return subprocess.run(
            [TOOL, *words], capture_output=True, text=True, cwd=self.folder.name, env={**clean, **environment}, timeout=300
        )

    def python(self, path: str, *words: str) -> tuple[str, ...]:
        return ("--", sys.executable, path, *words)

    def test_an_unchanged_script_keeps_the_limit_and_prints_the_same(self):
        script = self.path("train.py", TRAIN)
        plain = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for options in ((), ("--no-recompute",)):
            report = self.path("report.json")
            limited = self.ebb("run", "--limit", "10MiB", "--device", "cpu", *options, "--report", report, *self.python(script))
            self.assertEqual((limited.returncode, limited.stdout), (0, plain.stdout), limited.stderr)
            with open(report) as file:
                status = json.load(file)["status"]
            self.assertGreater(status["evictions"], 0)
            self.assertLessEqual(status["arena_high_water"], 10 * MIB)

    def test_a_share_needs_no_more_and_is_planned_unless_no_planner_is_wanted(self):
        for options, mode in (((), "planned"), (("--planner", "none"), "reactive")):
            words = ("run", "--limit", "70%", "--device", "cpu", "--report", "r.json", *options)
            limited = self.ebb(*words, *self.python(self.path("t.py", TRAIN)))
            self.assertEqual(limited.returncode, 0, limited.stderr)
            with open(self.path("r.json")) as file:
                self.assertEqual(json.load(file)["status"]["mode"], mode)

    def test_a_recorded_program_is_read_by_inspect(self):
        recorded = self.ebb("record", "-o", "t.ebb", "--device", "cpu", *self.python(self.path("train.py", TRAIN)))
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        told = self.ebb("inspect", "t.ebb", "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertGreater(json.loads(told.stdout)["ops"], 30)
        planned = self.ebb("plan", "t.ebb", "--limit", "100%", "--machine", "h200", "--planner", "keep")
        self.assertEqual(planned.returncode, 0, planned.stderr)

    def test_a_trace_is_written_also_if_the_program_fails(self):
        script = self.path("fails.py", TRAIN + "\nraise SystemExit(5)\n")
        self.assertEqual(self.ebb("record", "-o", "f.ebb", "--device", "cpu", *self.python(script)).returncode, 5)
        self.assertTrue(os.path.exists(self.path("f.ebb")))

    def test_arguments_and_exit_codes_pass(self):
        script = self.path("exit.py", "import sys, torch\nprint(sys.argv[1:])\nsys.exit(41)\n")
        done = self.ebb("run", "--limit", "1GiB", "--device", "cpu", *self.python(script, "--limit", "3", "--", "x"))
        self.assertEqual((done.returncode, done.stdout), (41, "['--limit', '3', '--', 'x']\n"), done.stderr)

    def test_a_program_in_a_shell_is_reached_too(self):
        script = self.path("on.py", "import torch, ebb\nprint(ebb.status()['limit'])\n")
        done = self.ebb("run", "--limit", "1GiB", "--device", "cpu", "--", "sh", "-c", f"'{sys.executable}' '{script}'; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, f"{2**30}\n"), done.stderr)

    def test_another_sitecustomize_still_runs(self):
        os.mkdir(self.path("mine"))
        self.path("mine/sitecustomize.py", "import os\nos.environ['CUSTOMIZED'] = 'yes'\n")
        script = self.path("look.py", "import os, torch, ebb\nprint(os.environ['CUSTOMIZED'], ebb.status()['active'])\n")
        done = self.ebb("run", "--limit", "1GiB", "--device", "cpu", *self.python(script), PYTHONPATH=self.path("mine"))
        self.assertEqual(done.stdout, "yes True\n", done.stderr)

    def test_processes_that_multiprocessing_spawns_are_left_alone(self):
        script = self.path(
            "spawn.py",
            """
            import multiprocessing

            def look(_):
                import torch, ebb
                return ebb.status()["active"]

            if __name__ == "__main__":
                import torch
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.map(look, [0]))
            """,
        )
        done = self.ebb("run", "--limit", "1GiB", "--device", "cpu", *self.python(script))
        self.assertEqual(done.stdout, "[False]\n", done.stderr)

    def test_a_program_without_torch_is_told_so(self):
        done = self.ebb("run", "--limit", "1GiB", *self.python(self.path("none.py", "print(1)\n")))
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertIn("did not import torch", done.stderr)

    def test_torch_that_is_not_there_is_pythons_own_error(self):
        os.mkdir(self.path("hidden"))
        hide = "import sys\nsys.modules['torch'] = None\n"
        self.path("hidden/sitecustomize.py", hide)
        done = self.ebb("run", "--limit", "1GiB", *self.python(self.path("t.py", "import torch\n")), PYTHONPATH=self.path("hidden"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("ModuleNotFoundError", done.stderr)

    def test_what_cannot_be_done_is_said_in_a_line(self):
        script = self.path("t.py", "import torch\n")
        for words, code, sentence in (
            (("run", "--limit", "8gigs", *self.python(script)), 2, "8gigs"),
            (("run", "--limit", "8GiB"), 2, "PROGRAM is required"),
            (("run", *self.python(script)), 2, "--limit is required"),
            (("run", "--limit", "1GiB", "--planner", "no-such", *self.python(script)), 2, "there is no planner 'no-such'"),
            (("run", "--limit", "1GiB", "--plans", f"{script}/below", "--device", "cpu", *self.python(script)), 3, "cannot keep plans in"),
            (("run", "--limit", "1GiB", "--", "no-such-program"), 3, "cannot run no-such-program"),
            (("record", "-o", "no/such/x.ebb", *self.python(script)), 3, "cannot write no/such/x.ebb"),
        ):
            done = self.ebb(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_limit_that_cannot_start_ends_the_program(self):
        script = self.path("t.py", "import torch\nprint('went on')\n")
        done = self.ebb("run", "--limit", "1GiB", "--device", "cuda", *self.python(script))
        if done.returncode == 0:
            self.skipTest("there is a CUDA device")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("ebb: Ebb cannot limit CUDA memory", done.stderr)


if __name__ == "__main__":
    harness.main()
