"""What ranks of one training tell each other, over the process group's store and never by a collective.

A thread of its own carries errands of the native side: equal ranks get one plan, made by the first of them that asks, and
follow it from the same iteration on. Nothing here waits for another rank without a deadline, the training thread waits
for nothing at all, and a store that has gone only means that everybody is alone again.

The store has no question that does not wait for its answer, except counting: add(key, 0). So every text that somebody
looks for has a counter beside it.
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any, Callable, Iterator

import torch
import torch.distributed as dist

from ebb.extension import native
from ebb.patching import Patches

_TICK = 0.05  # seconds between looks at the store while something is expected
_IDLE = 1.0  # and while nothing is
_OTHERS_ASK = 5.0  # for the times of the others, before the plan is made without them
_PLAN_IS_MADE = 170.0
_ALL_READY = 30.0
_LEAD = 1.0  # seconds ahead of which a common start is set, at least
_STATUS = 5.0  # for the others' answers


def rank() -> int:
    """Of this process in its training; 0 if there is only one."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank()
    return int(os.environ.get("RANK", "0"))


def ranks_on_host() -> int:
    """As torchrun says; 1 if nobody does."""
    return max(1, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def slowest_of(statuses: list[dict[str, Any] | None]) -> int | None:
    """The rank whose last measured step took longest; None if nobody has measured one."""
    steps = {r: status.get("measured_step_ns", 0) for r, status in enumerate(statuses) if status}
    return max(steps, key=lambda r: steps[r]) if any(steps.values()) else None


class Messenger:
    """Carries errands and answers other ranks' questions, from a thread of its own."""

    def __init__(self, store: Any, generation: int) -> None:
        self._store = dist.PrefixStore(f"ebb/{generation}", store)
        self._rank, self._world = dist.get_rank(), dist.get_world_size()
        self._tasks: list[Iterator[None]] = []
        self._leads: set[str] = set()
        self._announced = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ebb-ranks", daemon=True)
        native.connect_ranks(True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        native.connect_ranks(False)
        self._thread.join(_IDLE * 5)

    # What everybody can do.

    def gather(self, mine: Any, what: str, seconds: float) -> list[Any]:
        """What every rank has put there under that name; None for those that did not within the time."""
        self.put(f"{what}/{self._rank}", json.dumps(mine))
        deadline = time.monotonic() + seconds
        told: list[Any] = [None] * self._world
        missing = set(range(self._world))
        while missing and time.monotonic() < deadline:
            for other in sorted(missing):
                if self.has(f"{what}/{other}"):
                    told[other] = json.loads(self._store.get(f"{what}/{other}"))
                    missing.discard(other)
            if missing:
                time.sleep(_TICK)
        return told

    def ask_for_status(self, mine: Any) -> list[Any]:
        question = self._store.add("questions", 1)
        return self.gather(mine, f"status/{question}", _STATUS)

    def put(self, key: str, text: str) -> None:
        self._store.set(key, text)
        self._store.add(f"{key}/there", 1)

    def has(self, key: str) -> bool:
        return self._store.add(f"{key}/there", 0) > 0

    # The thread.

    def _run(self) -> None:
        answered = 0
        try:
            while not self._ended.is_set():
                errand = native.next_errand(_TICK if self._tasks else _IDLE)
                if errand is not None:
                    self._tasks.append(self._carry(*errand))
                self._tasks = [task for task in self._tasks if next(task, self) is not self]
                asked = self._store.add("questions", 0)
                if asked > answered:
                    answered = asked
                    self.put(f"status/{asked}/{self._rank}", json.dumps({"active": native.active(), **native.status()}))
        except (RuntimeError, ValueError, OSError):
            pass  # the store has gone, and the training with it
        finally:
            native.connect_ranks(False)

    def _carry(self, kind: str, key: str, text: str, per_iteration: int) -> Iterator[None]:
        if kind == "ask":
            yield from self._ask(key, text)
        elif kind == "give":
            self.put(f"{key}/plan", text)
        else:
            yield from self._agree_on_start(key, per_iteration)

    def _ask(self, key: str, measured: str) -> Iterator[None]:
        if not self._announced:
            self._announced = True
            self._store.add("announced", 1)
        place = self._store.add(f"{key}/askers", 1)
        self.put(f"{key}/measured/{place}", measured)
        if place == 1:
            self._leads.add(key)
            yield from self._wait(_OTHERS_ASK, lambda: self._store.add("announced", 0) >= self._world)
            others = range(2, self._store.add(f"{key}/askers", 0) + 1)
            yield from self._wait(_OTHERS_ASK, lambda: all(self.has(f"{key}/measured/{n}") for n in others))
            told = [self._store.get(f"{key}/measured/{n}").decode() for n in others if self.has(f"{key}/measured/{n}")]
            native.answer_errand(key, True, told, "")
            return
        yield from self._wait(_PLAN_IS_MADE, lambda: self.has(f"{key}/plan"))
        if self.has(f"{key}/plan"):
            native.answer_errand(key, False, [], self._store.get(f"{key}/plan").decode())
        else:
            native.answer_errand(key, True, [], "")

    def _agree_on_start(self, key: str, per_iteration: int) -> Iterator[None]:
        """At the same count of collectives, which are the clock that ranks have in common."""
        self._store.add(f"{key}/ready", 1)
        begun, at_first = time.monotonic(), native.collectives()
        if key in self._leads:
            askers = lambda: self._store.add(f"{key}/askers", 0)  # noqa: E731
            yield from self._wait(_ALL_READY, lambda: self._store.add(f"{key}/ready", 0) >= askers())
            now = native.collectives()
            rate = (now - at_first) / max(time.monotonic() - begun, _TICK)
            start = now + 4 * per_iteration + int(rate * _LEAD) if per_iteration and askers() > 1 else now
            self.put(f"{key}/start", str(start))
        else:
            yield from self._wait(2 * _ALL_READY, lambda: self.has(f"{key}/start"))
        if self.has(f"{key}/start"):
            native.start_at(key, int(self._store.get(f"{key}/start")))

    def _wait(self, seconds: float, done: Callable[[], bool]) -> Iterator[None]:
        deadline = time.monotonic() + seconds
        while not done() and time.monotonic() < deadline and not self._ended.is_set():
            yield


class Ranks:
    """A messenger while there is a process group of several ranks and Ebb is on."""

    def __init__(self) -> None:
        self.messenger: Messenger | None = None
        self.before_end: list[Callable[[], None]] = []  # called while the group is still there
        self._generation = 0
        self._wanted = False

    def install(self, patches: Patches) -> None:
        if not dist.is_available():
            return
        c10d = torch.distributed.distributed_c10d
        patches.replace(c10d, "_update_default_pg", self._after_group_begins)
        for owner in (torch.distributed, c10d):
            patches.replace(owner, "destroy_process_group", self._before_group_ends)

    def start(self) -> None:
        """Every rank calls it as often as the others do."""
        self._wanted = True
        self._generation += 1
        self._connect()

    def stop(self) -> None:
        self._wanted = False
        self._disconnect()

    def _connect(self) -> None:
        self._disconnect()
        if not (self._wanted and dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
            return
        store = torch.distributed.distributed_c10d._get_default_store()
        if store is not None:
            self.messenger = Messenger(store, self._generation)

    def _disconnect(self) -> None:
        messenger, self.messenger = self.messenger, None
        if messenger is not None:
            messenger.end()

    def _after_group_begins(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def update(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if args and args[0] is not None and self.messenger is None:
                self._connect()
            return result

        return update

    def _before_group_ends(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def destroy(*args: Any, **kwargs: Any) -> Any:
            if not args or args[0] is None:
                while self.before_end:
                    self.before_end.pop()()
                self._disconnect()
            return original(*args, **kwargs)

        return destroy
