#!/usr/bin/env python3
"""A training step by step, for tracing: a small convolutional network on random data, in PyTorch.

    rocshim run --only 'python*' -o traces -- python3 samples/train.py
    rocshim run --only 'python*' -o traces -- torchrun --nproc-per-node 4 samples/train.py
    rocshim phases traces

Under torchrun each rank trains on data of its own, gradients are averaged, and each rank writes its
own trace. The ranges of torch.cuda.nvtx, which is roctx on ROCm, appear as phases.
"""
import argparse
import os

import torch
from torch import nn


def main():
    lines = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    lines.add_argument("--steps", type=int, default=20)
    lines.add_argument("--batch", type=int, default=32)
    arguments = lines.parse_args()

    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    has_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if has_gpu else torch.device("cpu")
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
                          nn.Flatten(), nn.Linear(64 * 16 * 16, 10)).to(device)
    if ranks > 1:
        torch.distributed.init_process_group("nccl" if has_gpu else "gloo")
        model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index] if has_gpu else None)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    phase = torch.cuda.nvtx.range if has_gpu else lambda name: torch.autograd.profiler.record_function(name)

    for step in range(arguments.steps):
        images = torch.randn(arguments.batch, 3, 32, 32, device=device)
        labels = torch.randint(10, (arguments.batch,), device=device)
        with phase("forward"):
            loss = nn.functional.cross_entropy(model(images), labels)
        with phase("backward"):
            optimiser.zero_grad()
            loss.backward()
        with phase("optimiser"):
            optimiser.step()
    print(f"{arguments.steps} steps on {device}, loss {loss.item():.3f}")
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
