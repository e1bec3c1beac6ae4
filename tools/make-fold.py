#!/usr/bin/env python3
"""Writes the character tables of src/text/fold.h as C.

usage: make-fold.py OUT.c

One entry for each code point, two levels, equal blocks stored once:

    bits  0-20  the folded character, 0 where it folds to itself;
                for FOLD_EXPAND the place in fold_pool instead
    bits 21-24  enum fold_kind
    bits 25-28  enum script
    bit  29     upper or title case before folding

fold_pool holds, for each expansion, its length and then full entries.
Folding is NFKC with case folding, Latin diacritics and strokes off, nukta,
vowel points and harakat off, digits of all scripts to ASCII, Traditional
characters to Simplified (first target of OpenCC's TSCharacters, or of
Unihan's kSimplifiedVariant). Standard library only.
"""
import gzip
import os
import re
import subprocess
import sys
import tempfile
import unicodedata as ud

BLOCK = 128
KINDS = ("SEP WORD DIGIT HAN HIRA KATA HANGUL SEA SYM MARK DROP VOICE JAMO "
         "JOIN APOS EXPAND").split()
K = {name: i for i, name in enumerate(KINDS)}
SCRIPTS = ("NONE LATIN HAN KANA HANGUL CYRILLIC GREEK ARABIC HEBREW "
           "DEVANAGARI THAI OTHER").split()
S = {name: i for i, name in enumerate(SCRIPTS)}

OCD2 = "/usr/share/opencc/TSCharacters.ocd2"
UNIHAN = ("/usr/share/unicode/Unihan_Variants.txt.gz",
          "/usr/share/unicode/Unihan_Variants.txt")

# Scripts written without spaces, by the first word of a character's name.
NO_SPACES = {"THAI", "LAO", "KHMER", "MYANMAR", "TAI", "JAVANESE", "NEW"}
SPECIAL = {
    0x2018: "'", 0x2019: "'", 0x02bc: "'", 0x201b: "'", 0x055a: "'",
    0x2010: "-", 0x2011: "-", 0x2012: "-", 0x2212: "-",
    0x00e6: "ae", 0x0153: "oe", 0x00f0: "d", 0x00fe: "th", 0x0131: "i",
    0x014b: "ng", 0x00b5: "\u03bc",
}
DROPPED = {0x00ad, 0x034f, 0x0640, 0x115f, 0x1160, 0x180b, 0x180c, 0x180d,
           0x180f, 0x200c, 0x200d, 0x3164, 0xffa0}
JOINERS = "_.-/:#@+"


def traditional():
    """Traditional to Simplified, single characters."""
    out = {}
    if os.path.exists(OCD2):
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as tmp:
            subprocess.run(["opencc_dict", "-i", OCD2, "-o", tmp.name, "-f",
                            "ocd2", "-t", "text"], check=True)
            for line in open(tmp.name, encoding="utf-8"):
                key, _, targets = line.rstrip("\n").partition("\t")
                target = targets.split(" ")[0]
                if len(key) == 1 and len(target) == 1 and key != target:
                    out[key] = target
        return out
    for path in UNIHAN:
        if not os.path.exists(path):
            continue
        opener = gzip.open if path.endswith(".gz") else open
        for line in opener(path, "rt", encoding="utf-8"):
            m = re.match(r"U\+(\w+)\tkSimplifiedVariant\t(.*)", line)
            if m:
                key = chr(int(m.group(1), 16))
                targets = [chr(int(t[2:], 16)) for t in m.group(2).split()]
                if key not in targets:
                    out[key] = targets[0]
        return out
    sys.exit("make-fold.py: neither %s (package libopencc-data or libopencc1.1"
             ", with opencc for opencc_dict) nor %s (package unicode-data)"
             % (OCD2, UNIHAN[1]))


TS = {}


def first_name(c):
    return ud.name(c, "").replace("-", " ").split(" ")[0]


def stripped(c):
    """Combining marks that are left out, so that NFC and NFD agree."""
    if ud.category(c) not in ("Mn", "Me", "Mc"):
        return False
    ccc = ud.combining(c)
    if ccc == 0:
        return ud.category(c) == "Me" or first_name(c) == "VARIATION"
    if ccc in (8, 9) or first_name(c) in NO_SPACES | {"TIBETAN"}:
        return False
    return True


def latin_base(c):
    """o of 'latin small letter o with stroke', which has no decomposition."""
    m = re.match(r"LATIN SMALL LETTER ([A-Z]) WITH ", ud.name(c, ""))
    return m.group(1).lower() if m else None


def fold_once(text):
    out = []
    for c in ud.normalize("NFKD", text.casefold()):
        if ord(c) in SPECIAL:
            out.append(SPECIAL[ord(c)])
        elif ord(c) in DROPPED or stripped(c):
            pass
        elif ud.category(c) == "Nd":
            out.append(str(ud.digit(c)))
        else:
            out.append(latin_base(c) or TS.get(c, c))
    return "".join(out)


def compose(text):
    """Puts kana and Hangul together again; all else stays apart."""
    text = re.sub("[\u3041-\u30ff][\u3099\u309a]",
                  lambda m: ud.normalize("NFC", m.group(0)), text)
    return re.sub("[\u1100-\u11ff\uac00-\ud7a3]+",
                  lambda m: ud.normalize("NFC", m.group(0)), text)


def fold(c):
    text = c
    for _ in range(8):
        new = fold_once(text)
        if new == text:
            break
        text = new
    else:
        sys.exit("make-fold.py: U+%04X does not come to rest" % ord(c))
    return compose(text)


