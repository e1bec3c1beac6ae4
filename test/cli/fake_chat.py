"""A chat model on loopback: /KIND/v1/chat/completions answers as KIND says.

usage: fake_chat.py PORT_FILE LOG ANSWER_FILE
"""
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port_file, log, answer_file = sys.argv[1:4]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(log, "ab") as f:
            f.write(str(self.headers).encode() + body + b"\n")
        kind = self.path.split("/")[1]
        with open(answer_file, encoding="utf-8") as f:
            answer = f.read()
        reply = json.dumps({"choices": [{"finish_reason": "length" if kind == "cut" else "stop",
                                         "message": {"role": "assistant", "content": answer}}],
                            "usage": {"total_tokens": 77}}).encode()
        if kind == "html":
            self.send(200, b"<html>Please log in</html>", "text/html")
        elif kind == "busy":
            self.send(429, b'{"error":{"message":"slow down"}}', retry="90")
        elif kind == "key":
            self.send(401, b'{"error":{"message":"wrong key sk-of-mine"}}')
        elif kind == "half":
            self.send(200, reply[:40])
        elif kind == "hang":
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            for i in range(len(reply)):
                try:
                    self.wfile.write(reply[i:i + 1])
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(1)
        else:
            self.send(200, reply)

    def send(self, status, body, kind="application/json", retry=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if retry:
            self.send_header("Retry-After", retry)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(port_file + ".new", "w") as f:
    f.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
