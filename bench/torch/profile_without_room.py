"""[DQN] §4.7: are op times right if the model does not fit while it is profiled?

Trains a network with all the memory it wants and within shares of it, on demand, without a plan and without recomputing, records both
and compares the time of every kind of op. Each run is a process of its own; runs alternate, and the shortest time of each kind counts.
Where other work runs on the machine, --cpu-time counts the CPU time of the thread that computes instead of the time on the wall;
with --device cuda ops are timed on the GPU.

    PYTHONPATH=build/python python3 bench/torch/profile_without_room.py --tool build/bin/ebb
"""
import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile

SHARES = (1.0, 1.0, 0.75, 0.5)  # all of it twice: how far two such runs are apart
CLOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "thread_clock.c")


@dataclasses.dataclass(frozen=True)
class Workload:
    network: str
    batch: int
    side: int
    room: str  # more than it needs


WORKLOADS = {"cpu": Workload("resnet18", 16, 96, "4GiB"), "cuda": Workload("resnet50", 64, 224, "32GiB")}


def train(device: str, steps: int, limit: int, trace: str) -> None:
    import torch
    import torchvision

    import ebb
    from ebb.extension import native

    work = WORKLOADS[device]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    ebb.limit(limit or work.room, planner="none", recompute=False, device=device, record=True)
    model = getattr(torchvision.models, work.network)(num_classes=10).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images, labels = torch.randn(work.batch, 3, work.side, work.side, device=device), torch.randint(10, (work.batch,), device=device)
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    status = ebb.status()
    native.write_trace(trace)
    print(json.dumps({"peak": status["peak"], "evictions": status["evictions"], "bytes_in": status["bytes_in"]}))


def inspect(tool: str, trace: str) -> dict[str, float]:
    answer = subprocess.run([tool, "inspect", trace, "--json", "--top", "1000"], check=True, capture_output=True, text=True)
    report = json.loads(answer.stdout)
    times = {kind["name"]: float(kind["time_ns"]) for kind in report["op_types"]}
    times["(all ops)"] = float(report["compute_ns"])
    return times


def build_clock(folder: str) -> str:
    library = os.path.join(folder, "thread_clock.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library, CLOCK], check=True)
    return library


def run(options: argparse.Namespace, limit: int, folder: str, clock: str) -> tuple[dict[str, float], dict[str, int]]:
    trace = os.path.join(folder, "trace.ebb")
    command = [sys.executable, "-W", "ignore", __file__, "--device", options.device, "--child", str(limit), "--steps", str(options.steps), "--trace", trace]
    environment = {**os.environ, "LD_PRELOAD": clock} if clock else None
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return inspect(options.tool, trace), json.loads(answer.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="build/bin/ebb")
    parser.add_argument("--device", choices=list(WORKLOADS), default="cpu")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cpu-time", action="store_true", help="CPU time of the computing thread")
    parser.add_argument("--child", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child >= 0:
        return train(options.device, options.steps, options.child, options.trace)
    with tempfile.TemporaryDirectory() as folder:
        clock = build_clock(folder) if options.cpu_time else ""
        _, facts = run(options, 0, folder, clock)
        peak = facts["peak"]
        best: list[dict[str, float]] = [{} for _ in SHARES]
        for _ in range(options.runs):
            for i, share in enumerate(SHARES):
                times, facts = run(options, 0 if share == 1 else int(share * peak), folder, clock)
                for name, time in times.items():
                    best[i][name] = min(time, best[i].get(name, time))
                best[i]["evictions"] = facts["evictions"]
    work, timed = WORKLOADS[options.device], "on the GPU" if options.device == "cuda" else "in CPU time" if options.cpu_time else "on the wall"
    print(f"{work.network}, batch {work.batch}, {work.side} x {work.side}; peak {peak / 2**20:.0f} MiB; shortest of {options.runs} runs, timed {timed}")
    print(f"{'op':<44}{'ms':>9}" + "".join(f"{'again' if share == 1 else f'at {share:.0%}':>10}" for share in SHARES[1:]))
    names = sorted((name for name in best[0] if name != "evictions"), key=lambda name: -best[0][name])
    for name in names[:12]:
        row = "".join(f"{best[i][name] / best[0][name] - 1:>+10.1%}" for i in range(1, len(SHARES)))
        print(f"{name:<44}{best[0][name] / 1e6:>9.3f}{row}")
    print(f"{'evictions':<44}{'':>9}" + "".join(f"{best[i]['evictions']:>10}" for i in range(1, len(SHARES))))


if __name__ == "__main__":
    main()
