#!/usr/bin/env python3
"""A provider of embeddings on loopback that behaves like real ones, badly if
asked. Python's standard library alone, 3.9 or later.

usage: provider.py [--port 0] [--log FILE] [--port-file FILE] [--tls PEM]

Prints the port it listens on, then serves until it is ended. What an address
does stands in it, so one server plays many providers:

    http://127.0.0.1:PORT/OPTION,OPTION,.../v1        POST .../embeddings

  dims=N          dimensions (64)
  floats          answers numbers even where base64 is asked for
  shuffle         data in another order, with index
  cap=N           refuses more than N texts
  chars=N         refuses texts of more than N characters
  poison=WORD     refuses requests with a text that holds WORD
  lang=en|zh|mute in these words; mute: an empty 400
  refuse=STATUS   with this status instead of 400
  strict          refuses encoding_format and dimensions
  fail=STATUS     answers STATUS; wait=MS adds retry-after-ms
  quota           429 with insufficient_quota
  bad=KIND        html null empty few nan zero dims error garbage huge cut
                  trickle (a byte a second) away (sends on to another host)
                  (cut: hangs up in the middle), with word=WORD for texts
                  that hold it only
  mixup           in a batch all texts get the vector of the first
  slow=MS         answers that much later
  fast            vectors that cost little to make, like no others
  storm=N         takes each N-th request and refuses the others with 429 and
                  wait=MS; one that comes before its time is logged as early
  hang            never answers
  times=N         fail, quota, bad, hang: so often in this address, then not
  after=N         ... and only after N good answers
  tag=X           another address with counters of its own
  dialect=NAME    speaks as that row of dialects.py, and refuses whatever is not
                  its own; the address ends behind the options, without /v1
  model=NAME      which of its rows; says=WHAT: answers that error of its table

The log has a line of JSON a request: path, items, tokens, kind (input_type),
auth (whether a key came), status. No text is logged. Vectors follow from the
text alone, and texts that share words or Chinese character pairs are alike.
"""
import argparse
import base64
import hashlib
import json
import math
import ssl
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import dialects

LOCK = threading.Lock()
COUNTS = {}
WORDS = {
    "cap": {"en": "batch size is invalid, it should not be larger than {n}", "zh": "批量大小不能超过 {n}"},
    "chars": {"en": "input is longer than the context length", "zh": "输入文本过长"},
    "poison": {"en": "bad input", "zh": "输入含有不允许的内容"},
}


def terms(text):
    word = ""
    for c in text.lower() + " ":
        if c.isalnum() and ord(c) < 0x2e80:
            word += c
            continue
        if word:
            yield word
        word = ""
    han = [c for c in text if ord(c) >= 0x2e80]
    yield from (a + b for a, b in zip(han, han[1:] + [" "]))


def vector(text, dims):
    """Sum of one pseudo-random vector a term, so that shared terms are near."""
    out = [1e-3] * dims
    for term in set(terms(text)) or {text}:
        digest = hashlib.shake_128(term.encode()).digest(dims)
        for i, b in enumerate(digest):
            out[i] += b - 127.5
    norm = math.sqrt(sum(x * x for x in out))
    return [x / norm for x in out]


def fast_vector(text, dims):
    return list(hashlib.shake_128(text.encode()).digest(dims))


class Options(dict):
    def __init__(self, path):
        super().__init__()
        self.key = path.strip("/").split("/")[0]
        for part in unquote(self.key).split(","):
            name, _, value = part.partition("=")
            self[name] = value or True

    def num(self, name, default=0):
        return int(self.get(name, default))


class Refusal(Exception):
    def __init__(self, status, body="", wait=None):
        super().__init__(status)
        self.status, self.body, self.wait = status, body, wait


def error(code, message, **more):
    return json.dumps({"error": dict(code=code, message=message, **more)}, ensure_ascii=False)


