#!/usr/bin/env python3
"""Gives the files of a folder on loopback, parts of them too, and writes what
was asked for to a log beside them. files.py FOLDER [MODE=VALUE...]

  log=NAME       of the log (log)
  fails-at=BYTE  a part that starts at or behind the half of BYTE is answered
                 with status 500
  hangs-at=BYTE  a part that starts there or behind is never answered
  status=N       every request is answered with it
  html=1         every file is a page, as where a licence has to be accepted
  plain=1        parts are not known: the whole is given
  etag=TAG       of every file; a part of another one (If-Range) is the whole
  changes-at=N   from that byte on the file is another one
  to=ADDRESS     every request is sent on to the same file there; {n} in it is
                 how many were sent on
  expires=N      only the first N requests are answered, the others refused (403)
"""
import http.server
import os
import re
import sys
import threading

folder = sys.argv[1]
modes = dict(a.split("=", 1) for a in sys.argv[2:])
log = open(os.path.join(folder, modes.get("log", "log")), "w")
count = 0


class Handler(http.server.BaseHTTPRequestHandler):
    def refuse(self, status, to=None):
        self.send_response(status)
        if to:
            self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def whole(self, data, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        global count
        count += 1
        path = os.path.join(folder, os.path.basename(self.path))
        asked = self.headers.get("Range")
        log.write("%s %s %s %s\n" % (self.path, asked, self.headers.get("If-Range"), self.headers.get("Authorization")))
        log.flush()
        m = re.match(r"bytes=(\d+)-(\d+)", asked or "")
        start = int(m.group(1)) if m else 0
        if "status" in modes:
            return self.refuse(int(modes["status"]))
        if "to" in modes:
            return self.refuse(302, modes["to"].replace("{n}", str(count)) + self.path)
        if "expires" in modes and count > int(modes["expires"]):
            return self.refuse(403)
        if "html" in modes:
            return self.whole(b"<html>Please accept the licence</html>", "text/html; charset=utf-8")
        if not os.path.isfile(path):
            return self.refuse(404)
        with open(path, "rb") as f:
            data = f.read()
        if m and start >= int(modes.get("fails-at", 1 << 60)) // 2:
            return self.refuse(500)
        if m and start >= int(modes.get("hangs-at", 1 << 60)):
            threading.Event().wait()
        etag = modes.get("etag")
        if etag and start >= int(modes.get("changes-at", 1 << 60)):
            etag += "-new"
        if not m or "plain" in modes or etag and self.headers.get("If-Range", '"%s"' % etag) != '"%s"' % etag:
            return self.whole(data, "application/octet-stream")
        part = data[start:int(m.group(2)) + 1]
        self.send_response(206)
        self.send_header("Content-Range", "bytes %d-%d/%d" % (start, start + len(part) - 1, len(data)))
        self.send_header("Content-Length", str(len(part)))
        if etag:
            self.send_header("ETag", '"%s"' % etag)
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
