#!/usr/bin/env python3
"""The papers' headline results for real: [SP] table I and fig. 10, [HOME] table 2, [SUB]'s 1000 layers, ResNet-50 within 16 GiB.

Every measurement is a child process with a time-out and one line of JSON, appended as it is made; `--seconds` bounds all of
them together, so that a run that is cut off keeps what it has. The tables, with the papers' figures beside ours, are made from
that file: `--tables-only` prints them again. `--device cpu --small` tries all of it with tiny inputs.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import paper_models
import paper_runs
import torch
from journal import Budget, Journal, Measurements
from paper_models import Network
from paper_runs import Case
from paper_text import TABLES, nothing_moves

GIB, MIB = 2**30, 2**20
# Seconds for all of a part and for one measurement, unless told.
PARTS = {"smartpool": (240.0, 30.0), "home": (330.0, 60.0), "deep": (360.0, 230.0), "batch": (120.0, 60.0)}
TIGHT = (1.004, 1.02, 1.06)  # of what the arena held at most, until nothing moves
SWAPPED = (67, 40)  # percent of the caching allocator's footprint
BETWEEN = (0.3, 0.6, 0.9)  # of the way from plain's largest batch to the one whose largest op alone fills the limit
BETTER_S = 5.0  # seconds that a better plan is waited for, in `home`
TIMES_PLAIN = (2.5, 3.0, 3.5)
DEEP_STEPS = 4  # times as many are timed: they are the host's, and differ


@dataclass(frozen=True)
class Sizes:
    """What is measured; the small ones are to try the script."""

    table_batch: int = 100
    figure: tuple[str, ...] = ("VGG16", "ResNet50")
    figure_batches: tuple[int, ...] = (100, 200, 400)
    home_limit: int = 11 * GIB
    deep: Network = paper_models.RESNET1001
    deep_limit: int = 7 * GIB
    batch_limit: int = 16 * GIB
    resnet50: Network = paper_models.RESNET50


SMALL = Sizes(
    table_batch=4,
    figure=("VGG11",),
    figure_batches=(4, 8),
    home_limit=0,  # what a batch of SMALL_BATCH takes
    deep=paper_models.SMALL_RESNET1001,
    deep_limit=0,  # two thirds of the peak
    batch_limit=0,
    resnet50=paper_models.SMALL_RESNET50,
)
SMALL_BATCH = 12


class Tables:
    """The four parts. Each row of the journal has `part`, `network`, `batch` where it is given, and `what`."""

    def __init__(self, options: argparse.Namespace, measurements: Measurements) -> None:
        self.options = options
        self.sizes = SMALL if options.small else Sizes()
        self.measurements = measurements

    def case(self, network: Network, batch: int, exact: bool = False) -> Case:
        return Case(network, batch, self.options.device, self.options.steps, exact)

    def measure(self, part: str, network: Network, what: str, function: Any, *args: Any, batch: int = 0, **kwargs: Any) -> dict[str, Any] | None:
        key = {"part": part, "network": network.name, **({"batch": batch} if batch else {}), "what": what}
        return self.measurements.make(key, function, *args, **kwargs)

    def patience(self, usual: float) -> float:
        return usual if self.options.patience is None else float(self.options.patience)

    def wanted(self, networks: list[Network]) -> list[Network]:
        names = self.options.networks
        if names:
            return [network for network in networks if network.name in names]
        return [network for network in networks if "-299" not in network.name]

    def smartpool(self) -> None:
        networks = self.wanted(paper_models.SMARTPOOL)
        if self.options.small and not self.options.networks:
            networks = [network for network in networks if network.name == "VGG11"]
        for network in networks:
            self._pools(network, self.sizes.table_batch)
        for network in networks:
            for batch in self.sizes.figure_batches if network.name in self.sizes.figure else ():
                if batch != self.sizes.table_batch:
                    self._pools(network, batch)
                self._swapped(network, batch)

    def _pools(self, network: Network, batch: int) -> None:
        case = self.case(network, batch)
        caching = self.measure("smartpool", network, "caching", paper_runs.plain, case, batch=batch)
        if caching is None:
            return
        roomy = int(1.5 * caching["peak"]) + 512 * MIB
        pool = self.measure("smartpool", network, "ebb, roomy", paper_runs.planned, case, roomy, batch=batch, patience=0)
        if pool is not None:
            for times in TIGHT:
                tight = int(times * pool["arena_high_water"])
                row = self.measure("smartpool", network, "ebb, tight", paper_runs.planned, case, tight, batch=batch, patience=0)
                if row is None or nothing_moves(row):
                    break
        self.measure("smartpool", network, "uncached", paper_runs.uncached, case, batch=batch)

    def _swapped(self, network: Network, batch: int) -> None:
        caching = self.measurements.journal.find(part="smartpool", network=network.name, batch=batch, what="caching")
        for percent in SWAPPED if caching else ():
            limit = caching["reserved"] * percent // 100
            self.measure("smartpool", network, f"ebb, {percent} %", paper_runs.planned, self.case(network, batch), limit, batch=batch, patience=1)

    def home(self) -> None:
        networks = self.wanted(paper_models.HOME)
        if self.options.small:
            chosen = [network for network in networks if network.name in ("Plain20", "SqueezeNet")] if not self.options.networks else networks
            networks = [Network(network.name, network.module, 4, network.side, network.classes) for network in chosen]
        for network in networks:
            limit = self.sizes.home_limit or self._small_limit("home", network)
            plain = self.measure("home", network, "plain", paper_runs.largest_plain, network, limit, self.options.device, self.options.steps)
            if plain is not None:
                self._largest_planned(network, limit, plain["batch"])

    def _small_limit(self, part: str, network: Network, share: float = 1.0) -> int:
        seen = self.measure(part, network, "peak", paper_runs.least, self.case(network, SMALL_BATCH))
        return int(share * seen["peak"]) if seen else 0

    def _largest_planned(self, network: Network, limit: int, fits: int) -> None:
        """HOME's largest batch first: where it has a plan, ebb has one too, so that its search begins there."""
        seen = self.measure("home", network, "largest op", paper_runs.least, self.case(network, fits))
        if seen is None:
            return
        top = fits * limit // seen["smallest_limit"]
        batches = sorted({fits + int(share * max(0, top - fits)) for share in BETWEEN})
        least = 0
        for planner in ("home", "ebb"):
            least = max(least, self._bisect(network, limit, planner, batches, least))

    def _bisect(self, network: Network, limit: int, planner: str, batches: list[int], begin: int) -> int:
        """The index of the largest batch that trains by a plan, and 0 if none does."""
        low, high = begin - 1, len(batches)
        while high - low > 1:
            middle = (low + high) // 2
            case = self.case(network, batches[middle])
            row = self.measure("home", network, planner, paper_runs.planned, case, limit, planner, batch=batches[middle], patience=BETTER_S)
            low, high = (middle, high) if row is not None and row["follows"] else (low, middle)
        return max(0, low)

    def deep(self) -> None:
        network = self.sizes.deep
        case = replace(self.case(network, network.probe, exact=True), steps=DEEP_STEPS * self.options.steps)
        limit = self.sizes.deep_limit
        if not limit:
            seen = self.measure("deep", network, "peak", paper_runs.least, case)
            limit = 2 * seen["peak"] // 3 if seen else 0
        self.measure("deep", network, "plain before", paper_runs.plain, case)
        row = self.measure("deep", network, "ebb", paper_runs.planned, case, limit, patience=self.patience(100), bits=True, capture=self.options.capture, plans=self.options.plans)
        self.measure("deep", network, "plain", paper_runs.plain, case, steps_for_bits=row["steps"] if row else 0)
        if not self.options.ours_alone:
            self.measure("deep", network, "sublinear", paper_runs.planned, case, limit, "sublinear", patience=0)

    def batch(self) -> None:
        network = self.sizes.resnet50
        limit = self.sizes.batch_limit or self._small_limit("batch", network)
        plain = self.measure("batch", network, "plain", paper_runs.largest_plain, network, limit, self.options.device, self.options.steps)
        for times in TIMES_PLAIN if plain else ():
            batch = math.ceil(times * plain["batch"])
            row = self.measure("batch", network, "ebb", paper_runs.planned, self.case(network, batch), limit, batch=batch, patience=self.patience(20))
            if row is None or not row["follows"]:
                break


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--networks", nargs="+", help="of [SP] and [HOME], instead of all; InceptionV3-299 only if named")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true", help="tiny inputs and few networks, to try the script")
    parser.add_argument("--steps", type=int, default=8, help="that are timed")
    parser.add_argument("--patience", type=float, help="seconds that a better plan is waited for, in `deep` (100 unless told) and `batch` (20)")
    parser.add_argument("--plans", help="folder of plans, in `deep`: a second call is without a search")
    parser.add_argument("--ours-alone", action="store_true", help="without the paper's own planner, in `deep`")
    parser.add_argument("--no-capture", dest="capture", action="store_const", const=False, help="capture no replays, in `deep`")
    parser.add_argument("--timeout", type=float, help="seconds for one measurement")
    shares = ", ".join(f"{whole:.0f} for {name}" for name, (whole, _) in PARTS.items())
    parser.add_argument("--seconds", type=float, help=f"for all parts together, in proportion; unless told, {shares}")
    parser.add_argument("--json", default="paper-tables.jsonl", help="file that rows are appended to")
    parser.add_argument("--tables-only", action="store_true", help="of what the file has already")
    return parser.parse_args()


def main() -> int:
    options = parse()
    journal = Journal(options.json)
    measurements = Measurements(journal)
    if options.tables_only:
        journal.load()
    else:
        import torchvision  # noqa: F401

        print(f"PyTorch {torch.__version__}, {options.device}", flush=True)
        tables = Tables(options, measurements)
        whole = Budget(options.seconds or float("inf"))
        for i, part in enumerate(options.parts):
            seconds, timeout = PARTS[part]
            share = seconds / sum(PARTS[later][0] for later in options.parts[i:])
            measurements.budget = Budget(share * whole.left() if options.seconds else seconds)
            measurements.timeout = options.timeout or timeout
            getattr(tables, part)()
    if options.small:
        print("\nSmall inputs: the tables below only try the script.")
    for part in options.parts:
        print("\n" + TABLES[part](journal))
    print(f"{len(journal.rows)} rows, {measurements.failed} failed, {measurements.left_out} left out for time")
    return 1 if measurements.failed else 0


if __name__ == "__main__":
    sys.exit(main())
