"""Real models train to the same bits within a limit: test_models.py [MODEL...]."""

from __future__ import annotations

import sys
import unittest
from dataclasses import replace

from harness import SOAK, EbbTest, in_child
from training import Setting, at_smallest, measure, train
from workloads import WORKLOADS

STEPS = 10 if SOAK else 3
CHEAP = ("unet", "stochastic_depth", "sparse_embedding", "transformer")


def grid(peak: int, smallest: int) -> list[tuple[str, Setting]]:
    """(optimizer, setting); by default each value of each axis, and with EBB_SOAK=1 all combinations."""
    limits = (max(peak * 6 // 10, smallest), smallest)
    everything = [
        (optimizer, Setting(limit, recompute))
        for optimizer in ("sgd", "adamw")
        for limit in limits
        for recompute in (False, True)
    ]
    stressed = [(optimizer, Setting(2 * peak, r, stress=True)) for optimizer in ("sgd", "adamw") for r in (False, True)]
    if SOAK:
        return everything + stressed
    return [everything[0], everything[3], everything[5], everything[6], stressed[0], stressed[3]]


class Models(EbbTest):
    def check(self, name: str) -> None:
        steps = 10 if name in CHEAP else STEPS
        plain = {kind: in_child(train, name, kind, steps) for kind in ("sgd", "adamw")}
        size = {kind: in_child(measure, name, kind, 3) for kind in ("sgd", "adamw")}
        for kind, _ in grid(1, 1):
            self.assertLess(size[kind]["smallest"], size[kind]["peak"])
        for i in range(len(grid(1, 1))):
            kind = grid(1, 1)[i][0]
            setting = grid(**size[kind])[i][1]
            with self.subTest(optimizer=kind, setting=str(setting)):
                limit, limited = at_smallest(
                    lambda limit: in_child(train, name, kind, steps, replace(setting, limit=limit)), setting.limit
                )
                self.assertSameBits(plain[kind]["bits"], limited["bits"], f"{name} {kind} {setting}")
                self.assertWithin(limit, limited["status"])
                self.assertGreater(limited["status"]["evictions"], 0, "nothing was ever moved")


def add_test(name: str) -> None:
    setattr(Models, f"test_{name}", lambda self: self.check(name))


if __name__ == "__main__":
    chosen = [argument for argument in sys.argv[1:] if argument in WORKLOADS]
    for workload in chosen or WORKLOADS:
        add_test(workload)
    unittest.main(verbosity=2, argv=[sys.argv[0]] + [a for a in sys.argv[1:] if a not in WORKLOADS])
