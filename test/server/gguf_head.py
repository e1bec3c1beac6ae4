#!/usr/bin/env python3
"""Writes a GGUF file with the keys of a small bert and no tensors: what is
read of a model without running it. gguf_head.py FILE"""
import struct
import sys


def string(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


keys = [("general.architecture", "bert"), ("general.name", "tiny"), ("bert.embedding_length", 8),
        ("bert.context_length", 64), ("bert.block_count", 1), ("bert.pooling_type", 1)]
out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
for name, value in keys:
    out += string(name)
    out += struct.pack("<I", 8) + string(value) if isinstance(value, str) else struct.pack("<II", 4, value)
with open(sys.argv[1], "wb") as f:
    f.write(out + bytes(64))
