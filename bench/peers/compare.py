#!/usr/bin/env python3
"""Times peers and remem in turns; prints a Markdown table. See bench/peers/run.

All search by keywords alone, so that no model's speed is compared: index of the
same notes from nothing, then one question asked by a program that was just
started. Vectors: the nearest of 100,000 of 384 dimensions.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REMEM = os.path.join(ROOT, "build", "remem")
# Pinned, so that figures can be repeated.
PACKAGES = {
    "node": "24",
    "openclaw": "2026.9.6",
    "@tobilu/qmd": "2.8.3",
    "sqlite-vec": "0.1.9",
}
LIMIT_S = 1800  # of one command


class Failed(Exception):
    pass


class Bench:
    def __init__(self, folder, files, turns):
        self.folder, self.turns = folder, turns
        self.notes = os.path.join(folder, "notes-%d" % files)
        self.rows = []
        if not os.path.isdir(self.notes):
            subprocess.run([sys.executable, os.path.join(ROOT, "bench/gen-notes.py"),
                            self.notes, str(files)], check=True, stdout=subprocess.DEVNULL)
        self.query = self.question()

    def question(self):
        """The first four words of a line in the middle of the notes."""
        names = sorted(os.path.join(d, f) for d, _, fs in os.walk(self.notes) for f in fs)
        for name in names[len(names) // 2:]:
            with open(name, encoding="utf-8") as f:
                for line in f:
                    words = line.strip("-# \n.").split()
                    if line.startswith("- ") and line.isascii() and len(words) > 8:
                        return " ".join(words[:4])
        raise Failed("no question")

    def install(self, package):
        """The folder of the package's node_modules; a failure says why."""
        place = os.path.join(self.folder, package.replace("/", "-"))
        if not os.path.exists(os.path.join(place, "done")):
            shutil.rmtree(place, ignore_errors=True)
            os.makedirs(place)
            with open(os.path.join(place, "package.json"), "w", encoding="utf-8") as f:
                f.write("{}")
            self.call(["npm", "install", "--no-audit", "--no-fund", "--silent",
                       "%s@%s" % (package, PACKAGES[package])], cwd=place)
            open(os.path.join(place, "done"), "w", encoding="utf-8").close()
        return os.path.join(place, "node_modules")

    def env(self, name):
        """A fresh home, and the Node that was installed."""
        home = os.path.join(self.folder, "home-" + name)
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home)
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("XDG_", "REMEM_", "OPENCLAW_", "QMD_"))}
        env["HOME"] = home
        env["NO_COLOR"] = "1"
        node = os.path.join(self.folder, "node", "node_modules", "node", "bin")
        env["PATH"] = node + os.pathsep + env["PATH"]
        return env

    def call(self, argv, env=None, cwd=None):
        """Seconds that a command took."""
        start = time.monotonic()
        done = subprocess.run(argv, env=env, cwd=cwd, timeout=LIMIT_S, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        took = time.monotonic() - start
        if done.returncode:
            raise Failed("%s: %s" % (" ".join(argv[:4]), (done.stderr or done.stdout)[-300:]))
        self.said = done.stdout
        return took

    def row(self, peer, what, theirs, ours):
        """theirs, ours: seconds of each turn."""
        self.rows.append((peer, what, theirs, ours))
        print("%s, %s: done" % (peer, what), file=sys.stderr)

    def turns_of(self, peer, what, theirs, ours):
        times = [], []
        for _ in range(self.turns):
            times[0].append(theirs())
            times[1].append(ours())
        self.row(peer, what, *times)

    def remem(self, *argv, env=None):
        return self.call([REMEM, "-w", self.notes, *argv], env=env)

    def remem_index(self):
        return self.remem("-q", "index", "--text-only", env=self.env("remem"))

    def remem_search(self):
        env = dict(os.environ, HOME=os.path.join(self.folder, "home-remem"))
        env = {k: v for k, v in env.items() if not k.startswith(("XDG_", "REMEM_"))}
        return self.remem("search", "--mode", "text", "--", self.query, env=env)


def ripgrep(b):
    """Lines with any word of the question, which is not ranked."""
    if not shutil.which("rg"):
        raise Failed("no 'rg': install the package ripgrep")
    words = [a for w in b.query.split() for a in ("-e", w)]
    argv = ["rg", "-i", "-F", "-n", *words, b.notes]
    b.call(argv)
    b.remem_index()
    b.turns_of("ripgrep 13", "one question", lambda: b.call(argv), b.remem_search)


def node(b):
    b.install("node")


def openclaw(b):
    node(b)
    program = os.path.join(b.install("openclaw"), "openclaw", "openclaw.mjs")
    env = {}

    def index():
        env.update(b.env("openclaw"))
        place = os.path.join(env["HOME"], ".openclaw")
        os.makedirs(place)
        with open(os.path.join(place, "openclaw.json"), "w", encoding="utf-8") as f:
            json.dump({"agents": {"defaults": {"workspace": b.notes}},
                       "memory": {"search": {"provider": "none"}}}, f)
        # makes its state, which is no part of the index
        b.call(["node", program, "memory", "status"], env=env)
        return b.call(["node", program, "memory", "index"], env=env)

    def search():
        took = b.call(["node", program, "memory", "search", "--query", b.query], env=env)
        if "memory/" not in b.said:
            raise Failed("openclaw found nothing")
        return took

    label = "OpenClaw " + PACKAGES["openclaw"]
    b.row(label, "first index", [index()], [b.remem_index()])
    b.turns_of(label, "one question", search, b.remem_search)


def qmd(b):
    node(b)
    program = os.path.join(b.install("@tobilu/qmd"), ".bin", "qmd")
    env = {}

    def index():
        env.update(b.env("qmd"))
        return b.call([program, "collection", "add", b.notes, "--name", "notes"], env=env)

    def search():
        took = b.call([program, "search", b.query, "--json"], env=env)
        if "qmd://" not in b.said:
            raise Failed("qmd found nothing")
        return took

    label = "QMD " + PACKAGES["@tobilu/qmd"]
    b.turns_of(label, "first index", index, b.remem_index)
    b.turns_of(label, "one question", search, b.remem_search)


VEC_JS = """
const { DatabaseSync } = require('node:sqlite');
const [so, type, turns] = process.argv.slice(2);
const db = new DatabaseSync(':memory:', { allowExtension: true });
db.loadExtension(so);
db.exec(`create virtual table v using vec0(e ${type}[384])`);
const width = type === 'int8' ? 384 : 1536;
const wrap = type === 'int8' ? 'vec_int8(?)' : '?';
const put = db.prepare(`insert into v(e) values (${wrap})`);
let s = 88172645;
const next = () => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 4294967296 - 0.5;
const row = () => type === 'int8' ? Int8Array.from({ length: 384 }, () => next() * 254)
    : Float32Array.from({ length: 384 }, next);
const bytes = (v) => new Uint8Array(v.buffer, 0, width);
db.exec('begin');
for (let i = 0; i < 100000; i++) put.run(bytes(row()));
db.exec('commit');
const ask = db.prepare(`select rowid from v where e match ${wrap} and k = 200 order by distance`);
const out = [];
for (let i = -1; i < +turns; i++) {
    const q = bytes(row()), t = process.hrtime.bigint();
    if (ask.all(q).length !== 200) throw new Error('too few');
    if (i >= 0) out.push(Number(process.hrtime.bigint() - t) / 1e9);
}
console.log(JSON.stringify(out));
"""


def sqlite_vec(b):
    node(b)
    modules = b.install("sqlite-vec")
    so = [os.path.join(d, f) for d, _, fs in os.walk(modules) for f in fs if f == "vec0.so"]
    if not so:
        raise Failed("sqlite-vec has no library for this machine")
    script = os.path.join(b.folder, "vec.js")
    with open(script, "w", encoding="utf-8") as f:
        f.write(VEC_JS)
    for kind in ("float", "int8"):
        b.call(["node", script, so[0], kind, str(b.turns)], env=b.env("vec"))
        theirs = json.loads(b.said.splitlines()[-1])
        b.call([REMEM, "bench", "--json", "--notes", "10", "--repeat", str(b.turns),
                "--vectors", "100000x384"], env=b.env("vec"))
        mine = json.loads(b.said)["benchmarks"][0]
        b.row("sqlite-vec %s, %s" % (PACKAGES["sqlite-vec"], kind),
              "nearest 200 of 100,000 × 384", theirs,
              [mine[k] / 1e3 for k in ("low", "value", "high")])


PEERS = {"openclaw": openclaw, "qmd": qmd, "sqlite-vec": sqlite_vec, "ripgrep": ripgrep}


def shown(seconds):
    v = statistics.median(seconds)
    unit, by = ("s", 1) if v >= 1 else ("ms", 1e3)
    text = "%.3g %s" % (v * by, unit)
    if len(seconds) > 1:
        text += " (%.3g–%.3g)" % (min(seconds) * by, max(seconds) * by)
    return text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--files", type=int, default=1000)
    p.add_argument("--turns", type=int, default=5)
    p.add_argument("--keep", metavar="DIR")
    p.add_argument("peer", nargs="*", metavar="PEER")
    a = p.parse_args()
    unknown = [n for n in a.peer if n not in PEERS]
    if unknown:
        p.error("no peer '%s'; there are %s" % (unknown[0], ", ".join(PEERS)))
    folder = a.keep or tempfile.mkdtemp(prefix="remem-peers-")
    folder = os.path.abspath(folder)
    os.makedirs(folder, exist_ok=True)
    failed = 0
    try:
        b = Bench(folder, a.files, a.turns)
        for name in a.peer or PEERS:
            try:
                PEERS[name](b)
            except (Failed, OSError, subprocess.TimeoutExpired) as e:
                print("%s: left out: %s" % (name, e), file=sys.stderr)
                failed = 1
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("| %d files, median of %d turns (range) | peer | remem | ratio |\n|---|---|---|---|"
          % (a.files, a.turns))
    for peer, what, theirs, ours in b.rows:
        print("| %s: %s | %s | %s | %.3g × |" % (
            peer, what, shown(theirs), shown(ours),
            statistics.median(theirs) / statistics.median(ours)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
