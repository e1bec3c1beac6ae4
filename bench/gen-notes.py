#!/usr/bin/env python3
"""Makes the notes that speed is measured on: the same bytes each time.

    bench/gen-notes.py DIR [FILES]

10,000 files (or FILES), 21 MB, half of them Chinese, about 19 passages of
about 110 bytes a file: daily notes, dated notes with a slug, topic notes in
folders. Words follow Zipf's law; vocabularies are made here (20,000 English,
15,000 Chinese words), so nothing is taken from anywhere.
"""
import bisect
import os
import sys
from datetime import date, timedelta

SEED = 20260301


class Random:
    """xorshift64*: the same on every machine and Python."""

    def __init__(self, seed):
        self.state = seed * 2654435761 + 1 & (1 << 64) - 1

    def below(self, n):
        s = self.state
        s ^= s >> 12
        s ^= s << 25 & (1 << 64) - 1
        s ^= s >> 27
        self.state = s
        return (s * 2685821657736338717 & (1 << 64) - 1) * n >> 64


class Words:
    """A vocabulary, its words drawn by rank with weight 1 / (rank + 3)."""

    def __init__(self, words):
        self.words = words
        self.sums = []
        total = 0
        for rank in range(len(words)):
            total += 1_000_000 // (rank + 3)
            self.sums.append(total)
        self.total = total

    def draw(self, rnd):
        at = bisect.bisect_right(self.sums, rnd.below(self.total))
        return self.words[at]


def english(rnd):
    common = ("the to a and of in is for on with it we at by this that from "
              "are was be not as or but has will can all new when after "
              "before about into more than should must").split()
    onset = "b c d f g h j k l m n p r s t v w br cl dr fl gr pl st tr".split()
    core = "a e i o u ai ea io ou".split()
    coda = ["", "", "n", "r", "s", "t", "l", "m", "nd", "st", "ck"]
    seen = set(common)
    words = list(common)
    while len(words) < 20_000:
        w = "".join(onset[rnd.below(len(onset))] + core[rnd.below(len(core))]
                    + coda[rnd.below(len(coda))]
                    for _ in range(1 + rnd.below(3)))
        if len(w) > 2 and w not in seen:
            seen.add(w)
            words.append(w)
    return Words(words)


def chinese(rnd):
    # The 3,755 common characters, rows 16 to 55 of GB 2312.
    chars = [bytes((row, col)).decode("gb2312")
             for row in range(0xB0, 0xD8) for col in range(0xA1, 0xFF)
             if (row, col) < (0xD7, 0xFA)]
    common = list("的了在是我们要和不有人这上个来到时大地为子中你说生国年着就那和")
    seen = set(common)
    words = list(common)
    while len(words) < 15_000:
        n = 2 if rnd.below(5) else 3
        w = "".join(chars[rnd.below(len(chars)) * rnd.below(1000) // 1000]
                    for _ in range(n))
        if w not in seen:
            seen.add(w)
            words.append(w)
    return Words(words)


def identifier(rnd):
    kind = rnd.below(4)
    if kind == 0:
        return f"ERR_{'PAY NET DB IO AUTH'.split()[rnd.below(5)]}_{rnd.below(9000) + 1000}"
    if kind == 1:
        return f"v{rnd.below(9)}.{rnd.below(20)}.{rnd.below(40)}"
    if kind == 2:
        return f"gateway.timeout_{rnd.below(500)}"
    return f"#{rnd.below(40000)}"


def sentence(rnd, words, zh, size):
    """About size bytes."""
    out = []
    n = 0
    while n < size:
        w = identifier(rnd) if not rnd.below(40) else words.draw(rnd)
        n += len(w) * 3 if zh and ord(w[0]) > 127 else len(w) + 1
        if zh and out and not rnd.below(9):
            out.append("，")
        out.append(w)
    text = ("" if zh else " ").join(out)
    return text + "。" if zh else text[0].upper() + text[1:] + "."


HEADINGS = {
    False: ["Morning", "Afternoon", "Decisions", "Follow-up", "Notes"],
    True: ["上午", "下午", "决定", "待办", "记录"],
}


def note(rnd, words, zh, title):
    out = [f"# {title}", ""]
    passages = 0
    while passages < 16 + rnd.below(4):
        if rnd.below(2):
            head = HEADINGS[zh][rnd.below(5)]
        else:
            head = sentence(rnd, words, zh, 14)[:-1]
        out += [f"## {head}", ""]
        for _ in range(3 + rnd.below(4)):
            size = 57 + rnd.below(72)
            if rnd.below(3):
                out.append("- " + sentence(rnd, words, zh, size))
            else:
                # Without a blank line it would go on with the item above.
                out += [""] * bool(out[-1])
                out += [sentence(rnd, words, zh, size), ""]
            passages += 1
        out.append("")
    return "\n".join(out)


def path(rnd, i, zh, words):
    day = (date(2024, 1, 1) + timedelta(days=i // 9)).isoformat()
    slug = words.draw(rnd) + "-" + words.draw(rnd)
    kind = i % 9
    if kind == 0:
        return f"memory/{day}.md", day
    if kind < 4:
        return f"memory/{day}-{slug}-{i}.md", slug
    folder = ["projects", "people", "项目", "reading", "家"][kind - 4]
    return f"memory/{folder}/{slug}-{i}.md", slug


def main():
    top = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    rnd = Random(SEED)
    langs = {False: english(rnd), True: chinese(rnd)}
    total = 0
    for i in range(count):
        zh = bool(i % 2)
        name, title = (path(rnd, i, zh, langs[zh]) if i else
                       ("MEMORY.md", "Memory"))
        full = os.path.join(top, name)
        os.makedirs(os.path.dirname(full) or top, exist_ok=True)
        data = note(rnd, langs[zh], zh, title).encode()
        total += len(data)
        with open(full, "wb") as f:
            f.write(data)
    print(f"{count} files, {total} bytes")


if __name__ == "__main__":
    main()
