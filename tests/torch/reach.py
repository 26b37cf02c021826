"""Tensors whose bytes are away, for tests of memory that is reached without the dispatcher."""

from __future__ import annotations

import ctypes

import numpy
import torch

import ebb
from harness import MIB, in_child

COUNT = 1 << 16  # floats: 256 KiB, which is worth moving
raw_address = torch._C._TensorBase.data_ptr  # past the package: 0 if the bytes are away


def stressed(function):
    """The test runs in a child, under a limit, with everything that can leave leaving after every op."""

    def body(self):
        with ebb.limit(64 * MIB, stress=True, recompute=False, device="cpu"):
            function(self)

    def test(self):
        in_child(body, self)

    test.__name__ = function.__name__
    test.__doc__ = function.__doc__
    return test


def away(tensor: torch.Tensor) -> torch.Tensor:
    """Makes other ops run until the tensor's bytes have left, and proves that they have."""
    tensor.detach().sum()  # so that Ebb has met it
    torch.zeros(COUNT).add_(1)
    assert raw_address(tensor) == 0, "the tensor did not leave: the test would prove nothing"
    return tensor


def counted(count: int = COUNT) -> torch.Tensor:
    return away(torch.arange(count, dtype=torch.float32) + 0.5)


EXPECTED = numpy.arange(COUNT, dtype=numpy.float32) + 0.5


def read_at(address: int, count: int = COUNT) -> numpy.ndarray:
    return numpy.ctypeslib.as_array((ctypes.c_float * count).from_address(address)).copy()
