"""Threads and processes of the program.

The dispatcher key Ebb listens on belongs to a thread, and autograd's threads inherit it; Python's do not, so each
thread that Python starts gets it. A forked child (a DataLoader's worker) has its parent's memory as it was and
no limit of its own.
"""

from __future__ import annotations

import _thread
import os
import threading
from typing import Any, Callable

from ebb.extension import native
from ebb.patching import Patches


def install(patches: Patches) -> None:
    # Thread.start looks these up in threading; start_new_thread is also called directly.
    for owner, name in (
        (threading, "_start_new_thread"),
        (threading, "_start_joinable_thread"),
        (_thread, "start_new_thread"),
        (_thread, "start_joinable_thread"),
    ):
        patches.replace(owner, name, _starting_with_key)


def _starting_with_key(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def run(*inner: Any, **named: Any) -> Any:
            native.enter_thread()
            try:
                return function(*inner, **named)
            finally:
                native.leave_thread()

        return original(run, *args, **kwargs)

    return start


_forks_watched = False


def watch_forks() -> None:
    """Once for a process; there is no way to unregister."""
    global _forks_watched
    if not _forks_watched:
        os.register_at_fork(after_in_child=native.in_fork_child)
        _forks_watched = True
