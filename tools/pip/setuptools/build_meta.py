"""Stands in for setuptools while pip downloads a source archive.

pip asks a source archive for its metadata before it hands the file over, and
would fetch and run a build system for that. We want the file alone, unrun:
this answers with the name and version that the archive states itself.
"""
import os


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    fields = {}
    with open("PKG-INFO", encoding="utf-8") as f:
        for line in f:
            key, colon, value = line.partition(":")
            if not colon:
                break
            fields.setdefault(key, value.strip())
    info = "%s-%s.dist-info" % (fields["Name"], fields["Version"])
    os.mkdir(os.path.join(directory, info))
    with open(os.path.join(directory, info, "METADATA"), "w", encoding="utf-8") as f:
        f.write("Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (fields["Name"], fields["Version"]))
    return info
