#!/usr/bin/env python3
"""Writes small GGUF models with random weights, complete enough for llama.cpp:
gguf_random.py SHAPE FILE [NAME=VALUE...]. The shapes are those of bert,
nomic-bert, gemma-embedding and qwen3; the same call writes the same bytes.

  pooling=N    0 none, 1 mean, 2 CLS, 3 last (the shape's own)
  layers=N     2, of gemma-embedding 6: with fewer llama.cpp aborts
  context=N    tokens it was trained for (64)
  seed=N       of the weights (1)
  arch=NAME    another architecture by name, with the tensors of the shape
  name=NAME    general.name
"""
import random
import struct
import sys

WIDTH, HEADS, INNER = 64, 2, 96
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
WORDS = ["the", "gate", "way", "waits", "seconds", "key", "note", "memory", "berlin", "moved", "query", "text", "task",
         "search", "result", "title", "none", "document", "记忆", "网关", "小王", "负责", "支付"]


class Writer:
    def __init__(self, seed):
        self.keys, self.tensors, self.random = [], [], random.Random(seed)

    @staticmethod
    def string(s):
        b = s.encode()
        return struct.pack("<Q", len(b)) + b

    def key(self, name, kind, value):
        one = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}
        if kind == STRING:
            data = self.string(value)
        else:
            data = struct.pack(one[kind], value)
        self.keys.append(self.string(name) + struct.pack("<I", kind) + data)

    def array(self, name, kind, values):
        if kind == STRING:
            data = b"".join(map(self.string, values))
        else:
            data = struct.pack("<%d%s" % (len(values), "f" if kind == F32 else "i"), *values)
        self.keys.append(self.string(name) + struct.pack("<IIQ", ARRAY, kind, len(values)) + data)

    def tensor(self, name, *shape, one=False):
        n = 1
        for d in shape:
            n *= d
        scale = 1 / shape[0] ** .5 if len(shape) > 1 else .1
        values = [self.random.uniform(-scale, scale) + one for _ in range(n)]
        self.tensors.append((name, shape, struct.pack("<%df" % n, *values)))

    def norm(self, name, bias=True, width=WIDTH):
        self.tensor(name + ".weight", width, one=True)
        if bias:
            self.tensor(name + ".bias", width)

    def write(self, path):
        info, at = b"", 0
        for name, shape, data in self.tensors:
            info += self.string(name) + struct.pack("<I%dQIQ" % len(shape), len(shape), *shape, 0, at)
            at += len(data) + -len(data) % 32
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.keys)) + b"".join(self.keys) + info
        with open(path, "wb") as f:
            f.write(head + bytes(-len(head) % 32))
            for _, _, data in self.tensors:
                f.write(data + bytes(-len(data) % 32))


# ---- vocabularies ----------------------------------------------------------

