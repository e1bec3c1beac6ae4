#!/usr/bin/env python3
"""Measures remem's embedding worker. worker.py REMEM LIBRARIES MODEL LINES
ROUNDS [load-key=JSON...] prints, on one line: tokens, seconds of the fastest
round, seconds of the start (the fastest of three), processor seconds of a
start, MB kept (anonymous, of files), MB at most (anonymous, all)."""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../test/server"))
from worker_client import Worker  # noqa: E402


class Peak(threading.Thread):
    """The largest anonymous memory, looked at every 2 ms."""

    def __init__(self, worker):
        super().__init__(daemon=True)
        self.worker, self.most, self.stop = worker, 0, False

    def run(self):
        while not self.stop:
            self.most = max(self.most, self.worker.memory()["RssAnon"])
            time.sleep(0.002)


def main():
    remem, libraries, model, lines, rounds = sys.argv[1:6]
    more = {k: json.loads(v) for k, v in (a.split("=", 1) for a in sys.argv[6:])}
    with open(lines, "rb") as f:
        texts = f.read().split(b"\n")[:-1]
    start = cpu = best = 1e9
    for i in range(3):
        t = time.monotonic()
        w = Worker(remem)
        w.load(libraries, model, **more)
        start = min(start, time.monotonic() - t)
        cpu = min(cpu, w.cpu())
        if i < 2:
            w.end()
    peak = Peak(w)
    peak.start()
    w.embed([b"x " * 300])  # a whole window
    peak.stop = True
    peak.join()
    for _ in range(int(rounds)):
        t = time.monotonic()
        tokens = sum(n for n, _ in w.embed(texts))
        best = min(best, time.monotonic() - t)
    m = w.memory()
    print("%d %.4f %.3f %.2f %.0f %.0f %.0f %.0f" % (tokens, best, start, cpu, m["RssAnon"], m["RssFile"],
                                                    max(peak.most, m["RssAnon"]), m["VmHWM"]))
    w.end()


if __name__ == "__main__":
    main()