def may_misbehave(o, texts):
    """Whether fail, quota, bad or hang happen now; counts them."""
    if "word" in o and not any(o["word"] in t for t in texts):
        return False
    with LOCK:
        c = COUNTS.setdefault(o.key, {"good": 0, "bad": 0})
        if c["good"] < o.num("after") or ("times" in o and c["bad"] >= o.num("times")):
            return False
        if not any(k in o for k in ("fail", "quota", "bad", "hang")):
            return False
        c["bad"] += 1
        return True


def check(o, request, texts):
    def refuse(name, n=0):
        lang = o.get("lang", "en")
        words = "" if lang == "mute" else error("invalid_request", WORDS[name][lang].format(n=n))
        raise Refusal(o.num("refuse", 400), words)

    if "strict" in o and ("encoding_format" in request or "dimensions" in request):
        raise Refusal(400, error("invalid_request", "unknown field"))
    if "cap" in o and len(texts) > o.num("cap"):
        refuse("cap", o.num("cap"))
    if "chars" in o and any(len(t) > o.num("chars") for t in texts):
        refuse("chars")
    if "poison" in o and any(o["poison"] in t for t in texts):
        refuse("poison")
    if any(not t for t in texts):
        raise Refusal(400, error("invalid_request", "input cannot be an empty string"))


