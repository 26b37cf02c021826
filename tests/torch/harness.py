"""Runs training in forked children, so that every run starts from the same state, and compares what they computed.

A test program calls `main()`; without PyTorch or without the extension module it ends with 77, which ctest shows as
skipped. EBB_SOAK=1 asks for the whole grid.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import select
import signal
import sys
import time
import traceback
import unittest
from typing import Any, Callable

SKIPPED = 77
SOAK = os.environ.get("EBB_SOAK") == "1"

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)
try:
    import ebb
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

torch.set_num_threads(1)
MIB = 2**20


class ChildFailed(AssertionError):
    """What happened in the child, in its own words."""


def in_child(function: Callable[..., Any], *args: Any, seconds: float = 600, **kwargs: Any) -> Any:
    """The function's result, computed in a fork of this process."""
    sys.stdout.flush()
    sys.stderr.flush()
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        _run_child(writable, lambda: function(*args, **kwargs))
    os.close(writable)
    try:
        answer = _read_until(readable, time.monotonic() + seconds)
    finally:
        os.close(readable)
        if answer_missing := _still_runs(child):
            os.kill(child, signal.SIGKILL)
    _, state = os.waitpid(child, 0) if answer_missing else _ended.pop(child)
    if not answer:
        how = f"signal {os.WTERMSIG(state)}" if os.WIFSIGNALED(state) else f"exit code {os.WEXITSTATUS(state)}"
        raise ChildFailed(f"the child ended by {how} without an answer (it had {seconds:.0f} s)")
    kind, value = pickle.loads(answer)
    if kind == "skipped":
        raise unittest.SkipTest(value)
    if kind == "failed":
        raise ChildFailed(value)
    return value


_ended: dict[int, tuple[int, int]] = {}


def _still_runs(child: int) -> bool:
    for _ in range(100):
        ended = os.waitpid(child, os.WNOHANG)
        if ended[0] == child:
            _ended[child] = ended
            return False
        time.sleep(0.02)
    return True


def _run_child(writable: int, function: Callable[[], Any]) -> None:
    try:
        answer = ("done", function())
    except unittest.SkipTest as reason:
        answer = ("skipped", str(reason))
    except BaseException:
        answer = ("failed", traceback.format_exc())
    with os.fdopen(writable, "wb") as file:
        pickle.dump(answer, file)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _read_until(readable: int, deadline: float) -> bytes:
    parts = []
    while True:
        ready, _, _ = select.select([readable], [], [], max(0.0, deadline - time.monotonic()))
        part = os.read(readable, 1 << 20) if ready else b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def digest(tensor: torch.Tensor) -> str:
    """Of every bit, the shape and the type."""
    tensor = tensor.detach()
    if tensor.is_sparse:
        tensor = tensor.coalesce()
        return digest(tensor.indices()) + digest(tensor.values())
    plain = tensor.contiguous().flatten()
    data = plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain
    told = f"{tuple(tensor.shape)} {tensor.dtype} ".encode()
    return hashlib.sha256(told + data.numpy().tobytes()).hexdigest()[:16]


def digests(value: Any, name: str = "") -> dict[str, Any]:
    """Every tensor and number inside state dictionaries, by its path."""
    if isinstance(value, torch.Tensor):
        return {name: digest(value)}
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in digests(inner, f"{name}/{key}").items()}
    if isinstance(value, (list, tuple)):
        return {k: v for i, inner in enumerate(value) for k, v in digests(inner, f"{name}/{i}").items()}
    return {name: value}


class EbbTest(unittest.TestCase):
    """Comparisons that say what differs."""

    maxDiff = 2000

    def assertSameBits(self, plain: dict[str, Any], limited: dict[str, Any], what: str = "") -> None:
        self.assertEqual(sorted(plain), sorted(limited), what)
        different = [name for name in plain if plain[name] != limited[name]]
        self.assertFalse(different, f"{what}: {len(different)} of {len(plain)} differ, first {different[:5]}")

    def assertWithin(self, limit: int, status: dict[str, Any], what: str = "") -> None:
        self.assertLessEqual(status["arena_high_water"], limit, what)


def main() -> None:
    unittest.main(verbosity=2, module="__main__")