def is_emoji(cp):
    return (0x2600 <= cp <= 0x27bf or 0x1f300 <= cp <= 0x1faff or
            0x1f1e6 <= cp <= 0x1f1ff or 0x1f000 <= cp <= 0x1f0ff or
            cp in (0x2b50, 0x2b55, 0x231a, 0x231b, 0x23f0, 0x23f3))


def letter_kind(c):
    """(kind, script) of a letter, mark or letter-like sign."""
    cp, name = ord(c), first_name(c)
    full = ud.name(c, "")
    if name in ("CJK", "BOPOMOFO", "KANGXI", "IDEOGRAPHIC", "HANGZHOU"):
        return "HAN", "HAN"
    if name == "HIRAGANA":
        return "HIRA", "KANA"
    if name == "KATAKANA" or cp == 0x30fc:
        return "KATA", "KANA"
    if name == "HANGUL":
        jamo = (0x1100 <= cp <= 0x11ff or 0xa960 <= cp <= 0xa97f or
                0xd7b0 <= cp <= 0xd7ff)
        return ("JAMO" if jamo else "HANGUL"), "HANGUL"
    if name == "THAI":
        return "SEA", "THAI"
    if name in NO_SPACES and not full.startswith("NEW ") or \
            full.startswith("NEW TAI"):
        return "SEA", "OTHER"
    for script in ("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW",
                   "DEVANAGARI"):
        if name == script or script in full.split(" ")[:2]:
            return "WORD", script
    return "WORD", "OTHER"


def plain_kind(c):
    """(kind, script) of a character that folds to itself."""
    cp, cat = ord(c), ud.category(c)
    if cp in (0x3099, 0x309a):
        return "VOICE", "KANA"
    if c in JOINERS:
        return "JOIN", "NONE"
    if c == "'":
        return "APOS", "NONE"
    if cat == "Nd":
        return "DIGIT", "NONE"
    if 0x1f3fb <= cp <= 0x1f3ff or cp == 0xfeff or \
            (cat == "Cf" and cp != 0x200b):
        return "DROP", "NONE"
    if cat[0] == "L" or cat in ("Nl", "No"):
        return letter_kind(c)
    if cat[0] == "M":
        kind, script = letter_kind(c)
        return "MARK", script
    if 0x2e80 <= cp <= 0x2fdf and cat == "So":
        return "HAN", "HAN"
    if is_emoji(cp) and cat != "Cn":
        return "SYM", "NONE"
    if cat == "Cn" and 0x20000 <= cp <= 0x3fffd:
        return "HAN", "HAN" # planes kept for Han; newer than this Python
    return "SEP", "NONE"


def pack(c, kind, script, upper):
    e = K[kind] << 21 | S[script] << 25 | upper << 29
    return e, ord(c) if c else 0


class Table:
    def __init__(self):
        self.pool, self.places = [], {}

    def expansion(self, text):
        if text not in self.places:
            self.places[text] = len(self.pool)
            self.pool.append(len(text))
            for c in text:
                kind, script = plain_kind(c)
                e, cp = pack(c, kind, script, 0)
                self.pool.append(e | cp)
        return self.places[text]

    def entry(self, cp):
        c = chr(cp)
        if 0xd800 <= cp <= 0xdfff:
            return 0
        if cp in (0x309b, 0x309c): # spacing voiced marks, typed after kana
            return pack(None, "VOICE", "KANA", 0)[0] | cp - 2
        if cp in (0xff9e, 0xff9f):
            return pack(None, "VOICE", "KANA", 0)[0] | 0x3099 + cp - 0xff9e
        if cp in (0x2122, 0x2120, 0x2026): # (tm), (sm), ...: not letters
            return 0
        text = fold(c)
        upper = ud.category(c) in ("Lu", "Lt")
        if not text:
            return pack(None, "DROP", "NONE", 0)[0]
        kinds = [plain_kind(t) for t in text]
        if len(text) == 1:
            e, target = pack(text, kinds[0][0], kinds[0][1], upper)
            return e | (target if target != cp else 0)
        if all(k == "SEP" for k, _ in kinds):
            return 0
        script = next((s for _, s in kinds if s != "NONE"), "NONE")
        return pack(None, "EXPAND", script, upper)[0] | self.expansion(text)


def rows(values, fmt, per_line):
    for i in range(0, len(values), per_line):
        yield "\t" + ", ".join(fmt % v for v in values[i:i + per_line]) + ",\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    TS.update(traditional())
    table = Table()
    entries = [table.entry(cp) for cp in range(0x110000)]
    blocks, pages, seen = [], [], {}
    for i in range(0, len(entries), BLOCK):
        block = tuple(entries[i:i + BLOCK])
        if block not in seen:
            seen[block] = len(blocks)
            blocks.extend(block)
        pages.append(seen[block])
    assert len(blocks) < 1 << 21 and len(table.pool) < 1 << 21
    with open(sys.argv[1], "w") as f:
        f.write("/* Made by tools/make-fold.py (Unicode %s). */\n"
                % ud.unidata_version)
        f.write('#include "text/fold.h"\n\n')
        f.write("const uint32_t fold_pages[%d] = {\n" % len(pages))
        f.writelines(rows(pages, "%d", 12))
        f.write("};\n\nconst uint32_t fold_entries[] = {\n")
        f.writelines(rows(blocks, "0x%08x", 6))
        f.write("};\n\nconst uint32_t fold_pool[] = {\n")
        f.writelines(rows(table.pool, "0x%08x", 6))
        f.write("};\n")


main()
