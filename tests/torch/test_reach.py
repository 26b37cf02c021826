"""Memory reached without the dispatcher is there, stays there while somebody can look, and has the right bytes."""

from __future__ import annotations

import copy
import ctypes
import gc
import io
import os
import pickle
import tempfile

import numpy
import torch
from torch import nn

import ebb
from harness import MIB, EbbTest, in_child, main
from reach import COUNT, EXPECTED, away, counted, raw_address, read_at, stressed


class Pointers(EbbTest):
    @stressed
    def test_data_ptr_stays_valid_while_the_storage_lives(self):
        x = counted()
        address = x.data_ptr()
        for _ in range(10):
            torch.randn(COUNT).mul_(2)
        self.assertTrue((read_at(address) == EXPECTED).all())

    @stressed
    def test_the_address_of_a_view_counts_its_offset(self):
        x = counted()
        self.assertTrue((read_at(x[100:].data_ptr(), COUNT - 100) == EXPECTED[100:]).all())

    @stressed
    def test_bytes_written_through_an_address_are_seen_by_ops(self):
        x = counted()
        ctypes.memset(x.data_ptr(), 0, 4 * COUNT)
        torch.randn(COUNT).mul_(2)
        self.assertEqual(x.sum().item(), 0)

    @stressed
    def test_memory_of_a_storage_that_died_can_be_used_again(self):
        for _ in range(400):  # 100 MiB of pinned memory one after the other, in 64
            counted().data_ptr()

    @stressed
    def test_dlpack_hands_over_the_bytes(self):
        x = counted()
        y = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
        torch.randn(COUNT).mul_(2)
        self.assertTrue(torch.equal(x, y))
        away(z := torch.arange(COUNT) * 1.0)
        self.assertEqual(numpy.from_dlpack(z)[COUNT - 1], COUNT - 1)

    @stressed
    def test_cuda_array_interface_stays_what_it_is_on_the_cpu(self):
        self.assertFalse(hasattr(counted(), "__cuda_array_interface__"))

    @stressed
    def test_a_pin_of_the_user_keeps_the_address(self):
        x = counted()
        with ebb.pin(x):
            address = raw_address(x)
            self.assertNotEqual(address, 0)
            torch.randn(COUNT).mul_(2)
            self.assertEqual(raw_address(x), address)
        away(x)


class Numpy(EbbTest):
    @stressed
    def test_numpy_and_asarray_show_the_bytes(self):
        self.assertTrue((counted().numpy() == EXPECTED).all())
        self.assertTrue((numpy.asarray(counted()) == EXPECTED).all())
        self.assertTrue((numpy.array(counted(), dtype=numpy.float64) == EXPECTED).all())

    @stressed
    def test_an_array_stays_valid_and_shares_memory(self):
        x = counted()
        array = x.numpy()
        part = array[10:20]
        del array
        for _ in range(10):
            torch.randn(COUNT).mul_(2)
        self.assertTrue((part == EXPECTED[10:20]).all())
        part[:] = -1
        self.assertEqual(x[10:20].sum().item(), -10)
        x.zero_()
        self.assertEqual(part.sum(), 0)

    @stressed
    def test_when_the_last_view_is_gone_the_tensor_can_leave_again(self):
        x = counted()
        part = x.numpy()[3:]
        torch.zeros(COUNT).add_(1)
        self.assertNotEqual(raw_address(x), 0)
        del part
        gc.collect()
        away(x)

    @stressed
    def test_what_was_written_through_an_array_that_died_survives(self):
        x = counted()
        x.numpy()[:] = 7
        away(x)
        self.assertEqual(x.sum().item(), 7 * COUNT)

    @stressed
    def test_numpy_of_a_tensor_that_needs_gradients_is_an_error_as_ever(self):
        x = counted().requires_grad_()
        with self.assertRaisesRegex(RuntimeError, "detach"):
            x.numpy()
        away(x)

    @stressed
    def test_tensors_over_arrays_are_left_alone(self):
        array = EXPECTED.copy()
        x = torch.from_numpy(array)
        torch.randn(COUNT).mul_(2)
        self.assertEqual(raw_address(x), array.ctypes.data)
        x.add_(1)
        self.assertTrue((array == EXPECTED + 1).all())


class Scalars(EbbTest):
    @stressed
    def test_items_and_conversions(self):
        self.assertEqual(counted()[5].item(), 5.5)
        self.assertEqual(float(counted()[5]), 5.5)
        self.assertEqual(int(counted()[5]), 5)
        self.assertTrue(bool(counted()[5] > 5))
        self.assertTrue(5.5 in counted())
        self.assertEqual([1, 2, 3][(counted() * 0).long()[5]], 1)

    @stressed
    def test_lists(self):
        self.assertEqual(counted().tolist(), EXPECTED.tolist())
        self.assertEqual(counted().view(-1, 4)[1].tolist(), EXPECTED[4:8].tolist())

    @stressed
    def test_printing(self):
        x, y = counted(), torch.from_numpy(EXPECTED)
        self.assertEqual(str(x), str(y))
        self.assertEqual(repr(away(x)[:7]), repr(y[:7]))
        self.assertEqual(f"{away(x)[3]}", f"{y[3]}")

    @stressed
    def test_functions_applied_element_by_element(self):
        x = counted(1 << 15).apply_(lambda v: v + 1)
        self.assertEqual(away(x)[0].item(), 1.5)
        y = counted(1 << 15)
        y.map_(away(x), lambda a, b: b - a)
        self.assertEqual(away(y).sum().item(), 1 << 15)

    @stressed
    def test_large_tensors_made_from_lists(self):
        x = torch.tensor(EXPECTED.tolist())
        self.assertTrue((away(x).numpy() == EXPECTED).all())
        self.assertTrue((away(x.new_tensor(EXPECTED.tolist())).numpy() == EXPECTED).all())


