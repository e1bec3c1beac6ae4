#!/usr/bin/env python3
"""unpack.py FOLDER SUFFIX TARGET: writes the one member whose name ends with
SUFFIX, of the one zip or tar archive in FOLDER, to TARGET."""
import os
import shutil
import sys
import tarfile
import zipfile


def members(path):
    """(name, opener) of each file in the archive."""
    if zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        return [(n, lambda n=n: archive.open(n)) for n in archive.namelist()]
    archive = tarfile.open(path)
    return [(m.name, lambda m=m: archive.extractfile(m)) for m in archive if m.isfile()]


def main():
    folder, suffix, target = sys.argv[1:]
    files = [f for f in os.listdir(folder) if not f.startswith(".")]
    if len(files) != 1:
        sys.exit("unpack: '%s' should hold one archive" % folder)
    found = [m for m in members(os.path.join(folder, files[0])) if m[0].endswith(suffix)]
    if not found:
        sys.exit("unpack: no '%s' in '%s'" % (suffix, files[0]))
    name, opener = min(found, key=lambda m: len(m[0]))
    with opener() as src, open(target + ".part", "wb") as dst:
        shutil.copyfileobj(src, dst)
    os.replace(target + ".part", target)


if __name__ == "__main__":
    main()