def answer(o, request, texts, bad):
    dims = o.num("dims", request.get("dimensions", 64))
    if bad == "dims":
        dims += 1
    as_floats = "floats" in o or request.get("encoding_format") != "base64" or bad == "nan"
    data = []
    for i, text in enumerate(texts):
        v = (fast_vector if "fast" in o else vector)(texts[0] if "mixup" in o else text, dims)
        hit = bad and o.get("word", "") in text
        if hit and bad == "zero":
            v = [0.0] * dims
        if hit and bad == "nan":
            v[0] = math.nan
        value = v if as_floats else base64.b64encode(struct.pack("<%df" % dims, *v)).decode()
        data.append({"object": "embedding", "index": i, "embedding": value})
    if bad == "few":
        data.pop()
    if "shuffle" in o:
        data.reverse()
    tokens = sum(len(t) for t in texts)
    return {"object": "list", "model": request.get("model"), "data": data,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


FIXED = {"html": "<!doctype html><title>Sign in</title>", "null": "null", "empty": '{"data":[]}',
         "error": error("model_error", "model is not loaded"), "garbage": "\x01\x02 not json"}


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # head and body are two writes: 40 ms a reply otherwise
    protocol_version = "HTTP/1.1"
    log_file = None

    def log_message(self, *args):
        pass

    def note(self, o, texts, request, status, early=False):
        row = {"path": o.key, "items": len(texts), "tokens": sum(len(t) for t in texts),
               "kind": request.get("input_type"), "auth": "Authorization" in self.headers, "status": status}
        if early:
            row["early"] = True
        if self.log_file:
            with LOCK, open(self.log_file, "a", encoding="utf-8") as f:
                f.write(json.dumps(row) + "\n")

    def reply(self, status, body, kind="application/json", wait=None):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if wait is not None:
            self.send_header("Retry-After-Ms", str(wait))
        self.end_headers()
        self.wfile.write(data)

    def misbehave(self, o):
        """Answers in the place of good(); the name of what good() shall do."""
        if "hang" in o:
            time.sleep(3600)
        wait = o.num("wait") if "wait" in o else None
        if "quota" in o:
            raise Refusal(429, error("insufficient_quota", "You exceeded your current quota"))
        if "fail" in o:
            raise Refusal(o.num("fail"), error("error_%s" % o["fail"], "not now"), wait)
        if o["bad"] in FIXED:
            kind = "text/html" if o["bad"] == "html" else "application/json"
            raise Refusal(200, FIXED[o["bad"]], kind)
        return o["bad"]

    def cut_off(self, body):
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2])
        self.close_connection = True

    def trickle(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for c in body.encode():
            self.wfile.write(bytes([c]))
            self.wfile.flush()
            time.sleep(1)

    def send_away(self):
        self.send_response(307)
        self.send_header("Location", "http://other.invalid/v1/embeddings")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def storm(self, o, texts, request):
        """True: refused. Who was on the way when it was is not early."""
        now = time.monotonic()
        with LOCK:
            c = COUNTS.setdefault(o.key + " storm", {"seen": 0, "from": 0, "said": 0})
            c["seen"] += 1
            early = c["said"] + 0.005 < now < c["from"] - 0.001
            passes = c["seen"] % o.num("storm") == 0 and not early
            if not passes:
                c["said"], c["from"] = now, now + o.num("wait") / 1000
        self.note(o, texts if passes else [], request, 200 if passes else 429, early)
        if not passes:
            self.reply(429, error("rate_limit_exceeded", "slow down"), wait=o.num("wait"))
        return not passes

    def good(self, o, request, texts, bad):
        if bad == "away":
            self.note(o, texts, request, 307)
            self.send_away()
            return
        check(o, request, texts)
        body = json.dumps(answer(o, request, texts, bad))
        if bad == "huge":
            body = body[:-1] + ',"x":"%s"}' % ("x" * (300 << 20))
        self.note(o, texts, request, 200)
        if bad == "cut":
            self.cut_off(body)
            return
        if bad == "trickle":
            self.trickle(body)
            return
        with LOCK:
            COUNTS.setdefault(o.key, {"good": 0, "bad": 0})["good"] += 1
        self.reply(200, body)

    def speak(self, o, request):
        """Answers as a row of dialects.py does."""
        d = dialects.find(o["dialect"], o.get("model", "-"))
        row = {"path": o.key, "status": 200, "items": 0}
        try:
            rest = self.path[len(o.key) + 1:]
            texts, row["kind"], dims = dialects.check(d, rest, self.headers, request)
            row.update(items=len(texts), dims=dims)
            check(o, {}, texts)
            if "says" in o:
                row["status"], body = dialects.ERRORS[d["form"]].get(o["says"], dialects.ERRORS["openai"][o["says"]])
            else:
                vectors = [vector(t, dims or 64) for t in texts]
                body = dialects.answer(d, request, vectors, sum(len(t) for t in texts))
        except dialects.Wrong as w:
            row["status"], row["wrong"] = w.args
            body = {"error": {"message": w.args[1]}}
        except Refusal as r:
            row["status"], body = r.status, json.loads(r.body or "{}")
        with LOCK, open(self.log_file, "a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")
        self.reply(row["status"], json.dumps(body))

    def do_POST(self):
        o = Options(self.path)
        if "dialect" in o:
            self.speak(o, json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))
            return
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        texts = request.get("input", [])
        texts = [texts] if isinstance(texts, str) else texts
        if "slow" in o:
            time.sleep(o.num("slow") / 1000)
        if "storm" in o:
            if not self.storm(o, texts, request):
                self.reply(200, json.dumps(answer(o, request, texts, None)))
            return
        try:
            if not self.path.endswith("/v1/embeddings"):
                raise Refusal(404, error("not_found", "no such path"))
            self.good(o, request, texts, self.misbehave(o) if may_misbehave(o, texts) else None)
        except Refusal as r:
            self.note(o, texts, request, r.status)
            if r.status == 200:
                self.reply(200, r.body, r.wait)
            else:
                self.reply(r.status, r.body, wait=r.wait)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # those who hang up


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--log")
    p.add_argument("--port-file")
    p.add_argument("--tls", help="key and certificate in one file")
    args = p.parse_args()
    Handler.log_file = args.log
    server = Server(("127.0.0.1", args.port), Handler)
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(args.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    port = server.server_address[1]
    print(port, flush=True)
    if args.port_file:
        with open(args.port_file, "w", encoding="ascii") as f:
            f.write("%d\n" % port)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
