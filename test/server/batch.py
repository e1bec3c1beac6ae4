#!/usr/bin/env python3
"""Batch interfaces of OpenAI, Voyage and Gemini on loopback, from their public
documentation; requests in another form are refused. Python's standard library
alone, 3.9 or later.

usage: batch.py --log FILE --port-file FILE --control FILE

    http://127.0.0.1:PORT/v1          OpenAI
    http://127.0.0.1:PORT/voyage/v1   Voyage
    http://127.0.0.1:PORT/v1beta      Gemini

The control file is JSON and read at each request:

  looks=N         a job is at work for so many looks (0)
  state=WORD      what it is at the end (completed); "stuck" never ends
  lines=LIST      what is wrong with the answers: shuffle missing double
                  unknown error html cut torn long zero dims bom
  part=N          only so many lines were done
  look=STATUS     a look answers that, look_times so often
  upload=STATUS   so does an upload, upload_times so often; upload_max=N
                  answers 413 to more lines than N
  create=STATUS   so does the start of a job, create_times so often; with
                  lost=1 the job is there all the same
  cancel=STATUS   so does the end of one
  forget=1        no job is known any more
  gone=1          files of answers are not there any more
  sees=MAP        what is in a picture or sound of a type, as a text
  poison=WORD     a text with that word gets an error in its line, and 400

The log has a line of JSON a request: call, status, lines. No text is logged.
"""
import argparse
import base64
import email
import json
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

from provider import vector

LOCK = threading.Lock()
DIMS = 64
STATE = {"files": {}, "jobs": {}, "next": 1, "counts": {}}


class Answer(Exception):
    def __init__(self, status, body):
        super().__init__(status)
        self.status = status
        self.body = body if isinstance(body, (bytes, str)) else json.dumps(body, ensure_ascii=False)


def fail(status, message="not now"):
    raise Answer(status, {"error": {"message": message, "code": status}})


def need(ok, what):
    if not ok:
        fail(400, "wrong form: " + what)


def only(obj, *names):
    need(isinstance(obj, dict) and not set(obj) - set(names), "members %s" % sorted(set(obj) - set(names)))


def new_id(kind):
    STATE["next"] += 1
    return "%s-%d" % (kind, STATE["next"])


def pack(v):
    return base64.b64encode(struct.pack("<%df" % len(v), *v)).decode()


def openai_line(row):
    only(row, "custom_id", "method", "url", "body")
    need(row["method"] == "POST" and row["url"] == "/v1/embeddings", "method or url")
    body = row["body"]
    only(body, "model", "input", "encoding_format", "dimensions")
    need(isinstance(body["input"], str), "input")
    return row["custom_id"], body["input"], body.get("dimensions", DIMS), body.get("encoding_format") == "base64"


def voyage_line(row):
    only(row, "custom_id", "body")
    only(row["body"], "input")
    need(isinstance(row["body"]["input"], list) and len(row["body"]["input"]) == 1, "input")
    return row["custom_id"], row["body"]["input"][0], None, False


def gemini_line(row):
    only(row, "key", "request")
    request = row["request"]
    only(request, "model", "content", "taskType", "outputDimensionality")
    need(request["model"].startswith("models/"), "model")
    return row["key"], request["content"]["parts"][0]["text"], request.get("outputDimensionality", DIMS), False


LINE = {"openai": openai_line, "voyage": voyage_line, "gemini": gemini_line}


def answer_line(vendor, key, v, as_text, error=None):
    if vendor == "gemini":
        if error:
            return {"key": key, "error": {"code": 400, "message": error}}
        return {"key": key, "response": {"embedding": {"values": v}}}
    if error:
        body = {"error": {"message": error}}
        return {"id": "r", "custom_id": key, "response": {"status_code": 400, "body": body}, "error": None}
    body = {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": pack(v) if as_text else v}],
            "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    return {"id": "r", "custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}


