#!/usr/bin/env python3
"""Judges retrieval on the shared sets: index each workspace once, ask every
question through `remem search --batch`, score, compare with the floors.

usage: eval.py [--sets workday,zhqa] [--modes text,hybrid] [--program build/remem]

The sets are looked for in $REMEM_EVAL_DATA, else ../shared/data, the evaluator
beside them in ../eval. Copies of the workspaces, their indexes with the vectors
and all runs stay in build/eval, so that a second run embeds nothing: sets hold
about two million tokens. Delete that folder to begin anew.

Each mode is asked twice: without the threshold, for recall and order, and with
the default one, for abstention and for what the threshold costs.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "build", "eval")
DATA = os.environ.get("REMEM_EVAL_DATA") or os.path.join(ROOT, "..", "shared", "data")
RESULTS = 10
COLUMNS = ("R@1", "R@6", "R@10", "MRR", "nDCG10", "R@2000ch", "current1st", "stale@6", "abstain")

# (mode, set, kind, figure, at least): the contract's floors.
FLOORS = (
    ("text", "zhqa", "hans", "R@6", .98), ("text", "zhqa", "hant", "R@6", .98),
    ("text", "zhqa", "hans2hant", "R@6", .97), ("text", "memorybank-zh", "ALL", "R@1", .78),
    ("text", "locomo", "ALL", "R@6", .80), ("text", "locomo", "ALL", "R@2000ch", .74),
    ("text", "tldr-commands", "code", "R@6", .98), ("text", "tldr-commands", "zh2en-named", "R@6", .95),
    ("text", "workday", "exact-id", "R@6", 1.0),
    ("hybrid", "zhqa", "hans", "R@6", .98), ("hybrid", "zhqa", "hant", "R@6", .98),
    ("hybrid", "zhqa", "hans2hant", "R@6", .98), ("hybrid", "tldr-commands", "ALL", "R@6", .965),
    ("hybrid", "memorybank-zh", "ALL", "R@1", .93), ("hybrid", "memorybank-zh", "ALL", "R@6", .985),
    ("hybrid", "xquad-en-zh", "ALL", "R@6", .96), ("hybrid", "xquad-en-zh", "zh2en", "R@6", .90),
    ("hybrid", "xquad-en-zh", "en2zh", "R@6", .94), ("hybrid", "locomo", "ALL", "R@6", .83),
    ("hybrid", "locomo", "ALL", "R@2000ch", .765), ("hybrid", "workday", "ALL", "R@6", .73),
    ("hybrid", "workday", "crossling-zh2en", "R@6", .66), ("hybrid", "workday", "crossling-en2zh", "R@6", .70),
    ("hybrid", "workday", "exact-id", "R@6", 1.0), ("hybrid", "workday", "temporal", "current1st", .65),
    ("hybrid", "workday", "evergreen", "current1st", .60),
)
THRESHOLD_MAY_COST = .01
HYBRID_MAY_LOSE = .005


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("REMEM_", "XDG_"))}
    for name in ("cache", "state", "config"):
        env["XDG_%s_HOME" % name.upper()] = os.path.join(WORK, name)
    for name in ("REMEM_CPU", "REMEM_TRACE"):
        if name in os.environ:
            env[name] = os.environ[name]
    return env


def lines_of(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(x) for x in f if x.strip()]


def workspace(data, set_name, ws):
    """A copy that stays, so that its index is found again."""
    there = os.path.join(WORK, "workspaces", set_name, ws)
    if not os.path.isdir(there):
        shutil.copytree(os.path.join(data, set_name, "workspaces", ws), there + ".new")
        subprocess.call(["chmod", "-R", "u+w", there + ".new"])
        os.rename(there + ".new", there)
    return there


def index(program, there, modes):
    command = [program, "--workspace", there, "index"]
    if modes == ["text"]:
        command += ["--text-only"]
    start = time.monotonic()
    if subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL, check=False).returncode not in (0, 3):
        sys.exit("eval: '%s' failed" % " ".join(command))
    return time.monotonic() - start


def ask(program, there, queries, mode, cut):
    lines = []
    for q in queries:
        line = {"id": q["query_id"], "query": q["query"], "maxResults": RESULTS, "mode": mode}
        if q.get("now"):
            line["now"] = q["now"]
        if not cut:
            line["minScore"] = -1
        lines.append(json.dumps(line, ensure_ascii=False))
    p = subprocess.run([program, "--workspace", there, "search", "--batch"], input="\n".join(lines) + "\n",
                       env=environment(), stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if p.returncode not in (0, 3):
        sys.exit("eval: search in '%s' failed" % there)
    answers = {}
    for line in p.stdout.splitlines():
        a = json.loads(line)
        answers[a.get("id")] = a
    return answers


def run_line(q, answer):
    hits = [{k: h[k] for k in ("path", "startLine", "endLine", "score") if k in h} for h in answer.get("results", [])]
    for h, full in zip(hits, answer.get("results", [])):
        # The evaluator compares top scores of questions: relevance says how sure it is.
        h["score"] = full.get("relevance", full.get("score"))
        if full.get("flags"):
            h["flags"] = full["flags"]
    return json.dumps({"query_id": q["query_id"], "results": hits}, ensure_ascii=False)


def judge(data, set_name, run, evaluator):
    p = subprocess.run([sys.executable, evaluator, os.path.join(data, set_name), run, "--json", "--boot", "200"],
                       stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if p.returncode:
        sys.exit("eval: the evaluator failed on '%s'" % run)
    return json.loads(p.stdout)


def evaluate_set(a, data, set_name, evaluator):
    """{(mode, cut): report}"""
    queries = lines_of(os.path.join(data, set_name, "queries.jsonl"))
    spaces = sorted({q["workspace"] for q in queries})
    there = {ws: workspace(data, set_name, ws) for ws in spaces}
    seconds = sum(index(a.program, there[ws], a.modes) for ws in spaces)
    reports, spent = {}, {}
    for mode in a.modes:
        for cut in (False, True):
            start, wrong, degraded = time.monotonic(), 0, 0
            path = os.path.join(WORK, "runs", "%s.%s%s.jsonl" % (set_name, mode, ".cut" if cut else ""))
            with open(path, "w", encoding="utf-8") as out:
                for ws in spaces:
                    mine = [q for q in queries if q["workspace"] == ws]
                    answers = ask(a.program, there[ws], mine, mode, cut)
                    for q in mine:
                        answer = answers.get(q["query_id"], {"ok": False})
                        wrong += answer.get("ok") is False
                        degraded += bool(answer.get("degraded"))
                        out.write(run_line(q, answer) + "\n")
            spent[mode] = (time.monotonic() - start) / len(queries) * 1000
            if wrong or degraded:
                print("%s %s: %d questions failed, %d answers degraded" % (set_name, mode, wrong, degraded))
            reports[mode, cut] = judge(data, set_name, path, evaluator)
    print("\n%s: %d questions, index %.1f s, %s" % (set_name, len(queries), seconds, ", ".join(
        "%s %.1f ms a question" % (m, spent[m]) for m in a.modes)))
    return reports


def show(set_name, reports):
    width = 18
    for (mode, cut), report in sorted(reports.items()):
        title = mode + (" with threshold" if cut else "")
        print("  %-22s%6s" % (title, "n"), *[c.rjust(9) for c in COLUMNS])
        for kind, rep in report["kinds"].items():
            if cut and kind != "ALL" and "abstain" not in rep:
                continue
            print("    %-*s%8d" % (width + 2, kind, rep["n"]), *[("%.3f" % rep[c][0] if c in rep else "-").rjust(9) for c in COLUMNS])
        if "auroc" in report:
            print("    auroc %.3f, rej@95 %.3f" % (report["auroc"], report["rej@95"]))


def figure(reports, mode, kind, name, cut=False):
    rep = reports.get((mode, cut), {"kinds": {}})["kinds"].get(kind, {})
    return rep[name][0] if name in rep else None


def check_floors(everything):
    """Prints each floor with what was reached; the number of those missed."""
    missed = 0
    print("\nfloors")
    for mode, set_name, kind, name, floor in FLOORS:
        got = figure(everything.get(set_name, {}), mode, kind, name)
        if got is not None:
            missed += got < floor
            print("  %-5s%-7s %-14s %-16s %-10s %.3f, at least %.3f" % (
                "ok" if got >= floor else "MISS", mode, set_name, kind, name, got, floor))
    for set_name, reports in everything.items():
        for mode in ("text", "hybrid"):
            free, cut = figure(reports, mode, "ALL", "R@6"), figure(reports, mode, "ALL", "R@6", True)
            if free is not None and free - cut > THRESHOLD_MAY_COST + 1e-9:
                missed += 1
                print("  MISS %-7s %-14s the threshold costs %.3f of R@6" % (mode, set_name, free - cut))
        text, hybrid = figure(reports, "text", "ALL", "R@6"), figure(reports, "hybrid", "ALL", "R@6")
        if text is not None and hybrid is not None and text - hybrid > HYBRID_MAY_LOSE + 1e-9:
            missed += 1
            print("  MISS hybrid  %-14s R@6 %.3f below text only" % (set_name, text - hybrid))
    print("  %d missed" % missed)
    return missed


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--sets", default="")
    ap.add_argument("--modes", default="text,hybrid")
    ap.add_argument("--program", default=os.path.join(ROOT, "build", "remem"))
    a = ap.parse_args()
    a.modes = a.modes.split(",")
    evaluator = os.path.join(DATA, "..", "eval", "evaluate.py")
    if not os.path.isdir(DATA) or not os.path.isfile(evaluator):
        sys.exit("eval: no sets in '%s' (or no ../eval/evaluate.py beside them): set REMEM_EVAL_DATA" % DATA)
    sets = sorted(d for d in os.listdir(DATA) if os.path.isfile(os.path.join(DATA, d, "qrels.jsonl")))
    if a.sets:
        sets = [s for s in sets if s in a.sets.split(",")]
    os.makedirs(os.path.join(WORK, "runs"), exist_ok=True)
    everything = {}
    for s in sets:
        everything[s] = evaluate_set(a, DATA, s, evaluator)
        show(s, everything[s])
        sys.stdout.flush()
    with open(os.path.join(WORK, "figures.json"), "w", encoding="utf-8") as f:
        json.dump({s: {"%s%s" % (m, " cut" if c else ""): r for (m, c), r in rs.items()} for s, rs in everything.items()},
                  f, indent=1)
    sys.exit(1 if check_floors(everything) else 0)


if __name__ == "__main__":
    main()
