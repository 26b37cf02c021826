"""Memory reached without the dispatcher is there, stays there while somebody can look, and has the right bytes."""

from __future__ import annotations

import copy
import ctypes
import gc
import io
import os
import pickle
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, Dataset

import ebb
from harness import MIB, EbbTest, in_child, main

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


class NumpySquare(torch.autograd.Function):
    """As users write it: numpy in the middle of autograd."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        torch.zeros(COUNT).add_(1)
        return torch.from_numpy(x.detach().numpy() ** 2)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        torch.zeros(COUNT).add_(1)
        return torch.from_numpy(2 * x.detach().numpy() * gradient.numpy())


class RawSquare(torch.autograd.Function):
    """As an extension does it: addresses, taken past the package."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        torch.zeros(COUNT).add_(1)
        return torch.from_numpy(read_at(raw_address(x)) ** 2)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        torch.zeros(COUNT).add_(1)
        return torch.from_numpy(2 * read_at(raw_address(x)) * read_at(raw_address(gradient)))


class Functions(EbbTest):
    def check(self, function):
        x = counted().requires_grad_()
        y = function.apply(x)
        away(x)
        self.assertTrue((y.detach().numpy() == EXPECTED**2).all())
        (y * y).sum().backward()
        self.assertTrue((x.grad.numpy() == 2 * EXPECTED * (2 * EXPECTED**2)).all())

    @stressed
    def test_numpy_inside_a_function(self):
        self.check(NumpySquare)

    @stressed
    def test_raw_addresses_inside_a_function(self):
        self.check(RawSquare)

    @stressed
    def test_after_the_function_nothing_is_pinned(self):
        x = counted().requires_grad_()
        y = RawSquare.apply(x).square().sum()
        away(x)
        y.backward()
        gc.collect()
        away(x)

    @stressed
    def test_a_function_that_raises_leaves_no_pins(self):
        class Fails(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                raise KeyError("as the user wrote it")

        x = counted().requires_grad_()
        with self.assertRaisesRegex(KeyError, "as the user wrote it"):
            Fails.apply(x)
        away(x)


class Threads(EbbTest):
    def run_in_thread(self, function):
        answers = []
        thread = threading.Thread(target=lambda: answers.append(function()))
        thread.start()
        thread.join()
        return answers[0]

    @stressed
    def test_a_second_thread_finds_the_bytes(self):
        x = counted()
        self.assertEqual(self.run_in_thread(lambda: (x * 2).sum().item()), float((torch.from_numpy(EXPECTED) * 2).sum()))
        self.assertTrue((self.run_in_thread(lambda: x.numpy()) == EXPECTED).all())

    @stressed
    def test_threads_train_beside_each_other(self):
        def train(seed):
            generator = torch.Generator().manual_seed(seed)
            weight = torch.randn(256, 256, generator=generator, requires_grad=True)
            for _ in range(3):
                loss = (torch.randn(64, 256, generator=generator) @ weight).relu().square().mean()
                (gradient,) = torch.autograd.grad(loss, [weight])
                weight = (weight - 0.1 * gradient).detach().requires_grad_()
            return weight.detach()

        alone = [train(seed).numpy().copy() for seed in range(4)]
        with ThreadPoolExecutor(4) as pool:
            for one, other in zip(alone, pool.map(train, range(4))):
                self.assertTrue((one == other.numpy()).all())

    def test_a_thread_that_was_there_before_the_limit_sees_it(self):
        def body():
            asked, answered = threading.Semaphore(0), threading.Semaphore(0)
            box = {}

            def work():
                asked.acquire()
                box["sum"] = (box["x"] * 2).sum().item()
                answered.release()

            thread = threading.Thread(target=work)
            thread.start()
            with ebb.limit(64 * MIB, stress=True, device="cpu"):
                box["x"] = counted()
                asked.release()
                answered.acquire()
            self.assertEqual(box["sum"], float((torch.from_numpy(EXPECTED) * 2).sum()))
            thread.join()

        in_child(body)


class Lookup(Dataset):
    """A dataset that holds its samples in a tensor, as many do."""

    def __init__(self):
        self.samples = torch.arange(64 * 4096, dtype=torch.float32).view(64, 4096)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i] * 2, i


class Processes(EbbTest):
    @stressed
    def test_a_forked_child_finds_its_data_and_has_no_limit(self):
        x = counted()

        def child():
            assert not ebb.status()["active"]
            assert (x.numpy() == EXPECTED).all()
            more = [torch.ones(8 * MIB) for _ in range(4)]  # 128 MiB: twice the parent's limit
            return sum(part.sum().item() for part in more) + x.sum().item()

        expected = float(torch.from_numpy(EXPECTED).sum()) + 32 * MIB
        self.assertEqual(in_child(child), expected)
        self.assertTrue((x.numpy() == EXPECTED).all())

    def check_loader(self, **options):
        data = Lookup()
        away(data.samples)
        seen = 0
        for batch, index in DataLoader(data, batch_size=16, **options):
            torch.zeros(COUNT).add_(1)
            self.assertTrue(torch.equal(batch, data.samples[index] * 2))
            seen += len(batch)
        self.assertEqual(seen, 64)

    @stressed
    def test_a_loader_in_the_process(self):
        self.check_loader()

    @stressed
    def test_a_loader_with_workers(self):
        self.check_loader(num_workers=2)

    @stressed
    def test_a_loader_with_workers_that_stay(self):
        self.check_loader(num_workers=2, persistent_workers=True, shuffle=True)


