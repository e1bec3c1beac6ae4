#!/usr/bin/env python3
"""An embedding worker for tests: speaks the protocol of src/embed/wire.h
without llama.cpp. How it behaves stands in the name of the model's file, in
words between dots: "x.dies=BOOM.gguf".

  dies=WORD     ends by SIGABRT at a text that has WORD in it
  dies1=WORD    the same, but only the first time (a file beside the model
                remembers)
  hangs=WORD    never answers such a text
  nan=WORD      gives numbers that are none for it
  refuses=WORD  says that it cannot
  deaf          ends while it loads
  no            refuses the model
  garbage       answers texts with something else
  dims=N        vectors of N dimensions (8)
  grows         one dimension more with each start
  short         vectors shorter than it said
  stranger      answers with the number of another request
  skips         leaves out the second text
  slow          loads only when the file beside the model is gone
  noisy         prints to standard error, a great deal
"""
import json
import os
import signal
import struct
import sys
import time

MAGIC = 0x314D4552
LOAD, EMBED, INFO, VECTOR, REFUSED, DONE, ERROR = range(1, 8)


def read(n):
    out = b""
    while len(out) < n:
        piece = os.read(0, n - len(out))
        if not piece:
            sys.exit(0)
        out += piece
    return out


def send(kind, number, body=b""):
    data = struct.pack("<IIII", MAGIC, kind, number, len(body)) + body
    while data:
        data = data[os.write(1, data):]


def die(why):
    os.write(2, ("%s\n" % why).encode())
    os.kill(os.getpid(), signal.SIGABRT)


class Worker:
    def __init__(self):
        self.modes = {}
        self.dims = 8
        self.beside = ""

    def count(self, what):
        with open(self.beside + "." + what, "a+") as f:
            f.write("x")
            f.flush()
            f.seek(0)
            return len(f.read())

    def load(self, number, o):
        name = os.path.basename(o["model"])
        self.beside = o["model"]
        for word in name.split(".")[1:-1]:
            key, _, value = word.partition("=")
            self.modes[key] = value
        starts = self.count("starts")
        self.dims = int(self.modes.get("dims", 8)) + (starts if "grows" in self.modes else 0)
        if "deaf" in self.modes:
            die("ASSERT(layers) failed")
        if "noisy" in self.modes:
            os.write(2, b"noise\n" * 200000)
        while "slow" in self.modes and os.path.exists(self.beside + ".wait"):
            time.sleep(0.01)
        if "no" in self.modes:
            send(ERROR, number, b"a model of no kind")
            return
        send(INFO, number, json.dumps({"release": "fake", "dims": self.dims, "window": o["window"],
                                       "pooling": o["pooling"]}).encode())

    def has(self, mode, text):
        return mode in self.modes and self.modes[mode].encode() in text

    def text(self, number, i, text):
        m = self.modes
        if self.has("dies", text):
            die("ASSERT(n_tokens) failed: 坏")
        if self.has("dies1", text) and self.count("deaths") == 1:
            die("once")
        if self.has("hangs", text):
            time.sleep(3600)
        if self.has("refuses", text):
            send(REFUSED, number, struct.pack("<I", i) + b"not this\none")
            return
        if "garbage" in m:
            os.write(1, b"llama says hello to everybody")
            return
        if "skips" in m and i == 1:
            return
        # First the length, then a checksum of the bytes: a test can tell.
        v = [float(len(text)), float(sum(text) % 251)] + [1.0] * (self.dims - 2)
        if self.has("nan", text):
            v[1] = float("nan")
        if "short" in m:
            v.pop()
        send(VECTOR, number + (7 if "stranger" in m else 0),
             struct.pack("<II", i, len(text)) + struct.pack("<%df" % len(v), *v))

    def embed(self, number, body):
        (n,) = struct.unpack_from("<I", body)
        at = 4
        for i in range(n):
            (size,) = struct.unpack_from("<I", body, at)
            self.text(number, i, body[at + 4:at + 4 + size])
            at += 4 + size
        send(DONE, number)

    def run(self):
        while True:
            magic, kind, number, size = struct.unpack("<IIII", read(16))
            assert magic == MAGIC
            body = read(size)
            if kind == LOAD:
                self.load(number, json.loads(body))
            else:
                self.embed(number, body)


if len(sys.argv) != 2 or sys.argv[1] != "embed-worker":
    sys.exit(2)
Worker().run()
