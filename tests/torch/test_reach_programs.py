"""The same where a program has code of its own beside the dispatcher: functions with raw memory, threads, processes, other layouts."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, Dataset

import ebb
from harness import MIB, EbbTest, in_child, main
from reach import COUNT, EXPECTED, away, counted, raw_address, read_at, stressed


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


class Operators(EbbTest):
    def test_a_list_operator_of_somebody_elses_stays_whole(self):
        """Its name says nothing, and its kernel may need all of the list."""

        def body():
            library = torch.library.Library("ebb_test", "DEF")
            library.define("_foreach_shares(Tensor[] xs) -> Tensor[]")
            library.impl("_foreach_shares", lambda xs: [x / sum(y.sum() for y in xs) for x in xs], "CPU")
            count = 24 * MIB // 4  # three of them are more than a part of a list of torch's own
            with ebb.limit(320 * MIB, device="cpu", planner="none"):
                shares = torch.ops.ebb_test._foreach_shares([torch.ones(count) for _ in range(3)])
                for share in shares:
                    self.assertAlmostEqual(float(share[0]) * 3 * count, 1, 5)

        in_child(body)


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
