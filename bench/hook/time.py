#!/usr/bin/env python3
"""time.py REMEM: see bench/hook/run."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

REPEATS = 25
# milliseconds that a host's user waits at most
COLD_BAR, WARM_BAR = 60, 15


def run(argv, env, cwd, text):
    start = time.monotonic()
    out = subprocess.run(argv, env=env, cwd=cwd, input=text.encode(), capture_output=True, check=True).stdout
    return (time.monotonic() - start) * 1000, out


def main():
    remem = sys.argv[1]
    with tempfile.TemporaryDirectory() as home:
        ws = os.path.join(home, "notes")
        subprocess.run([sys.executable, "bench/gen-notes.py", ws, "2000"], check=True)
        with open(os.path.join(ws, "MEMORY.md"), "a") as f:
            f.write("\n- Deploys happen on Tuesdays <!-- trigger: deploy, 部署 -->\n")
        env = {"HOME": home, "PATH": os.environ["PATH"], "REMEM_WORKSPACE": ws}
        subprocess.run([remem, "index", "--text-only", "--quiet"], env=env, cwd=ws, check=True,
                       stdout=subprocess.DEVNULL)
        event = lambda prompt, n: json.dumps({"session_id": "s%d" % n, "cwd": ws, "prompt": prompt})
        jobs = [
            ("the program alone (version)", [remem, "version"], lambda n: ""),
            ("remem search --mode text", [remem, "search", "--mode", "text", "deploy"], lambda n: ""),
            ("hook session-start", [remem, "hook", "claude-code", "session-start"], lambda n: event("", n)),
            ("hook prompt, trigger", [remem, "hook", "claude-code", "prompt"], lambda n: event("now deploy it", n)),
            ("hook prompt, searched", [remem, "hook", "claude-code", "prompt"],
             lambda n: event("what did we decide last time about the index?", n)),
            ("hook prompt, small talk", [remem, "hook", "claude-code", "prompt"], lambda n: event("ok", n)),
        ]
        base = None
        print("%-30s %8s %8s %8s %8s" % ("", "first", "best", "median", "ratio"))
        for name, argv, text in jobs:
            times = [run(argv, env, ws, text(n))[0] for n in range(REPEATS)]
            best = min(times[1:])
            base = base or best
            print("%-30s %8.1f %8.1f %8.1f %8.1f" % (name, times[0], best, statistics.median(times[1:]), best / base))
        print("bars: first (cold) %d ms, then %d ms; ratio to starting the program" % (COLD_BAR, WARM_BAR))


if __name__ == "__main__":
    main()
