"""Ebb gives a PyTorch training program a memory limit and makes it keep it.

    import ebb
    ebb.limit("8GiB")

is all a script needs. Tensors that are not in use are moved to host memory, or dropped and computed again; results
are the same bits. `ebb run --limit 8GiB -- python3 train.py` does it without an edit. See docs/python.md.
"""

from ebb.control import Limit, Recording, limit, observe, off, record, report, smallest_limit, status
from ebb.extension import native
from ebb.pins import Pin, pin

OutOfMemory = native.OutOfMemory

__all__ = [
    "Limit",
    "OutOfMemory",
    "Pin",
    "Recording",
    "limit",
    "observe",
    "off",
    "pin",
    "record",
    "report",
    "smallest_limit",
    "status",
]
__version__ = "0.1.0"
