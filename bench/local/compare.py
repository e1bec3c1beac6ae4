#!/usr/bin/env python3
"""The table of bench/local/run. Each way is measured in turn, round by round,
and the fastest round counts, since other programs run too."""
import os
import subprocess
import sys
import time

HERE = os.path.dirname(__file__)
LINES = 120
LATIN = "The gateway loads its settings again at night and says in its log what it found there, entry %d. "
HAN = "网关每晚重新读取用户目录里的设置并在日志里写下读到了哪些文件 %d "


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **more).stdout.decode()


def ours(remem, folder, text):
    """Seconds of our encoder for the lines, its start taken off."""
    def once(data):
        t = time.monotonic()
        run(remem, "--workspace", folder, "--set", "memorySearch.embedding.threads=1", "embed",
            "--provider", "builtin", input=data, env=dict(os.environ, HOME=folder), stderr=subprocess.DEVNULL)
        return time.monotonic() - t
    return once(text) - once(b"a\n")


def main():
    remem, libraries, model, folder, rounds = sys.argv[1:6]
    os.mkdir(os.path.join(folder, "memory"))
    path = os.path.join(folder, "lines")
    with open(path, "w", encoding="utf-8") as f:
        for i in range(LINES):
            f.write((LATIN if i % 2 else HAN) % i * (1 + i % 4) + "\n")
    with open(path, "rb") as f:
        text = f.read()
    best = {"encoder": 1e9, "worker": 1e9, "bare": 1e9}
    start = cpu = bare_start = 1e9
    for _ in range(int(rounds)):
        best["encoder"] = min(best["encoder"], ours(remem, folder, text))
        w = run(sys.executable, os.path.join(HERE, "worker.py"), remem, libraries, model, path, "1").split()
        b = run("build/bench/local_bare", libraries, model, path, "1").split()
        best["worker"] = min(best["worker"], float(w[1]))
        best["bare"] = min(best["bare"], float(b[1]))
        start, cpu, bare_start = min(start, float(w[2])), min(cpu, float(w[3])), min(bare_start, float(b[2]))
    tokens = int(w[0])
    print("tokens %d" % tokens)
    for name in ("worker", "bare", "encoder"):
        print("%-8s %6.0f tokens/s" % (name, tokens / best[name]))
    print("worker against llama.cpp's bare loop: %.2f x; against our encoder: %.2f x"
          % (best["bare"] / best["worker"], best["encoder"] / best["worker"]))
    print("start: worker %.2f s (processor %.2f s; bar 1.2), bare llama.cpp %.2f s" % (start, cpu, bare_start))
    print("memory, MB: kept %s anonymous and %s of files; at most %s anonymous (bar 300), %s in all" % tuple(w[4:8]))


if __name__ == "__main__":
    main()
