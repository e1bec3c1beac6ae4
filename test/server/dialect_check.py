#!/usr/bin/env python3
"""The program against every row of dialects.py; one process for all of them.

usage: dialect_check.py REMEM speak|errors

speak    notes and questions, their kinds, dimensions, the right hit
errors   what the provider of each form says is told with its reason, the key
         never, and answers go by words
"""
import json
import os
import subprocess
import sys
import tempfile
import threading

import dialects
import provider

KEY = "sk-test-000000"


class Case:
    def __init__(self, remem, port, folder):
        self.remem, self.port, self.folder = remem, port, folder
        self.notes, self.home = folder + "/notes", folder + "/home"
        self.log = provider.Handler.log_file = folder + "/log"
        os.makedirs(self.notes + "/memory")
        os.makedirs(self.home + "/.config/remem")
        self.write("MEMORY.md", "# Memory\n\n- The gateway waits 30 seconds\n- 小王负责支付网关\n")
        self.write("memory/2026-03-01.md", "# 2026-03-01\n\n- Ann moved to Berlin\n- 下周一上线索引服务\n")

    def write(self, name, text):
        with open(os.path.join(self.notes, name), "w", encoding="utf-8") as f:
            f.write(text)

    def settle(self, row, options="", **more):
        address = "dialect=" + row["name"] + ("" if row["model"] == "-" else ",model=" + row["model"]) + options
        settings = dict(provider=row["name"], remote={"baseUrl": "http://127.0.0.1:%d/%s" % (self.port, address),
                                                      "apiKey": KEY}, **more)
        if row["model"] != "-":
            settings["model"] = row["model"]
        with open(self.home + "/.config/remem/config.yaml", "w", encoding="utf-8") as f:
            json.dump({"memorySearch": settings}, f)

    def run(self, *args):
        """The answer, the exit code, and the requests that it took."""
        open(self.log, "w").close()
        p = subprocess.run([self.remem, "--workspace", self.notes, *args, "--json"], check=False, text=True,
                           env={"HOME": self.home, "PATH": os.environ["PATH"], "REMEM_DAEMON_AUTO_START": "false"},
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        assert KEY not in p.stdout + p.stderr, "the key is told"
        with open(self.log, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
        return json.loads(p.stdout), p.returncode, rows


def speak(case, row):
    asks = row["dims"] != "-"
    case.settle(row, **({"outputDimensionality": 32} if asks else {}))
    d, code, rows = case.run("index")
    assert code == 0 and d["vectors"]["pending"] == 0 and d["vectors"]["done"] == 24, d
    assert rows and all(r["status"] == 200 and r["kind"] == row["document"] for r in rows), rows
    assert not asks or all(r["dims"] == 32 for r in rows), rows
    d, code, rows = case.run("search", "number7 编号7号")
    assert (d["mode"], d["provider"], d["degraded"]) == ("hybrid", row["name"], None), d
    assert d["results"][0]["path"] == "memory/note-7.md", d
    assert len(rows) == 1 and rows[0]["kind"] == row["query"], rows


def errors(case, row):
    for what, status in ("model", 404), ("key", 40), ("quota", ""):
        if not row["key"] and what != "model":
            continue
        case.settle(row, ",says=" + what)
        d, code, rows = case.run("index")
        assert code == 3 and not d["vectors"]["done"] and not d["vectors"]["refused"], d
        assert "HTTP %s" % status in d["degraded"], d
        assert len(rows) <= 3, rows
        d, code, rows = case.run("search", "Berlin")
        assert code == 0 and d["results"][0]["path"] == "memory/2026-03-01.md", d
        assert "HTTP %s" % status in d["degraded"]["detail"], d


def main():
    remem, what = sys.argv[1:]
    server = provider.Server(("127.0.0.1", 0), provider.Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(remem, server.server_address[1], folder)
        for i in range(1, 21) if what == "speak" else ():
            case.write("memory/note-%d.md" % i, "# %d\n\nThe %d-th thing is number%d and 编号%d号事情\n" % (i, i, i, i))
        for row in dialects.DIALECTS:
            if what == "errors" and row["form"] in seen:
                continue
            seen.add(row["form"])
            print(row["name"], row["model"], flush=True)
            (speak if what == "speak" else errors)(case, row)
    print("all well")


if __name__ == "__main__":
    sys.exit(main())
