"""Measurements in children of this process, within a budget of time, each written down as it is made.

A run that is cut off keeps what it has: one JSON object per line, appended and flushed at once.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import traceback
from typing import Any, Callable

from harness import ChildFailed, in_child

LEAST_SECONDS = 8.0  # a CUDA context and a few steps; with less nothing is begun


class Budget:
    """Seconds that all measurements together may take."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return self._end - time.monotonic()


class Journal:
    """A file of JSON lines; without a path, only memory. Throws OSError at once if the file cannot be written."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self.rows: list[dict[str, Any]] = []
        if path:
            open(path, "a", encoding="utf-8").close()

    def load(self) -> None:
        """What earlier runs left in the file."""
        if self._path:
            with open(self._path, encoding="utf-8") as file:
                self.rows += [json.loads(line) for line in file if line.strip()]

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        if self._path:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def find(self, **key: Any) -> dict[str, Any] | None:
        """The newest row with these values that did not fail."""
        for row in reversed(self.rows):
            if "failed" not in row and all(row.get(name) == value for name, value in key.items()):
                return row
        return None


def at_once(count: int, work: Callable[[int, Journal], int], journal: Journal) -> int:
    """`work(k, rows)` for k below count, in a forked process each if there are several. Returns the sum of what they answer
    (each at most 100; 1 for one that throws), with all their rows in the journal."""
    if count == 1:
        return work(0, journal)
    children = []
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            path = os.path.join(folder, str(k))
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = min(100, work(k, Journal(path)))
                except Exception:
                    traceback.print_exc()
                sys.stdout.flush()
                os._exit(code)
            children.append((child, path))
        for child, path in children:
            total += abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            with open(path, encoding="utf-8") as file:
                for line in file:
                    journal.add(json.loads(line))
    return total


class OutOfTime(Exception):
    """Nothing was begun: too little of the budget is left."""


class Measurements:
    """Runs functions in children; `failed` and `left_out` are counted."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.budget = Budget(float("inf"))
        self.timeout = float("inf")  # seconds for one of them
        self.failed = 0
        self.left_out = 0

    def run(self, function: Callable[..., dict[str, Any]], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The function's answer, not written down. Throws ChildFailed and OutOfTime."""
        left = self.budget.left()
        if left < LEAST_SECONDS:
            self.left_out += 1
            raise OutOfTime
        try:
            return in_child(function, *args, seconds=min(self.timeout, left), **kwargs)
        except ChildFailed:
            self.failed += 1
            raise

    def make(self, key: dict[str, Any], function: Callable[..., dict[str, Any]], *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """The row with the function's answer. None if it failed, which is written down too, or if time is up."""
        name = " ".join(str(value) for value in key.values())
        start = time.monotonic()
        try:
            answer = self.run(function, *args, **kwargs)
        except OutOfTime:
            print(f"left out  {name}", flush=True)
            return None
        except ChildFailed as error:
            answer = {"failed": str(error)[-2000:]}
        row = {**key, **answer, "took_s": round(time.monotonic() - start, 2)}
        self.journal.add(row)
        print(f"{row['took_s']:6.1f} s  {name}: {_in_short(answer)}", flush=True)
        return None if "failed" in answer else row


def _in_short(answer: dict[str, Any]) -> str:
    if "failed" in answer:
        return "FAILED " + answer["failed"].strip().splitlines()[-1][:400]
    plain = (bool, int, float, str)
    return ", ".join(f"{name} {_short_value(name, value)}" for name, value in answer.items() if isinstance(value, plain))


def _short_value(name: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool) and value > 2**22 and name != "batch":
        return f"{value / 2**20:.1f} MiB"
    return str(value)
