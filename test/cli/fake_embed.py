"""An embeddings server on loopback that counts: fake_embed.py PORTFILE LOG."""
import hashlib
import http.server
import json
import os
import sys

# Of 32 dimensions, or FAKE_DIMS.
REPEAT = int(os.environ.get("FAKE_DIMS", 32)) // 32


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        with open(sys.argv[2], "a", encoding="utf-8") as f:
            f.write(json.dumps({"key": self.headers.get("Authorization"), "body": body}, ensure_ascii=False) + "\n")
        rows = []
        for i, t in enumerate(texts):
            h = hashlib.sha256(t.encode()).digest()
            rows.append({"object": "embedding", "index": i, "embedding": [b / 128 - 1 for b in h * REPEAT]})
        out = json.dumps({"object": "list", "data": rows, "model": "m", "usage": {"total_tokens": 7}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as f:
    f.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
