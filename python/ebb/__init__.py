"""Ebb gives a PyTorch training program a memory limit and makes it keep it.

    import ebb
    ebb.limit("8GiB")

is all a script needs. Tensors that are not in use are moved to host memory, or dropped and computed again; results
are the same bits. `ebb run --limit 8GiB -- python3 train.py` does it without an edit. See docs/python.md.
"""

import os

from ebb.control import Limit, Recording, limit, observe, off, record, report, smallest_limit, status
from ebb.extension import native
from ebb.pins import Pin, pin

# How far the host may run ahead of the device: the CUDA driver reads it when it starts, and then holds some 4,000 launches
# back instead of 1,000. A planned step has parts in which the host is fast and parts in which it is slow; only a host that
# is far ahead keeps the device busy through both. A value that is set already stays.
os.environ.setdefault("CUDA_SCALE_LAUNCH_QUEUES", "4x")

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
