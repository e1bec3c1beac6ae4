#!/usr/bin/env python3
"""Write the default language means of the builtin model as C.

usage: make-means.py REMEM OUT.c

Embeds data/parallel/*.txt (the same sentences in several languages, one file
a language) with `REMEM embed --document` and writes the mean raw vector of
each script class. Run it again when the model, its prefix or the sentences
change; the result is committed, since it takes a build to make it.
"""
import json
import os
import subprocess
import sys

SCRIPTS = (("en", "LATIN"), ("zh", "HAN"), ("ja", "KANA"), ("ko", "HANGUL"),
           ("ru", "CYRILLIC"))
HEAD = """/*
 * Mean vectors of the builtin model, one a script class: where each language
 * lies before anything is said in it. Made by tools/make-means.py from
 * data/parallel; do not edit.
 */
#include "embed/builtin_means.h"

#include <stddef.h>

"""


def mean_of(program, path):
    lines = open(path, encoding="utf-8").read().splitlines()
    text = "\n".join(json.dumps(line) for line in lines) + "\n"
    run = subprocess.run([program, "embed", "--document"], input=text,
                         capture_output=True, encoding="utf-8", check=True)
    vectors = [json.loads(line)["embedding"]
               for line in run.stdout.splitlines()]
    if len(vectors) != len(lines):
        sys.exit("%s: %d vectors for %d lines"
                 % (path, len(vectors), len(lines)))
    return [sum(column) / len(vectors) for column in zip(*vectors)]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.path.join(here, "..", "data", "parallel")
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write(HEAD)
        for language, script in SCRIPTS:
            mean = mean_of(sys.argv[1],
                           os.path.join(folder, language + ".txt"))
            out.write("static const float %s[] = {\n" % script.lower())
            for i in range(0, len(mean), 6):
                out.write("\t" + " ".join("%.5ff," % x
                                          for x in mean[i:i + 6]) + "\n")
            out.write("};\n\n")
        out.write("const float *const builtin_means[SCRIPT_COUNT] = {\n")
        for _, script in SCRIPTS:
            out.write("\t[SCRIPT_%s] = %s,\n" % (script, script.lower()))
        out.write("};\n")


if __name__ == "__main__":
    main()
