#!/usr/bin/env python3
"""Small pictures and sounds, good and bad: make_media.py DIR"""
import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(color):
    rows = b"".join(b"\0" + bytes(color) * 4 for _ in range(4))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


JPEG = (b"\xff\xd8\xff\xe0\x00\x10JFIF\0\1\1\0\0\1\0\1\0\0" + b"\xff\xda\x00\x08\1\1\0\0\x3f\0" +
        b"\x12\x34\xff\x00\x56\xff\xd0\x78" + b"\xff\xd9")
WAV = b"RIFF" + struct.pack("<I", 44) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + \
    b"data" + struct.pack("<I", 8) + b"\x80" * 8
MP3 = b"ID3\x04\0\0\0\0\0\x04abcd" + b"\xff\xfb\x90\x00" + b"\0" * 400

FILES = {
    "garden.png": png((1, 2, 3)),
    "named-wrong.png": JPEG,
    "夜曲.mp3": MP3,
    "bell.wav": WAV,
    "script.png": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "poly.png": png((4, 5, 6)) + b"<html><script>alert(1)</script></html>",
    "cut.jpg": JPEG[:-6],
    "cut.png": png((7, 8, 9))[:-20],
    "empty.jpg": b"",
    "zip.jpg": JPEG + b"PK\3\4" + b"x" * 40,
    "moving.gif": b"GIF89a" + b"\1" * 20 + b"\x3b",
}

for name, data in FILES.items():
    with open(sys.argv[1] + "/" + name, "wb") as f:
        f.write(data)
with open(sys.argv[1] + "/huge.png", "wb") as f:
    f.write(png((1, 1, 1)))
    f.truncate(10485761)
