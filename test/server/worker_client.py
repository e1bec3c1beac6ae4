#!/usr/bin/env python3
"""Talks to remem's embedding worker as remem does (src/embed/wire.h), for
tests and measurements."""
import json
import os
import struct
import subprocess

MAGIC = 0x314D4552
LOAD, EMBED, INFO, VECTOR, REFUSED, DONE, ERROR = range(1, 8)


class Failed(Exception):
    """The worker refused, or is gone."""


class Worker:
    def __init__(self, remem):
        self.p = subprocess.Popen([remem, "embed-worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, kind, body):
        self.number += 1
        self.p.stdin.write(struct.pack("<IIII", MAGIC, kind, self.number, len(body)) + body)
        self.p.stdin.flush()

    def frame(self):
        head = self.p.stdout.read(16)
        if len(head) < 16:
            raise Failed("the worker died")
        _, kind, _, size = struct.unpack("<IIII", head)
        body = self.p.stdout.read(size)
        if kind in (ERROR, REFUSED):
            raise Failed(body.decode(errors="replace"))
        return kind, body

    def load(self, libraries, model, **more):
        self.send(LOAD, json.dumps(dict({"model": model, "libraries": libraries, "window": 268, "threads": 1,
                                         "pooling": -1, "nfkc": True}, **more)).encode())
        return json.loads(self.frame()[1])

    def embed(self, texts):
        """[(tokens, vector)] of the texts, which are bytes."""
        self.send(EMBED, struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(t)) + t for t in texts))
        out = []
        while True:
            kind, body = self.frame()
            if kind == DONE:
                return out
            tokens = struct.unpack_from("<II", body)[1]
            out.append((tokens, struct.unpack_from("<%df" % (len(body) // 4 - 2), body, 8)))

    def memory(self):
        with open("/proc/%d/status" % self.p.pid) as f:
            rows = dict(line.split(":", 1) for line in f)
        return {k: int(rows[k].split()[0]) / 1024 for k in ("RssAnon", "RssFile", "VmHWM")}

    def cpu(self):
        with open("/proc/%d/stat" % self.p.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.p.stdin.close()
        self.p.wait()
