"""A tiny llama model in a GGUF file: two layers, random weights, a vocabulary of single letters.

Written by nothing that rocshim shares, so that the matrix can hold it against any type of weights.
"""
import random
import struct

WIDTH, HEADS, FEED_FORWARD, LAYERS, CONTEXT = 256, 4, 512, 2, 4096
# Name: ggml's number of the type, of the file, weights in a block, its bytes.
TYPES = {
    "F32": (0, 0, 1, 4), "F16": (1, 1, 1, 2), "BF16": (30, 32, 1, 2),
    "Q4_0": (2, 2, 32, 18), "Q5_0": (6, 8, 32, 22), "Q8_0": (8, 7, 32, 34),
    "Q4_1": (3, 3, 32, 20), "Q5_1": (7, 9, 32, 24), "Q2_K": (10, 10, 256, 84), "Q3_K": (11, 12, 256, 110),
    "Q4_K": (12, 15, 256, 144), "Q5_K": (13, 17, 256, 176), "Q6_K": (14, 18, 256, 210),
    "IQ2_XXS": (16, 19, 256, 66), "IQ3_XXS": (18, 23, 256, 98), "IQ3_S": (21, 26, 256, 110),
    "IQ4_NL": (20, 25, 32, 18), "IQ4_XS": (23, 30, 256, 136), "MXFP4": (39, 38, 32, 17),
}
# Those that are asked in all ways.
MAIN = ("F32", "F16", "BF16", "Q4_0", "Q5_0", "Q8_0")
# A model whose type has this ending is a mixture of experts.
MOE, EXPERTS = " MoE", 4


def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def array(key, kind, values):
    return pair(key, 9, struct.pack("<IQ", kind, len(values)) + b"".join(values))


def vocabulary():
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % byte for byte in range(256)]
    kinds = [2, 3, 3] + [6] * 256
    letters = ["\u2581"] + [chr(97 + i) for i in range(26)]
    tokens, kinds = tokens + letters, kinds + [1] * len(letters)
    while len(tokens) % 256:
        tokens, kinds = tokens + ["<pad%d>" % len(tokens)], kinds + [5]
    return tokens, kinds


def write(path, name):
    """Writes a model whose matrices are of this type; its norms, and what picks experts, are f32."""
    kind, file_type, block, size = TYPES[name.removesuffix(MOE)]
    is_moe = name.endswith(MOE)
    tokens, kinds = vocabulary()
    number = lambda key, value: pair(key, 4, struct.pack("<I", value))
    keys = [
        pair("general.architecture", 8, text("llama")), number("general.file_type", file_type),
        number("llama.context_length", CONTEXT), number("llama.embedding_length", WIDTH),
        number("llama.block_count", LAYERS), number("llama.feed_forward_length", FEED_FORWARD),
        number("llama.attention.head_count", HEADS), number("llama.attention.head_count_kv", HEADS),
        number("llama.rope.dimension_count", WIDTH // HEADS), number("llama.vocab_size", len(tokens)),
        pair("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5)),
        pair("tokenizer.ggml.model", 8, text("llama")),
        array("tokenizer.ggml.tokens", 8, [text(token) for token in tokens]),
        array("tokenizer.ggml.scores", 6, [struct.pack("<f", -float(i)) for i in range(len(tokens))]),
        array("tokenizer.ggml.token_type", 5, [struct.pack("<i", one) for one in kinds]),
        number("tokenizer.ggml.bos_token_id", 1), number("tokenizer.ggml.eos_token_id", 2),
        number("tokenizer.ggml.unknown_token_id", 0),
    ]
    if is_moe:
        keys += [number("llama.expert_count", EXPERTS), number("llama.expert_used_count", 2)]
    matrices = [("token_embd", WIDTH, len(tokens)), ("output_norm", WIDTH, 0), ("output", WIDTH, len(tokens))]
    for layer in range(LAYERS):
        part = lambda what: "blk.%d.%s" % (layer, what)
        matrices += [(part("attn_norm"), WIDTH, 0), (part("ffn_norm"), WIDTH, 0)]
        matrices += [(part("attn_" + what), WIDTH, WIDTH) for what in ("q", "k", "v", "output")]
        each, many = ("_exps", [EXPERTS]) if is_moe else ("", [])
        matrices += [(part("ffn_" + what + each), WIDTH, FEED_FORWARD, *many) for what in ("gate", "up")]
        matrices += [(part("ffn_down" + each), FEED_FORWARD, WIDTH, *many)]
        matrices += [(part("ffn_gate_inp"), WIDTH, EXPERTS)] if is_moe else []
    chance = random.Random(1)
    described, data = b"", b""
    for what, columns, rows, *many in matrices:
        data += b"\0" * (-len(data) % 32)
        lengths = [columns] + ([rows] if rows else []) + many
        is_f32 = not rows or what.endswith("gate_inp")
        described += text(what + ".weight") + struct.pack("<I", len(lengths))
        described += b"".join(struct.pack("<Q", length) for length in lengths)
        described += struct.pack("<IQ", 0 if is_f32 else kind, len(data))
        rows *= many[0] if many else 1
        if is_f32:
            data += struct.pack("<f", 1.0) * (columns * max(rows, 1))
        elif block == 1:
            data += b"\0" * (columns * rows * size)
        else:
            scale = struct.pack("<e", 0.01)
            blocks = columns * rows // block
            data += b"".join(scale + chance.randbytes(size - 2) for _ in range(blocks))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(matrices), len(keys)) + b"".join(keys) + described
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32) + data)
