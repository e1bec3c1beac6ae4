#!/usr/bin/env python3
"""Gives the files of a folder on loopback, parts of them too, and writes what
was asked for to FOLDER/log. files.py FOLDER [fails-at=BYTE]: a part that
starts at or behind the half of BYTE is answered with status 500."""
import http.server
import os
import re
import sys

folder = sys.argv[1]
fails = [int(a.split("=")[1]) for a in sys.argv[2:]]
log = open(os.path.join(folder, "log"), "w")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = os.path.join(folder, os.path.basename(self.path))
        asked = self.headers.get("Range")
        log.write("%s %s\n" % (self.path, asked))
        log.flush()
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as f:
            data = f.read()
        total, m = len(data), re.match(r"bytes=(\d+)-(\d+)", asked or "")
        if m and fails and int(m.group(1)) >= fails[0] // 2:
            self.send_error(500)
            return
        self.send_response(206 if m else 200)
        if m:
            data = data[int(m.group(1)):int(m.group(2)) + 1]
            self.send_header("Content-Range", "bytes %s-%d/%d" % (m.group(1), int(m.group(1)) + len(data) - 1, total))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
