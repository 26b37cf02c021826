"""What Ebb costs an op of a training step under a plan: CPU time per op, plain and within a limit.

A residual network of 1x1 convolutions whose ops take microseconds, so that the host is what counts; or torchvision's
DenseNet with few channels, which replays many ops.

    PYTHONPATH=build/python /usr/bin/python3 bench/torch/step_cost.py [--limit 1GiB] [--image 16] [--planner NAME] [--network residual|dense]

Processor time of all threads: with blocks that move, the copies are in it.
"""

import argparse
import time

import torch

import ebb

BLOCKS = 150
ROUNDS = 8
STEPS = 5  # a round
PATIENCE = 300  # steps until a plan must be followed


class Residual(torch.nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.convolution = torch.nn.Conv2d(channels, channels, 1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(self.convolution(x))) + x


def residual(image):
    return torch.nn.Sequential(*[Residual() for _ in range(BLOCKS)]), torch.randn(4, 8, image, image)


def dense(image):
    import torchvision
    model = torchvision.models.DenseNet(growth_rate=2, block_config=(6, 12, 24, 16), num_init_features=4, bn_size=2,
                                        num_classes=10)
    return model, torch.randn(32, 3, image, image)


NETWORKS = {"residual": residual, "dense": dense}


class Training:
    def __init__(self, network, image):
        torch.manual_seed(0)
        self.model, self.images = NETWORKS[network](image)
        self.model.train()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.model(self.images).square().mean().backward()
        self.optimizer.step()

    def seconds(self):
        best = float("inf")
        for _ in range(ROUNDS):
            begin = time.process_time()
            for _ in range(STEPS):
                self.step()
            best = min(best, (time.process_time() - begin) / STEPS)
        return best


def wait_for_plan(training):
    for _ in range(PATIENCE):
        training.step()
        status = ebb.status()
        if status["refusal"]:
            raise SystemExit(f"no plan: {status['refusal']}")
        if status["now"] == "planned" and not status["improving"]:
            return
        time.sleep(0.05)
    raise SystemExit(f"no plan after {PATIENCE} steps")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--limit", default="1GiB")
    parser.add_argument("--image", type=int, default=16, help="pixels; from 32 on blocks are large enough to move")
    parser.add_argument("--planner")
    parser.add_argument("--network", choices=NETWORKS, default="residual", help="a dense one wants an image of 64")
    options = parser.parse_args()
    torch.set_num_threads(1)
    training = Training(options.network, options.image)
    for _ in range(3):
        training.step()
    plain = training.seconds()
    ebb.limit(options.limit, planner=options.planner)
    wait_for_plan(training)
    for _ in range(3):
        training.step()
    before = ebb.status()
    limited = training.seconds()
    status = ebb.status()
    ops = status["ops_per_iteration"]
    steps = status["iterations"] - before["iterations"]
    moved = {name: (status[name] - before[name]) / steps for name in ("evictions", "replays")}
    print(f"{ops} ops: plain {plain * 1e6 / ops:.2f}, within {options.limit} {limited * 1e6 / ops:.2f} us of CPU per op, "
          f"{(limited - plain) * 1e6 / ops:.2f} more; {moved['evictions']:.0f} evictions and {moved['replays']:.0f} replays a step")


if __name__ == "__main__":
    main()