def bytes_of_bpe():
    """The characters that stand for bytes in vocabularies of GPT-2's kind."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(len(rest))]


def wordpiece(w):
    chars = [chr(c) for c in range(33, 127)]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *("\u2581" + x for x in chars + WORDS), *chars]
    w.key("tokenizer.ggml.model", STRING, "bert")
    w.key("tokenizer.ggml.token_type_count", U32, 2)
    for name, i in (("padding", 0), ("unknown", 1), ("bos", 2), ("seperator", 3), ("mask", 4)):
        w.key("tokenizer.ggml.%s_token_id" % name, U32, i)
    return tokens, [3] * 5 + [1] * (len(tokens) - 5)


def sentencepiece(w):
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", *("<0x%02X>" % b for b in range(256)), "\u2581",
              *("\u2581" + x for x in WORDS), *WORDS]
    w.key("tokenizer.ggml.model", STRING, "llama")
    w.array("tokenizer.ggml.scores", F32, [-float(i) for i in range(len(tokens))])
    for name, i in (("padding", 0), ("eos", 1), ("bos", 2), ("unknown", 3)):
        w.key("tokenizer.ggml.%s_token_id" % name, U32, i)
    for name in ("bos", "eos"):
        w.key("tokenizer.ggml.add_%s_token" % name, BOOL, True)
    return tokens, [3, 3, 3, 2] + [6] * 256 + [1] * (len(tokens) - 260)


def bytepair(w):
    tokens = bytes_of_bpe() + ["th", "the", "<|endoftext|>"]
    w.key("tokenizer.ggml.model", STRING, "gpt2")
    w.key("tokenizer.ggml.pre", STRING, "qwen2")
    w.array("tokenizer.ggml.merges", STRING, ["t h", "th e"])
    w.key("tokenizer.ggml.eos_token_id", U32, len(tokens) - 1)
    w.key("tokenizer.ggml.padding_token_id", U32, len(tokens) - 1)
    w.key("tokenizer.ggml.add_bos_token", BOOL, False)
    w.key("tokenizer.ggml.add_eos_token", BOOL, True)
    return tokens, [1] * (len(tokens) - 1) + [3]


# ---- shapes ----------------------------------------------------------------

def bert(w, layers, context, pieces):
    w.tensor("token_embd.weight", WIDTH, pieces)
    w.tensor("token_types.weight", WIDTH, 2)
    w.tensor("position_embd.weight", WIDTH, context)
    w.norm("token_embd_norm")
    for i in range(layers):
        b = "blk.%d." % i
        for name, a, c in (("attn_q", WIDTH, WIDTH), ("attn_k", WIDTH, WIDTH), ("attn_v", WIDTH, WIDTH),
                           ("attn_output", WIDTH, WIDTH), ("ffn_up", WIDTH, INNER), ("ffn_down", INNER, WIDTH)):
            w.tensor(b + name + ".weight", a, c)
            w.tensor(b + name + ".bias", c)
        w.norm(b + "attn_output_norm")
        w.norm(b + "layer_output_norm")


def nomic(w, layers, context, pieces):
    w.tensor("token_embd.weight", WIDTH, pieces)
    w.tensor("token_types.weight", WIDTH, 2)
    w.norm("token_embd_norm")
    for i in range(layers):
        b = "blk.%d." % i
        w.tensor(b + "attn_qkv.weight", WIDTH, 3 * WIDTH)
        w.tensor(b + "attn_output.weight", WIDTH, WIDTH)
        for name in ("ffn_up", "ffn_gate"):
            w.tensor(b + name + ".weight", WIDTH, INNER)
        w.tensor(b + "ffn_down.weight", INNER, WIDTH)
        w.norm(b + "attn_output_norm")
        w.norm(b + "layer_output_norm")


def decoder(w, layers, pieces, norms):
    w.tensor("token_embd.weight", WIDTH, pieces)
    w.norm("output_norm", False)
    for i in range(layers):
        b = "blk.%d." % i
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            w.tensor(b + name + ".weight", WIDTH, WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            w.tensor(b + name + ".weight", WIDTH, INNER)
        w.tensor(b + "ffn_down.weight", INNER, WIDTH)
        for name in ("attn_q_norm", "attn_k_norm"):
            w.norm(b + name, False, WIDTH // HEADS)
        for name in norms:
            w.norm(b + name, False)


def gemma(w, layers, context, pieces):
    decoder(w, layers, pieces, ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"))


def qwen3(w, layers, context, pieces):
    decoder(w, layers, pieces, ("attn_norm", "ffn_norm"))


# name: tensors, vocabulary, pooling, layers, name of the epsilon, key and value lengths
SHAPES = {
    "bert": (bert, wordpiece, 2, 2, "layer_norm_epsilon", False),
    "nomic-bert": (nomic, wordpiece, 1, 2, "layer_norm_epsilon", False),
    "gemma-embedding": (gemma, sentencepiece, 1, 6, "layer_norm_rms_epsilon", True),
    "qwen3": (qwen3, bytepair, 3, 2, "layer_norm_rms_epsilon", True),
}


def make(shape, path, **o):
    tensors, vocabulary, pooling, layers, epsilon, lengths = SHAPES[shape]
    layers, context = int(o.get("layers", layers)), int(o.get("context", 64))
    arch = o.get("arch", shape)
    w = Writer(int(o.get("seed", 1)))
    w.key("general.architecture", STRING, arch)
    w.key("general.name", STRING, o.get("name", "random " + shape))
    for name, value in (("block_count", layers), ("context_length", context), ("embedding_length", WIDTH),
                        ("feed_forward_length", INNER), ("attention.head_count", HEADS),
                        ("attention.head_count_kv", HEADS), ("pooling_type", int(o.get("pooling", pooling)))):
        w.key("%s.%s" % (arch, name), U32, value)
    w.key("%s.attention.%s" % (arch, epsilon), F32, 1e-6)
    w.key(arch + ".attention.causal", BOOL, shape == "qwen3")
    w.key(arch + ".rope.freq_base", F32, 10000.0)
    if lengths:
        w.key(arch + ".attention.key_length", U32, WIDTH // HEADS)
        w.key(arch + ".attention.value_length", U32, WIDTH // HEADS)
    if shape == "gemma-embedding":
        w.key(arch + ".attention.sliding_window", U32, 16)
    tokens, kinds = vocabulary(w)
    w.array("tokenizer.ggml.tokens", STRING, tokens)
    w.array("tokenizer.ggml.token_type", I32, kinds)
    tensors(w, layers, context, len(tokens))
    w.write(path)


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], **dict(a.split("=", 1) for a in sys.argv[3:]))
