"""The networks that [SP], [HOME] and [SUB] measure, with random weights, on a device of choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from models import Model
from torch import nn

VGG = {
    11: "64 M 128 M 256 256 M 512 512 M 512 512 M",
    13: "64 64 M 128 128 M 256 256 M 512 512 M 512 512 M",
    16: "64 64 M 128 128 M 256 256 256 M 512 512 512 M 512 512 512 M",
    19: "64 64 M 128 128 M 256 256 256 256 M 512 512 512 512 M 512 512 512 512 M",
}
# Bottlenecks per stage. The paper's 1000 layers are not printed stage by stage: most of them where ResNet-200 has most of its own.
DEEP = (3, 96, 231, 3)


@dataclass(frozen=True)
class Network:
    """`make(batch, device)` gives a model with its batch on the device; `probe` is a batch that certainly fits."""

    name: str
    module: Callable[[], nn.Module]
    probe: int
    side: int = 32
    classes: int = 10

    def make(self, batch: int, device: str) -> Model:
        module = self.module().to(device)
        x = torch.randn(batch, 3, self.side, self.side, device=device)
        y = torch.randint(self.classes, (batch,), device=device)
        return Model(module, lambda: F.cross_entropy(module(x), y))


def _convolution(before: int, width: int, stride: int = 1, side: int = 3, groups: int = 1, bias: bool = False) -> list[nn.Module]:
    convolution = nn.Conv2d(before, width, side, stride, side // 2, groups=groups, bias=bias)
    return [convolution, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]


def vgg(depth: int) -> nn.Module:
    """As at torch.ch/blog/2015/07/30/cifar.html, which [SP] cites."""
    layers: list[nn.Module] = []
    before = 3
    for word in VGG[depth].split():
        if word == "M":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += _convolution(before, int(word), bias=True)
            before = int(word)
    classifier = [nn.Flatten(), nn.Linear(512, 512), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(512, 10)]
    return nn.Sequential(*layers, *classifier)


def resnet_for_small_images(depth: int) -> nn.Module:
    import torchvision

    module = getattr(torchvision.models, f"resnet{depth}")(num_classes=10)
    module.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    module.maxpool = nn.Identity()
    return module


def mobilenet() -> nn.Module:
    """The first version (Howard et al. 2017), without the strides of its first layers."""
    layers = _convolution(3, 32)
    before = 32
    for width, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        layers += _convolution(before, before, stride, groups=before) + _convolution(before, width, side=1)
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def plain20() -> nn.Module:
    """He et al. 2015: the 20 layers for CIFAR-10 without residual connections."""
    layers = _convolution(3, 16)
    before = 16
    for width in (16, 32, 64):
        for _ in range(6):
            layers += _convolution(before, width, 1 if width == before else 2)
            before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def squeezenet() -> nn.Module:
    import torchvision

    return torchvision.models.squeezenet1_1(num_classes=10)


def inception() -> nn.Module:
    import torchvision

    return torchvision.models.inception_v3(num_classes=10, aux_logits=False, init_weights=False)


def deep_resnet(stages: tuple[int, ...]) -> nn.Module:
    from torchvision.models.resnet import Bottleneck, ResNet

    return ResNet(Bottleneck, list(stages))


def resnet50() -> nn.Module:
    import torchvision

    return torchvision.models.resnet50()


SMARTPOOL = [Network(f"ResNet{depth}", lambda depth=depth: resnet_for_small_images(depth), 50) for depth in (18, 34, 50, 101)] + [
    Network(f"VGG{depth}", lambda depth=depth: vgg(depth), 50) for depth in (11, 13, 16, 19)
]
# Inception takes no less than 75 pixels a side; the paper's batches say that it had 299.
HOME = [
    Network("MobileNet", mobilenet, 256),
    Network("Plain20", plain20, 256),
    Network("SqueezeNet", squeezenet, 1024),
    Network("VGG16", lambda: vgg(16), 256),
    Network("ResNet", lambda: resnet_for_small_images(18), 128),
    Network("InceptionV3", inception, 128, side=75),
    Network("InceptionV3-299", inception, 16, side=299),
]
RESNET1001 = Network("ResNet-1001", lambda: deep_resnet(DEEP), 32, side=224, classes=1000)
RESNET50 = Network("ResNet-50", resnet50, 32, side=224, classes=1000)

# To try the measurements themselves.
SMALL_RESNET1001 = Network("ResNet-1001", lambda: deep_resnet((1, 1, 1, 1)), 4, side=64, classes=1000)
SMALL_RESNET50 = Network("ResNet-50", lambda: resnet_for_small_images(18), 2, side=16)
