"""Finds the extension module, or says in a sentence why it cannot be used."""

from __future__ import annotations

import glob
import os
import sys
import types

OLDEST_TORCH = (1, 13)
# From here on upstream uses the dispatch key that Ebb listens on.
FIRST_UNSUPPORTED_TORCH = (2, 13)


def torch_release(version: str) -> tuple[int, int]:
    """The first two numbers of a version: (2, 11) for "2.11.0+cu130"."""
    major, minor = version.split("+")[0].split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def check_torch(version: str) -> None:
    """Raises ImportError if Ebb cannot sit underneath this version."""
    release = torch_release(version)
    if release < OLDEST_TORCH:
        raise ImportError(f"Ebb needs PyTorch {_dotted(OLDEST_TORCH)} or later; this is {version}")
    if release >= FIRST_UNSUPPORTED_TORCH:
        raise ImportError(
            f"Ebb works with PyTorch before {_dotted(FIRST_UNSUPPORTED_TORCH)}; this is {version}, "
            "which uses Ebb's dispatch key for something else"
        )


def _dotted(release: tuple[int, int]) -> str:
    return ".".join(str(number) for number in release)


def _explain(error: ImportError, torch_version: str) -> str:
    folder = os.path.dirname(__file__)
    found = sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, "_native*.so")))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not found:
        return f"Ebb's extension module is not in {folder}: it was built without PyTorch"
    tag = f"cpython-{sys.version_info.major}{sys.version_info.minor}"
    if not any(tag in name for name in found):
        return f"Ebb was built for another Python ({', '.join(found)}); this is Python {python}"
    return f"Ebb's extension module does not load with PyTorch {torch_version}; was it built for another version? {error}"


def load() -> types.ModuleType:
    """The module ebb._native. Raises ImportError with the reason."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError(f"Ebb needs PyTorch, and {sys.executable} does not have it: {error}") from error
    check_torch(torch.__version__)
    try:
        import ebb._native as module
    except ImportError as error:
        raise ImportError(_explain(error, torch.__version__)) from error
    return module


native = load()