class Layouts(EbbTest):
    """Tensors without a storage of their own keep what they are made of."""

    @stressed
    def test_sparse_tensors(self):
        values, indices = counted(), torch.arange(COUNT)[None]
        away(indices)
        x = torch.sparse_coo_tensor(indices, values, (COUNT,))
        torch.zeros(COUNT).add_(1)
        self.assertTrue((x.to_dense().numpy() == EXPECTED).all())
        self.assertTrue(((x + x).coalesce().values().numpy() == 2 * EXPECTED).all())

    @stressed
    def test_a_sparse_embedding_trains(self):
        embedding = nn.Embedding(4096, 64, sparse=True)
        before = embedding.weight.detach().clone()
        optimizer = torch.optim.SGD(embedding.parameters(), lr=1.0)
        for _ in range(3):
            optimizer.zero_grad()
            embedding(torch.tensor([[1, 2, 4000]])).sum().backward()
            torch.zeros(COUNT).add_(1)
            optimizer.step()
        changed = (embedding.weight.detach() != before).any(1).nonzero().flatten()
        self.assertEqual(changed.tolist(), [1, 2, 4000])

    @stressed
    def test_mkldnn_tensors(self):
        x = counted().to_mkldnn()
        torch.zeros(COUNT).add_(1)
        self.assertTrue((x.to_dense().numpy() == EXPECTED).all())

    @stressed
    def test_subclasses(self):
        class Tagged(torch.Tensor):
            pass

        x = counted().as_subclass(Tagged)
        torch.zeros(COUNT).add_(1)
        self.assertIsInstance(x + 1, Tagged)
        self.assertEqual((x + 1)[3].item(), 4.5)

    @stressed
    def test_a_mode_finds_the_bytes_of_what_it_is_shown(self):
        seen = {}

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, op, types, arguments=(), options=None):
                seen[op._schema.name] = raw_address(arguments[0])
                return op(*arguments, **(options or {}))

        x = counted()
        with Watch():
            y = x[3:5]
        self.assertNotEqual(seen["aten::slice"], 0)
        self.assertEqual(y.tolist(), [3.5, 4.5])

    @stressed
    def test_packed_sequences_and_ctc(self):
        lengths = torch.tensor([64, 40, 8])
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(64, 3, 256), lengths)
        output, _ = nn.LSTM(256, 128)(packed)
        padded, back = nn.utils.rnn.pad_packed_sequence(output)
        self.assertEqual(back.tolist(), [64, 40, 8])
        scores = torch.randn(50, 16, 100).log_softmax(2)
        away(scores)
        loss = nn.functional.ctc_loss(
            scores, torch.randint(1, 100, (16, 30)), torch.full((16,), 50), torch.full((16,), 30)
        )
        self.assertTrue(torch.isfinite(loss))


class Generators(EbbTest):
    @stressed
    def test_a_state_that_was_moved_about_can_be_set(self):
        state = torch.get_rng_state().clone()
        expected = torch.rand(100).tolist()
        for _ in range(300):  # longer than small blocks are left alone
            torch.zeros(COUNT).add_(1)
        self.assertEqual(raw_address(state), 0)
        torch.set_rng_state(state)
        self.assertEqual(torch.rand(100).tolist(), expected)


class Refusals(EbbTest):
    @stressed
    def test_capturing_a_cuda_graph(self):
        with self.assertRaisesRegex(RuntimeError, "Ebb is on: a CUDA graph"):
            torch.cuda.CUDAGraph.capture_begin(None)

    @stressed
    def test_compiling(self):
        if not hasattr(torch, "compile"):
            self.skipTest("this PyTorch has no torch.compile")
        with self.assertRaisesRegex(RuntimeError, "torch.compile"):
            torch.compile(nn.Linear(2, 2))


class Leaving(EbbTest):
    def test_ebb_off_leaves_nothing_behind(self):
        def body():
            before = {name: getattr(torch.Tensor, name) for name in ("numpy", "data_ptr", "tolist", "__deepcopy__")}
            storage_before = dict(vars(torch.UntypedStorage))
            with ebb.limit(64 * MIB, stress=True, device="cpu"):
                x = counted()
                array = counted().numpy()
                self.assertIsNot(torch.Tensor.numpy, before["numpy"])
            for name, value in before.items():
                self.assertIs(getattr(torch.Tensor, name), value)
            self.assertEqual(dict(vars(torch.UntypedStorage)), storage_before)
            self.assertTrue((x.numpy() == EXPECTED).all())
            self.assertTrue((array == EXPECTED).all())
            self.assertNotEqual(raw_address(x), 0)
            del array
            gc.collect()
            self.assertTrue((x * 2 == torch.from_numpy(EXPECTED) * 2).all())

        in_child(body)


if __name__ == "__main__":
    main()
