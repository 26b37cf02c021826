"""A ResNet-56 for CIFAR-10 with stochastic depth (Huang et al. 2016), for `ebb record` and `ebb run`.

The last block survives with the probability given, the first surely, the others in between; 1 is the full depth, the sample that
[DQN]'s plan is made for.
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, before: int, width: int, stride: int, survival: float) -> None:
        super().__init__()
        self.survival = survival
        self.body = nn.Sequential(
            nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
        )
        self.side = nn.Identity()
        if stride != 1 or before != width:
            self.side = nn.Conv2d(before, width, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and torch.rand(()).item() >= self.survival:
            return self.side(x)
        return F.relu(self.side(x) + self.body(x))


def resnet(depth: int, survival: float) -> nn.Module:
    per_stage = (depth - 2) // 6
    blocks: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    width = 16
    for i in range(3 * per_stage):
        wanted = 16 << (i // per_stage)
        share = (i + 1) / (3 * per_stage)
        blocks.append(Residual(width, wanted, 1 if wanted == width else 2, 1 - share * (1 - survival)))
        width = wanted
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=56)
    parser.add_argument("--survival", type=float, default=1.0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(1)
    model = resnet(options.depth, options.survival)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images, labels = torch.randn(options.batch, 3, 32, 32), torch.randint(10, (options.batch,))
    for _ in range(options.steps):
        start = time.process_time()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.4f}, {time.process_time() - start:.2f} CPU s")


if __name__ == "__main__":
    main()
