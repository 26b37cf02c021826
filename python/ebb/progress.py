"""Says on a terminal how far planning has come: the iteration that was found, the plan, or why there is none."""

from __future__ import annotations

import os
import sys
import threading

from ebb.extension import native

SECONDS_BETWEEN_LOOKS = 0.2
SPARK_COLUMNS = 60


class Progress:
    """Looks from a thread of its own until there is a plan or a refusal."""

    @staticmethod
    def is_wanted() -> bool:
        """EBB_PROGRESS=1 and =0 decide; without them, whether errors go to a terminal."""
        asked = os.environ.get("EBB_PROGRESS", "")
        return asked == "1" if asked else sys.stderr is not None and sys.stderr.isatty()

    def __init__(self, planner: str) -> None:
        self._planner = planner
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ebb-progress", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """No line is written after it."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        found = False
        while not self._ended.wait(SECONDS_BETWEEN_LOOKS):
            status = native.status()
            if not status:
                return
            if status["iteration_known"] and not found:
                found = True
                _say(f"iteration of {status['ops_per_iteration']} ops found; planning with {self._planner} …")
            if status["planner"]:
                ratio = status["predicted_step_ns"] / max(status["plain_step_ns"], 1)
                made = f"planned with {status['planner']} in {status['planning_seconds']:.1f} s"
                kept = f"an earlier run's plan by {status['planner']}"
                _say(f"{kept if status['plans_found'] else made}; predicted {ratio:.2f} x plain")
                before, after = native.sparklines(SPARK_COLUMNS)
                _say(f"memory without a limit  {before}")
                _say(f"memory by the plan      {after}")
                return
            if status["refusal"]:
                _say(f"no plan by {self._planner}: {status['refusal']}; moving on demand")
                return


def _say(line: str) -> None:
    print(f"ebb: {line}", file=sys.stderr, flush=True)
