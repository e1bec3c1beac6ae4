#!/usr/bin/env python3
"""Runs of the index that are killed while the provider is failing. Python's
standard library alone, 3.9 or later.

usage: killrun.py REMEM some|all

For rows of dialects.py: a provider answers with refusals, server errors, resets
and replies that are cut or late among good ones, and at its N-th request the
program is killed, before or right after the answer. Then the provider is well
again and the run is repeated. What is checked:

  the index answers exactly as one that was never disturbed
  no vector that was stored is asked for again

some: the first row of each form of reply, at points that are all different;
all: every row at all ten points.
"""
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import dialects
import provider

POINTS = 10
FAULTS = ["429", "good", "500", "reset", "good", "cut", "late", "good", "503", "good"]
QUESTIONS = ["number7 编号7号", "thing gateway", "支付网关", "号 number"]
KEY = "sk-test-000000"


class Play:
    """What the provider does for one program, and what it saw. Answers that
    are late are still counted for the program that asked."""
    def __init__(self, kill_at=0, faulty=False):
        self.lock = threading.Lock()
        self.process, self.kill_at, self.faulty = None, kill_at, faulty
        self.requests = self.billed = 0

    def next(self):
        with self.lock:
            self.requests += 1
            n = self.requests
            return n, FAULTS[(n + self.kill_at) % len(FAULTS)] if self.faulty else "good"

    def kill(self):
        with self.lock:
            if self.process:
                self.process.send_signal(signal.SIGKILL)

    def bill(self, texts):
        with self.lock:
            self.billed += texts


class Faulty(provider.Handler):
    now = Play()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        o = provider.Options(self.path)
        d = dialects.find(o["dialect"], o.get("model", "-"))
        now = Faulty.now
        n, fault = now.next()
        if n == now.kill_at and n % 2:
            now.kill()
            return
        try:
            texts, _, dims = dialects.check(d, self.path[len(o.key) + 1:], self.headers, request)
        except dialects.Wrong as w:
            self.reply(w.args[0], json.dumps({"error": {"message": w.args[1]}}))
            return
        vectors = [provider.vector(t, dims or 64) for t in texts]
        body = json.dumps(dialects.answer(d, request, vectors, sum(len(t) for t in texts)))
        try:
            self.play(now, fault, len(texts), body)
        finally:
            if n == now.kill_at:
                now.kill()

    def play(self, now, fault, texts, body):
        if fault == "late":
            time.sleep(0.4)
        if fault in ("good", "late"):
            now.bill(texts)
            self.reply(200, body)
        elif fault == "cut":
            self.cut_off(body)
        elif fault == "reset":
            self.close_connection = True
        else:
            self.reply(int(fault), json.dumps({"error": {"message": "not now"}}), wait=1)


class Case:
    def __init__(self, remem, row, port, folder):
        self.remem, self.row, self.folder = remem, row, folder
        self.notes = os.path.join(folder, "notes")
        options = "dialect=" + row["name"] + ("" if row["model"] == "-" else ",model=" + row["model"])
        self.config = {"memorySearch": {
            "provider": row["name"], "remote": {"baseUrl": "http://127.0.0.1:%d/%s" % (port, options), "apiKey": KEY},
            "embedding": {"maxBatchItems": 4, "concurrency": 2, "retryWaitMs": 1}}}
        if row["model"] != "-":
            self.config["memorySearch"]["model"] = row["model"]
        os.makedirs(os.path.join(self.notes, "memory"))
        with open(os.path.join(self.notes, "MEMORY.md"), "w", encoding="utf-8") as f:
            f.write("# Memory\n\n" + "".join(
                "- The %d-th thing is number%d, 编号%d号 %s\n" % (i, i, i, "支付网关" if i % 3 else "gateway") for i in range(22)))

    def home(self, name):
        home = os.path.join(self.folder, name)
        os.makedirs(os.path.join(home, ".config/remem"))
        with open(os.path.join(home, ".config/remem/config.yaml"), "w", encoding="utf-8") as f:
            json.dump(self.config, f)
        return home

    def command(self, home, *args, faulty=False, **more):
        env = {"HOME": home, "PATH": os.environ["PATH"], "REMEM_DAEMON_AUTO_START": "false",
               "REMEM_CPU": os.environ.get("REMEM_CPU", "")}
        if faulty:  # what is late is given up
            env["REMEM_EMBEDDING_BATCH_TIMEOUT_MS"] = "250"
        return subprocess.Popen([self.remem, "--workspace", self.notes, *args], env=env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def index(self, home, kill_at=0, faulty=False):
        self.play = Faulty.now = Play(kill_at, faulty)
        with self.play.lock:
            self.play.process = p = self.command(home, "index", "--json", faulty=faulty)
        out, errors = p.communicate(timeout=60)
        return p.returncode, out, errors

    def stored(self, home):
        n = 0
        for path in glob.glob(home + "/.cache/remem/*/gen-*/*.sqlite"):
            db = sqlite3.connect(path)
            n += db.execute("SELECT count(*) FROM embeddings").fetchone()[0]
            db.close()
        return n

    def picture(self, home):
        """All scores that follow from the vectors, and what is told of them."""
        p = self.command(home, "search", "--batch", stdin=subprocess.PIPE)
        lines = "".join(json.dumps({"query": q, "mode": "vector", "minScore": -1, "maxResults": 100}) + "\n"
                        for q in QUESTIONS)
        Faulty.now = Play()
        answers = [json.loads(line) for line in p.communicate(lines, timeout=60)[0].splitlines()]
        for a in answers:
            a.pop("tookMs")
            assert a["mode"] == "vector" and not a["degraded"], a
        assert len(answers) == len(QUESTIONS) and sum(len(a["results"]) for a in answers) > 20, answers
        return answers

    def point(self, whole, total, at):
        home = self.home("point-%d" % at)
        code, _, errors = self.index(home, at, True)
        killed = code == -signal.SIGKILL
        assert killed or self.play.requests < at, (code, self.play.requests, errors)
        before = self.stored(home)
        code, out, errors = self.index(home)
        assert code == 0, (out, errors)
        # One tiny text for the dimensions of a new set, and one alone for the
        # check that batches are not mixed up.
        assert self.play.billed <= total - before + 2, (self.play.billed, total, before)
        assert self.stored(home) == total
        assert self.picture(home) == whole, "the index is another one"
        shutil.rmtree(home)
        return killed, before


def run(remem, row, port, points):
    with tempfile.TemporaryDirectory() as folder:
        case = Case(remem, row, port, folder)
        home = case.home("whole")
        code, out, errors = case.index(home)
        assert code == 0, (out, errors)
        whole, total = case.picture(home), case.stored(home)
        seen = [case.point(whole, total, at) for at in points]
    print("%s %s: killed %d of %d times, %s of %d vectors stored then" % (
        row["name"], row["model"], sum(k for k, _ in seen), len(seen), ",".join(str(b) for _, b in seen), total))
    return sum(k for k, _ in seen)


def main():
    remem, much = sys.argv[1:]
    server = provider.Server(("127.0.0.1", 0), Faulty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seen, killed, rows = set(), 0, 0
    for row in dialects.DIALECTS:
        points = list(range(1, POINTS + 1))
        if much != "all":
            if row["form"] in seen:
                continue
            points = points[len(seen)::5]
        seen.add(row["form"])
        killed += run(remem, row, server.server_address[1], points)
        rows += 1
    # Runs that are over before their point prove nothing.
    assert killed >= rows, killed
    print("%d rows, %d kills" % (rows, killed))


if __name__ == "__main__":
    sys.exit(main())
