#!/usr/bin/env python3
"""The house rules that a compiler does not know. Prints what breaks them as
FILE:LINE: text and ends with 1 if anything does.

  layers    a file includes from its own folder and from lower ones only
  calls     malloc and its kin in base/alloc.c alone; the library never prints,
            exits or reads the environment
  shape     tabs, 100 columns, functions of at most 100 lines, a first comment
  words     hosts of package registries, paths of one machine, unnamed TODOs
  tables    rows of .def files are unique, what they name exists
  rest      version numbers agree, links in documents lead somewhere, no large
            binary is tracked, the manual pages can be made

TIDY=1 runs clang-tidy too, which takes minutes.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_COLUMNS, MAX_FUNCTION_LINES, MAX_BINARY_BYTES = 100, 100, 1 << 20

LOWER = {
    "base": "",
    "text": "base",
    "encoder": "base",
    "source": "base text",
    "embed": "base text encoder",
    "store": "base text",
    "chat": "base text",
    "index": "base text encoder source embed store chat",
    "search": "base text encoder source embed store chat",
    "memory": "base text encoder source embed store chat index search",
    "api": "base text encoder source embed store chat index search memory",
    "cli": "base",
    "mcp": "base",
    "hosts": "base",
    "web": "base",
    "daemon": "base",
}
PROGRAMS = ("cli", "mcp", "hosts", "web", "daemon")
# Whole programs of their own, which look inside to measure or to serve.
WHOLE = re.compile(r"^src/cli/(bench\w*|embed_worker\w*)\.[ch]$")

HEAP = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|v?asprintf)\s*\(")
LOUD = re.compile(r"(?<![\w.>])(v?printf|puts|putchar|perror|exit|getenv|secure_getenv|setenv|putenv|system|popen)\s*\("
                  r"|\b(stdout|stderr|environ)\b")
UNSAFE = re.compile(r"(?<![\w.>])(gets|strcpy|strcat|v?sprintf|strtok|alloca|gmtime|localtime|asctime|ctime)\s*\(")
# In pieces, so that this file does not hold what it looks for.
HOSTS = "|".join(a + b for a, b in (
    ("py", r"pi\.org"), ("pythonho", "sted"), ("npm", "js"), (r"registry\.", "npm"), ("crates", r"\.io"),
    (r"proxy\.", "golang"), (r"deb\.", "debian"), ("maven", r"\.org"), ("repo1", r"\.maven")))
WORDS = (
    (re.compile(HOSTS, re.I), "the host of a package registry"),
    (re.compile(r"(?<![\w.])/(work|farm)/"), "a path of one machine"),
)
UNNAMED = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\s*\(?#\d)")

problems = []


def complain(path, line, text):
    problems.append("%s:%d: %s" % (path, line, text))


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, stdout=subprocess.PIPE,
                         check=True).stdout.decode("utf-8", "surrogateescape")
    return sorted({f for f in out.split("\0") if f and os.path.isfile(os.path.join(ROOT, f))})


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def without_comments(text, strings=True):
    """Comments (and the insides of strings) become blanks; lines stay."""
    def blank(m):
        s = m.group(0)
        if s.startswith("/"):
            return re.sub(r"[^\n]", " ", s)
        return s[0] + " " * (len(s) - 2) + s[-1] if strings else s
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", blank, text, flags=re.S)


def check_layers(path, text):
    layer = path.split("/")[1]
    if WHOLE.match(path) or "/" not in path[4:]:
        return
    if layer not in LOWER:
        complain(path, 1, "folder '%s' is no layer" % layer)
        return
    allowed = set(LOWER[layer].split()) | {layer}
    for n, line in enumerate(text.split("\n"), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m or "/" not in m.group(1):
            continue
        other = m.group(1).split("/")[0]
        if other in LOWER and other not in allowed:
            complain(path, n, "%s may not include from %s" % (layer, other))


def check_calls(path, text):
    layer = path.split("/")[1]
    clean = without_comments(text)
    for n, line in enumerate(clean.split("\n"), 1):
        if path != "src/base/alloc.c":
            for m in HEAP.finditer(line):
                complain(path, n, "%s() outside base/alloc.c" % m.group(1))
        if layer not in PROGRAMS:
            for m in LOUD.finditer(line):
                complain(path, n, "'%s' in library code" % (m.group(1) or m.group(2)))
        for m in UNSAFE.finditer(line):
            complain(path, n, "%s() is not used here" % m.group(1))
        if re.match(r"(?!\s*#\s*define).*__attribute__\s*\(\((?!target)", line) and path != "src/base/attr.h":
            complain(path, n, "attributes stand behind macros of base/attr.h")


def columns(line):
    width = 0
    for c in line:
        width = width + 8 - width % 8 if c == "\t" else width + 1
    return width


def check_shape(path, text):
    for n, line in enumerate(text.split("\n"), 1):
        if columns(line) > MAX_COLUMNS and not path.endswith(".def"):  # a row is a line
            complain(path, n, "%d columns" % columns(line))
        if line != line.rstrip():
            complain(path, n, "blanks at the end of the line")
        if re.match(r" {2,}\S", line) and not re.match(r" +\*", line) and not path.endswith(".def"):
            complain(path, n, "indented by blanks")
    if not text.endswith("\n"):
        complain(path, text.count("\n") + 1, "no newline at the end")
    first = re.sub(r"\A(\s*#\s*define\s+_\w+.*\n|\s*\n)*", "", text)
    if not first.startswith("/*") and not path.startswith("test/"):
        complain(path, 1, "no first comment that says what the file is for")
    if path.endswith(".c"):
        check_functions(path, text)


def check_functions(path, text):
    start = 0
    for n, line in enumerate(without_comments(text).split("\n"), 1):
        if line.startswith("{"):
            start = n
        elif line.startswith("}") and start:
            if n - start > MAX_FUNCTION_LINES:
                complain(path, start, "function of %d lines" % (n - start))
            start = 0


def check_words(path, text):
    code = path.endswith((".c", ".h", ".def", ".py", ".sh"))
    for n, line in enumerate(text.split("\n"), 1):
        for pattern, what in WORDS:
            if pattern.search(line):
                complain(path, n, what)
        if code and path != "tools/lint.py" and UNNAMED.search(re.sub(r'"(\\.|[^"\\])*"', "", line)):
            complain(path, n, "unfinished work without the number of an issue")


def rows(text):
    """(line, macro, arguments as text) of a .def file."""
    clean = without_comments(text, strings=False)
    for m in re.finditer(r"^\s*([A-Z_]+)\s*\(", clean, re.M):
        depth, i, quoted = 1, m.end(), False
        while i < len(clean) and depth:
            c = clean[i]
            if quoted:
                i += c == "\\"
                quoted = c != '"'
            elif c == '"':
                quoted = True
            else:
                depth += (c == "(") - (c == ")")
            i += 1
        yield clean.count("\n", 0, m.start(1)) + 1, m.group(1), clean[m.end():i - 1]


def check_tables(files):
    code = {f: read(f) for f in files if f.startswith("src/") and f.endswith((".c", ".h"))}
    everything = "\n".join(code.values())
    for path in (f for f in files if f.startswith("src/") and f.endswith(".def")):
        seen = {}
        for n, macro, args in rows(read(path)):
            key = re.sub(r"\s+", " ", args.strip())
            if macro != "OPT":
                key = key.split(",")[0]
            if (macro, key) in seen:
                complain(path, n, "row stands twice, first in line %d" % seen[macro, key])
            seen[macro, key] = n
            if macro == "VERB":
                check_verb(path, n, args, everything)
        if not seen:
            complain(path, 1, "a table without rows")
        if '%s"' % os.path.basename(path) not in everything:
            complain(path, 1, "no source includes this table")


def check_verb(path, n, args, everything):
    parts = [p.strip() for p in args.split(",")]
    if len(parts) > 1 and not re.search(r"\b%s\s*\(" % re.escape(parts[1]), everything):
        complain(path, n, "no function '%s'" % parts[1])


def check_version():
    meson = re.search(r"version: '([\d.]+)'", read("meson.build")).group(1)
    header = dict(re.findall(r"REMEM_VERSION_(MAJOR|MINOR|PATCH) (\d+)", read("include/remem.h")))
    said = "%(MAJOR)s.%(MINOR)s.%(PATCH)s" % header
    if said != meson:
        complain("meson.build", 1, "version %s, in remem.h %s" % (meson, said))


def check_links(path, text):
    for n, line in enumerate(re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
                             .split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:|#", target):
                continue
            there = os.path.join(ROOT, os.path.dirname(path), target.split("#")[0])
            if not os.path.exists(there):
                complain(path, n, "link to '%s', which is not there" % target)


def check_binary(path):
    full = os.path.join(ROOT, path)
    if os.path.getsize(full) > MAX_BINARY_BYTES:
        with open(full, "rb") as f:
            if b"\0" in f.read(8192):
                complain(path, 1, "a binary of more than 1 MB is tracked")


def check_documents():
    if os.path.isfile(os.path.join(ROOT, "src/cli/verbs.def")):
        p = subprocess.run([sys.executable, "tools/gen-docs.py", "build/docs"], cwd=ROOT, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        if p.returncode:
            complain("tools/gen-docs.py", 1, "cannot make the manual pages: " + p.stdout.strip())


def tidy(files):
    if not os.environ.get("TIDY"):
        return
    p = subprocess.run(["clang-tidy", "--quiet", "-p", "build/debug"] + [f for f in files if f.startswith("src/") and
                       f.endswith(".c")], cwd=ROOT, check=False)
    if p.returncode:
        complain(".clang-tidy", 1, "clang-tidy has something to say, above")


def main():
    files = tracked()
    for path in files:
        check_binary(path)
        if not path.endswith((".c", ".h", ".def", ".py", ".sh", ".md", ".bats", ".bash", ".build", ".txt", ".mk", ".yaml",
                              ".yml", "Makefile", "run", "NOTICE")) or path.startswith(("examples/notes/", "test/")) \
                and path.endswith((".md", ".txt")):
            continue
        text = read(path)
        check_words(path, text)
        if path.startswith(("src/", "include/")) and path.endswith((".c", ".h", ".def")):
            check_shape(path, text)
        if path.startswith("src/") and path.endswith((".c", ".h")):
            check_layers(path, text)
            check_calls(path, text)
        if path.startswith(("test/", "bench/", "examples/")) and path.endswith((".c", ".h")):
            check_shape(path, text)
        if path.endswith(".md"):
            check_links(path, text)
        if path.endswith(".sh") and subprocess.run(["bash", "-n", path], cwd=ROOT, check=False).returncode:
            complain(path, 1, "the shell cannot read it")
    check_tables(files)
    check_version()
    check_documents()
    tidy(files)
    for p in problems:
        print(p)
    print("lint: %d files, %s" % (len(files), "%d problems" % len(problems) if problems else "nothing to say"))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
