#!/usr/bin/env python3
"""Inference for tracing: a prompt through a small transformer, then one token after another, in PyTorch.

    rocshim run --only 'python*' -o traces -- python3 samples/inference.py
    rocshim phases traces

The phases are named by the Python module of rocshim; where it is not installed, nothing is named.
"""
import argparse
import contextlib

import torch
from torch import nn

try:
    from rocshim import phase
except ImportError:
    phase = contextlib.nullcontext


def main():
    lines = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    lines.add_argument("--prompt", type=int, default=64, help="tokens of the prompt")
    lines.add_argument("--tokens", type=int, default=16, help="tokens to generate")
    arguments = lines.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    model = nn.TransformerEncoder(layer, 4).to(device).eval()
    embedding, head = nn.Embedding(1000, 256).to(device), nn.Linear(256, 1000).to(device)
    tokens = torch.randint(1000, (1, arguments.prompt), device=device)
    with torch.inference_mode():
        for step in range(arguments.tokens):
            with phase("prompt" if step == 0 else "decode"):
                following = head(model(embedding(tokens))[:, -1]).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, following], 1)
    print(f"{arguments.tokens} tokens on {device}")


if __name__ == "__main__":
    main()
