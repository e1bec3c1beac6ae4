#!/usr/bin/env python3
"""Checks a judged set: what is judged is there, and holds the answer.

usage: check.py SET [--renumber]

SET is a folder with queries.jsonl, qrels.jsonl and workspaces/. A row of
qrels.jsonl carries "holds", words that stand on its lines and nowhere else in
that note. After notes were edited, --renumber moves the rows to where these
words stand now. Prints what is wrong and ends with 1, or a count and 0.
"""
import collections
import json
import os
import sys

KINDS = ("exact-id", "paraphrase", "crossling-en2zh", "crossling-zh2en", "temporal", "evergreen", "negative",
         "multi-hop", "prose-en", "prose-zh", "hant2hans", "injection")
ROLES = ("relevant", "superseded", "poison")
NEEDS_SUPERSEDED, NEEDS_NONE = ("temporal",), ("negative",)


def load(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def note(root, workspace, path, cache={}):
    full = os.path.join(root, "workspaces", workspace, path)
    if full not in cache:
        try:
            with open(full, encoding="utf-8") as f:
                cache[full] = f.read().splitlines()
        except OSError:
            cache[full] = None
    return cache[full]


def check_queries(root, queries):
    for n, count in collections.Counter(q["query_id"] for q in queries).items():
        if count > 1:
            yield "%s stands %d times" % (n, count)
    for text, count in collections.Counter((q["workspace"], q["query"]) for q in queries).items():
        if count > 1:
            yield "the same question %d times: %s" % (count, text[1])
    for q in queries:
        if q["kind"] not in KINDS:
            yield "%s: no kind %r" % (q["query_id"], q["kind"])
        if q["lang"] not in ("en", "zh"):
            yield "%s: no language %r" % (q["query_id"], q["lang"])
        if not os.path.isdir(os.path.join(root, "workspaces", q["workspace"])):
            yield "%s: no workspace %r" % (q["query_id"], q["workspace"])


def check_row(root, query, row):
    where = "%s: %s#L%d" % (row["query_id"], row["path"], row["startLine"])
    lines = note(root, query["workspace"], row["path"])
    if lines is None:
        return where + ": no such note"
    if not 1 <= row["startLine"] <= row["endLine"] <= len(lines):
        return where + ": no such lines"
    if row["role"] not in ROLES or (row["role"] == "relevant") != (row["grade"] > 0):
        return where + ": role and grade do not fit"
    held = [n for n, line in enumerate(lines, 1) if row["holds"] in line]
    if len(held) != 1:
        return where + ": %r stands on %d lines" % (row["holds"], len(held))
    if not row["startLine"] <= held[0] <= row["endLine"]:
        return where + ": %r stands on line %d" % (row["holds"], held[0])
    return None


def check_roles(queries, rows):
    roles = collections.defaultdict(set)
    for row in rows:
        roles[row["query_id"]].add(row["role"])
    for q in queries:
        has = roles[q["query_id"]]
        if ("relevant" in has) == (q["kind"] in NEEDS_NONE):
            yield "%s: %s" % (q["query_id"], "an answer to it is judged" if has else "no answer is judged")
        if q["kind"] in NEEDS_SUPERSEDED and "superseded" not in has:
            yield "%s: no older statement is judged" % q["query_id"]


def renumber(root, by_id, rows):
    moved = 0
    for row in rows:
        lines = note(root, by_id[row["query_id"]]["workspace"], row["path"]) or []
        held = [n for n, line in enumerate(lines, 1) if row["holds"] in line]
        if len(held) == 1 and not row["startLine"] <= held[0] <= row["endLine"]:
            row["endLine"] += held[0] - row["startLine"]
            row["startLine"] = held[0]
            moved += 1
    with open(os.path.join(root, "qrels.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print("%d rows moved" % moved)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--renumber"]):
        sys.exit(__doc__)
    root = sys.argv[1]
    queries, rows = load(os.path.join(root, "queries.jsonl")), load(os.path.join(root, "qrels.jsonl"))
    by_id = {q["query_id"]: q for q in queries}
    wrong = ["%s: no such question" % r["query_id"] for r in rows if r["query_id"] not in by_id]
    if not wrong and sys.argv[2:]:
        renumber(root, by_id, rows)
    wrong += list(check_queries(root, queries)) + list(check_roles(queries, rows))
    wrong += [w for r in rows if r["query_id"] in by_id for w in [check_row(root, by_id[r["query_id"]], r)] if w]
    print("\n".join(wrong) if wrong else "%d questions, %d rows" % (len(queries), len(rows)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
