"""What training scripts do works within a limit, to the same bits: test_features.py [FEATURE...]."""

from __future__ import annotations

import sys
import unittest
from dataclasses import replace
from typing import Any

import torch

import ebb
from features import FEATURES
from harness import SOAK, EbbTest, digests, in_child
from training import Setting, at_smallest


def run(name: str, setting: Setting) -> dict[str, Any]:
    if setting.limit:
        ebb.limit(setting.limit, planner="none", recompute=setting.recompute, stress=setting.stress, device="cpu")
    torch.manual_seed(3)
    computed = FEATURES[name]()
    status = ebb.status()
    return {"bits": digests(computed), "status": status}


def measure(name: str) -> dict[str, int]:
    with ebb.observe(device="cpu"):
        torch.manual_seed(3)
        FEATURES[name]()
        return {"peak": ebb.status()["peak"], "smallest": ebb.smallest_limit()}


class Features(EbbTest):
    def check(self, name: str) -> None:
        plain = in_child(run, name, Setting())
        size = in_child(measure, name)
        share = max(size["smallest"] * 11 // 10, size["peak"] * 6 // 10)
        settings = [
            Setting(2 * size["peak"], recompute=False, stress=True),
            Setting(size["smallest"], recompute=True),
            Setting(share, recompute=False),
        ]
        if SOAK:
            settings += [
                Setting(2 * size["peak"], recompute=True, stress=True),
                Setting(size["smallest"], recompute=False),
                Setting(share, recompute=True),
            ]
        for setting in settings:
            with self.subTest(setting=str(setting)):
                limit, limited = at_smallest(
                    lambda limit: in_child(run, name, replace(setting, limit=limit)), setting.limit
                )
                self.assertSameBits(plain["bits"], limited["bits"], f"{name} {setting}")
                self.assertWithin(limit, limited["status"])
                self.assertGreater(limited["status"]["evictions"], 0, "nothing was ever moved")


def add_test(name: str) -> None:
    setattr(Features, f"test_{name}", lambda self: self.check(name))


if __name__ == "__main__":
    for chosen in [argument for argument in sys.argv[1:] if argument in FEATURES] or FEATURES:
        add_test(chosen)
    unittest.main(verbosity=2, argv=[sys.argv[0]] + [a for a in sys.argv[1:] if a not in FEATURES])
