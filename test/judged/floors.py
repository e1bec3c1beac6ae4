#!/usr/bin/env python3
"""Holds what `remem bench --set SET --json` reports against SET/floors.json.

usage: floors.py SET NAME REPORT

NAME is a member of floors.json: {NAME: {KIND: {FIGURE: at least}}}. Prints
every figure that is held, and ends with 1 if one is lower or missing.
"""
import json
import os
import sys


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(os.path.join(sys.argv[1], "floors.json"), encoding="utf-8") as f:
        floors = json.load(f)[sys.argv[2]]
    with open(sys.argv[3], encoding="utf-8") as f:
        report = json.load(f)
    low = 0
    if report["degraded"]:
        print("%d answers were degraded" % report["degraded"])
        low += 1
    for kind, figures in floors.items():
        for figure, least in figures.items():
            got = report["kinds"].get(kind, {}).get(figure)
            fine = got is not None and got >= least
            low += not fine
            print("%-4s %-8s %-16s %-10s %s, at least %.3f" % (
                "" if fine else "LOW", sys.argv[2], kind, figure, "missing" if got is None else "%.3f" % got, least))
    sys.exit(1 if low else 0)


if __name__ == "__main__":
    main()