def make_answers(vendor, job, c):
    """The two files of a job that is over: answers and errors, as bytes."""
    wrong = c.get("lines", "").split()
    good, bad = [], []
    for i, raw in enumerate(job["lines"]):
        key, text, dims, as_text = LINE[vendor](raw)
        v = vector(text, job["dims"] or dims or DIMS)
        if i >= c.get("part", 1 << 30) or ("missing" in wrong and i % 5 == 1):
            continue
        if ("error" in wrong and i % 5 == 2) or (c.get("poison") and c["poison"] in text):
            bad.append(answer_line(vendor, key, None, False, "bad input 坏"))
            continue
        if "zero" in wrong and i == 3:
            v = [0.0] * len(v)
        if "dims" in wrong and i == 4:
            v = v + [0.5]
        good.append(answer_line(vendor, key, v, as_text))
    if "double" in wrong:
        good += good[:3]
    if "unknown" in wrong:
        good.append(answer_line(vendor, "f" * 64, [1.0] * DIMS, False))
        good.append(answer_line(vendor, "../../etc", [1.0] * DIMS, False))
    if "shuffle" in wrong:
        good.reverse()
    if vendor == "gemini":
        good, bad = good + bad, []
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in good)
    if "html" in wrong:
        text = "<!doctype html>\n<title>Sign in</title>\n"
    if "long" in wrong:
        text = '{"custom_id":"%s"}\n' % ("x" * (2 << 20)) + text
    if "torn" in wrong:
        text = text[:len(text) * 2 // 3]
    return text.encode(), "".join(json.dumps(r) + "\n" for r in bad).encode()


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # as in provider.py
    protocol_version = "HTTP/1.1"
    args = None

    def log_message(self, *args):
        pass

    def note(self, call, status, lines=0):
        with open(self.args.log, "a", encoding="utf-8") as f:
            f.write(json.dumps({"call": call, "status": status, "lines": lines}) + "\n")

    def send(self, status, body, cut=False):
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if cut else data)
        if cut:
            self.close_connection = True

    def sometimes(self, c, what):
        """A status that the control file has for this call, as often as it says."""
        if not c.get(what):
            return None
        n = STATE["counts"].get(what, 0)
        if n >= c.get(what + "_times", 1 << 30):
            return None
        STATE["counts"][what] = n + 1
        return c[what]

    def key_ok(self, vendor):
        if vendor == "gemini":
            return self.headers.get("x-goog-api-key") == "sk-test-000000"
        return self.headers.get("Authorization") == "Bearer sk-test-000000"

    def upload(self, vendor, body, c):
        kind = self.headers["Content-Type"]
        need(kind.startswith("multipart/related" if vendor == "gemini" else "multipart/form-data"), kind)
        msg = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        parts = msg.get_payload()
        need(len(parts) == 2, "two parts")
        if vendor == "gemini":
            only(json.loads(parts[0].get_payload()), "file")
        else:
            need(parts[0].get_payload() == "batch", "purpose")
        raw = parts[1].get_payload(decode=True).decode()
        lines = [json.loads(x) for x in raw.split("\n") if x]
        self.call = ("upload", len(lines))
        status = self.sometimes(c, "upload")
        if status:
            fail(status)
        if len(lines) > c.get("upload_max", 1 << 30):
            fail(413, "too large")
        for x in lines:
            LINE[vendor](x)
        name = ("files/" if vendor == "gemini" else "") + new_id("file")
        STATE["files"][name] = raw.encode()
        return {"file": {"name": name}} if vendor == "gemini" else {"id": name, "object": "file"}

    def create(self, vendor, request, c):
        self.call = ("create", 0)
        if vendor == "gemini":
            only(request, "batch")
            batch = request["batch"]
            only(batch, "displayName", "inputConfig")
            name, file, dims = batch["displayName"], batch["inputConfig"]["fileName"], None
        else:
            only(request, "input_file_id", "endpoint", "completion_window", "metadata",
                 *(["request_params"] if vendor == "voyage" else []))
            need(request["completion_window"] == ("12h" if vendor == "voyage" else "24h"), "window")
            need(request["endpoint"] == "/v1/embeddings", "endpoint")
            name, file, dims = request["metadata"]["remem"], request["input_file_id"], None
            if vendor == "voyage":
                params = request["request_params"]
                only(params, "model", "input_type", "output_dimension")
                need(params["input_type"] == "document", "input_type")
                dims = params.get("output_dimension", DIMS)
        status = self.sometimes(c, "create")
        if status and not c.get("lost"):
            fail(status, "no more batches")
        if file not in STATE["files"]:
            fail(404, "no such file")
        ident = ("batches/" if vendor == "gemini" else "") + new_id("batch")
        lines = [json.loads(x) for x in STATE["files"][file].decode().split("\n") if x]
        self.call = ("create", len(lines))
        STATE["jobs"][ident] = {"name": name, "lines": lines, "looks": 0, "dims": dims, "vendor": vendor}
        if status:
            fail(status)
        return self.show(ident, c)

    def show(self, ident, c):
        job = STATE["jobs"][ident]
        over = job.get("cancelled") or (job["looks"] > c.get("looks", 0) and c.get("state") != "stuck")
        state = "cancelled" if job.get("cancelled") else c.get("state", "completed")
        if over and "output" not in job:
            job["output"], job["errors"] = "", ""
            if state != "failed":
                good, bad = make_answers(job["vendor"], job, c)
                for kind, data in (("output", good), ("errors", bad)):
                    if data:
                        job[kind] = ("files/" if job["vendor"] == "gemini" else "") + new_id(kind)
                        STATE["files"][job[kind]] = data
        done = len(job["lines"]) if over else 1
        if job["vendor"] == "gemini":
            words = {"completed": "SUCCEEDED", "stuck": "RUNNING"}
            out = {"name": ident, "metadata": {
                "displayName": job["name"], "batchStats": {"requestCount": str(len(job["lines"])),
                                                           "successfulRequestCount": str(done)},
                "state": "BATCH_STATE_" + (words.get(state, state.upper()) if over else "RUNNING")}}
            if over:
                out["done"] = True
                out["response"] = {"responsesFile": job["output"]}
            if over and state == "failed":
                out["error"] = {"code": 3, "message": "the file is wrong"}
            return out
        out = {"id": ident, "object": "batch", "status": state if over else "in_progress",
               "metadata": {"remem": job["name"]}, "output_file_id": job.get("output") or None,
               "error_file_id": job.get("errors") or None,
               "request_counts": {"total": len(job["lines"]), "completed": done}}
        if over and state == "failed":
            out["errors"] = {"data": [{"message": "the file is wrong"}]}
        return out

    def seen(self, parts, c):
        """The text, or what is in the picture that comes with it."""
        if len(parts) == 1:
            return parts[0]["text"]
        only(parts[1], "inlineData")
        data = parts[1]["inlineData"]
        only(data, "mimeType", "data")
        raw = base64.b64decode(data["data"], validate=True)
        self.note("media " + data["mimeType"], 200, len(raw))
        return c.get("sees", {}).get(data["mimeType"], "nothing")

    def plain(self, vendor, request, c):
        """The ordinary interface, for what is not in a job."""
        if vendor == "gemini":
            parts = request.get("requests", [request])
            texts = [self.seen(p["content"]["parts"], c) for p in parts]
        else:
            texts = request["input"]
        self.call = ("plain", len(texts))
        if c.get("poison") and any(c["poison"] in t for t in texts):
            fail(400, "bad input")
        vectors = [vector(t, DIMS) for t in texts]
        if vendor == "gemini":
            if "requests" in request:
                return {"embeddings": [{"values": v} for v in vectors]}
            return {"embedding": {"values": vectors[0]}}
        return {"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)],
                "usage": {"total_tokens": 7 * len(texts)}}

    def fetch(self, name, c):
        self.call = ("fetch", 0)
        if c.get("gone") or name not in STATE["files"]:
            fail(404, "no such file")
        cut = "cut" in c.get("lines", "").split() and not STATE["counts"].get("cut " + name)
        STATE["counts"]["cut " + name] = 1
        self.note("fetch", 200)
        self.send(200, STATE["files"][name], cut)
        return None

    def look(self, ident, c):
        self.call = ("look", 0)
        status = self.sometimes(c, "look")
        if status:
            fail(status)
        if c.get("forget") or ident not in STATE["jobs"]:
            fail(404, "no such batch")
        STATE["jobs"][ident]["looks"] += 1
        return self.show(ident, c)

    def stop(self, ident, c):
        self.call = ("cancel", 0)
        status = self.sometimes(c, "cancel")
        if status:
            fail(status)
        STATE["jobs"][ident]["cancelled"] = True
        return {} if ident.startswith("batches/") else self.show(ident, c)

    def list_jobs(self, vendor, c):
        self.call = ("list", 0)
        jobs = [self.show(i, c) for i, j in STATE["jobs"].items() if j["vendor"] == vendor]
        return {"operations": jobs} if vendor == "gemini" else {"object": "list", "data": jobs, "has_more": False}

    def gemini(self, method, path, body, c):
        if path == "/upload/v1beta/files":
            need(parse_qs(urlparse(self.path).query) == {"uploadType": ["multipart"]}, "uploadType")
            return self.upload("gemini", body, c)
        if path.startswith("/download/v1beta/files/"):
            return self.fetch(path[len("/download/v1beta/"):-len(":download")], c)
        rest = path[len("/v1beta/"):]
        if rest.endswith(":asyncBatchEmbedContent"):
            return self.create("gemini", json.loads(body), c)
        if rest.endswith(":cancel"):
            return self.stop(rest[:-len(":cancel")], c)
        if rest == "batches":
            return self.list_jobs("gemini", c)
        if rest.startswith("batches/"):
            return self.look(rest, c)
        if rest.startswith("files/") and method == "DELETE":
            return self.discard(rest)
        return self.plain("gemini", json.loads(body), c)

    def discard(self, name):
        self.call = ("discard", 0)
        STATE["files"].pop(name, None)
        return {}

    def files(self, vendor, method, rest, body, c):
        parts = rest.split("/")
        if parts[0] == "embeddings":
            return self.plain(vendor, json.loads(body), c)
        if rest == "files":
            return self.upload(vendor, body, c)
        if parts[0] == "files" and method == "DELETE":
            return self.discard(parts[1])
        if parts[0] == "files":
            return self.fetch(parts[1], c)
        if rest == "batches":
            return self.create(vendor, json.loads(body), c) if method == "POST" else self.list_jobs(vendor, c)
        if parts[-1] == "cancel":
            return self.stop(parts[1], c)
        return self.look(parts[1], c)

    def handle_one(self, method):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlparse(self.path).path
        self.call = (path, 0)
        with LOCK:
            try:
                with open(self.args.control, encoding="utf-8") as f:
                    c = json.loads(f.read() or "{}")
                vendor = "voyage" if path.startswith("/voyage/") else "openai" if path.startswith("/v1/") else "gemini"
                if not self.key_ok(vendor):
                    fail(401, "no key")
                if vendor == "gemini":
                    out = self.gemini(method, path, body, c)
                else:
                    out = self.files(vendor, method, path.split("/v1/", 1)[1], body, c)
                if out is None:
                    return
                answer = Answer(200, out)
            except Answer as a:
                answer = a
            self.note(self.call[0], answer.status, self.call[1])
        self.send(answer.status, answer.body)

    def do_POST(self):
        self.handle_one("POST")

    def do_GET(self):
        self.handle_one("GET")

    def do_DELETE(self):
        self.handle_one("DELETE")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # those who hang up


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--log", required=True)
    p.add_argument("--port-file", required=True)
    p.add_argument("--control", required=True)
    Handler.args = p.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    with open(Handler.args.port_file, "w", encoding="ascii") as f:
        f.write("%d\n" % server.server_address[1])
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