class Storages(EbbTest):
    @stressed
    def test_elements_and_addresses(self):
        storage = counted().storage()
        self.assertEqual(storage[3], 3.5)
        x = counted()
        self.assertTrue((read_at(x.storage().data_ptr()) == EXPECTED).all())
        self.assertEqual(counted(1 << 15).storage().tolist()[7], 7.5)

    @stressed
    def test_filling_copying_and_cloning(self):
        x, y = counted(), counted()
        x.storage().fill_(2)
        self.assertEqual(away(x).sum().item(), 2 * COUNT)
        x.storage().copy_(y.storage())
        self.assertTrue(torch.equal(x, y))
        copied = away(x).storage().clone()
        self.assertEqual(copied[9], 9.5)

    @stressed
    def test_resizing_keeps_the_front(self):
        x = counted()
        untyped = x.storage().untyped() if hasattr(x.storage(), "untyped") else x.untyped_storage()
        untyped.resize_(8 * COUNT)
        wide = torch.empty(0).set_(x.storage(), 0, (2 * COUNT,))
        self.assertTrue((away(wide)[:COUNT].clone().numpy() == EXPECTED).all())
        untyped.resize_(0)
        untyped.resize_(4 * COUNT)
        x.fill_(3)
        self.assertEqual(away(x).sum().item(), 3 * COUNT)

    @stressed
    def test_sharing_memory_moves_it_out_of_the_arena_for_good(self):
        x = counted().share_memory_()
        torch.randn(COUNT).mul_(2)
        self.assertTrue(x.is_shared())
        self.assertTrue((x.numpy() == EXPECTED).all())

    @stressed
    def test_page_locked_copies_say_what_they_said(self):
        with self.assertRaises(RuntimeError):  # without CUDA, with or without Ebb
            counted().pin_memory()


class Copies(EbbTest):
    def check_saved(self, **options):
        x = counted()
        file = io.BytesIO()
        torch.save({"x": x, "part": x[8:16], "same": x, "other": counted()}, file, **options)
        away(x)
        file.seek(0)
        back = torch.load(file)
        self.assertTrue(torch.equal(back["x"], x))
        self.assertTrue(torch.equal(back["part"], x[8:16]))
        back["x"].zero_()
        self.assertEqual(back["part"].sum().item(), 0, "sharing is kept")
        self.assertTrue((back["other"].numpy() == EXPECTED).all())

    @stressed
    def test_saving_and_loading(self):
        self.check_saved()

    @stressed
    def test_saving_in_the_old_format(self):
        self.check_saved(_use_new_zipfile_serialization=False)

    @stressed
    def test_saving_to_a_file(self):
        x = counted()
        with tempfile.TemporaryDirectory() as folder:
            torch.save(x, os.path.join(folder, "x.pt"))
            self.assertTrue(torch.equal(torch.load(os.path.join(folder, "x.pt")), x))

    @stressed
    def test_saving_keeps_nothing_pinned(self):
        x = counted()
        torch.save(x, io.BytesIO())
        pickle.dumps(x)
        copy.deepcopy(nn.Parameter(x))
        copy.deepcopy(x)
        away(x)

    def test_saving_more_than_the_limit_holds(self):
        def body():
            with ebb.limit(2 * MIB, planner="none", recompute=False, device="cpu"):
                many = [torch.full((COUNT,), float(i)) for i in range(32)]
                file = io.BytesIO()
                torch.save(many, file)
                file.seek(0)
                for i, x in enumerate(torch.load(file)):
                    self.assertEqual(x.sum().item(), i * COUNT)
                self.assertLessEqual(ebb.status()["arena_high_water"], 2 * MIB)

        in_child(body)

    @stressed
    def test_deep_copies(self):
        x = counted()
        self.assertTrue(torch.equal(copy.deepcopy(x), x))
        model = nn.Linear(256, 256)
        away(model.weight)
        twin = copy.deepcopy(model)
        self.assertTrue(torch.equal(twin.weight, model.weight))
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(model)).weight, model.weight))

    @stressed
    def test_pickling(self):
        x = counted()
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(x)), x))

    @stressed
    def test_optimizer_state_comes_back(self):
        model = nn.Linear(512, 512)
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.randn(8, 512)).sum().backward()
        optimizer.step()
        state = optimizer.state_dict()
        other = torch.optim.Adam(nn.Linear(512, 512).parameters())
        other.load_state_dict(state)
        self.assertTrue(torch.equal(other.state_dict()["state"][0]["exp_avg"], state["state"][0]["exp_avg"]))


if __name__ == "__main__":
    main()
