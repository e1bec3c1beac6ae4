#!/usr/bin/env python3
"""Chat models on loopback, each speaking as its vendor documents and refusing
what is not its own. Python's standard library alone.

usage: chat.py [--port-file FILE] [--log FILE] [--answer FILE]

Prints the port it listens on, and serves until its standard input or its
parent ends. The first part of a path says who answers and what:

    http://127.0.0.1:PORT/DIALECT,OPTION,.../rest of the dialect's path

  say=WHAT     text json fenced prose empty cut refusal html half error200
               trickle (a byte a second) huge away (redirect) reset, or a status
               (402, 429, ...) with the dialect's own words for it
  after=VALUE  header Retry-After
  times=N      so often, and then a good answer
  plain        refuses what asks for JSON (an older server)
  gate         answers when the file ANSWER.go is there
  answer       says the text of the answer file, as text or as JSON
  tag=X        counts for itself: GET /count/FIRST-PART tells

The log has a line of JSON a request: dialect, status, wrong, the words of the
prompt and the limits asked for.
"""
import argparse
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-secret-1234"
LOCK = threading.Lock()
COUNTS = {}
TEXT = "好的, yes"
OBJECT = {"name": "n1", "summary": "记忆"}


class Wrong(Exception):
    """Status and words for a request that the dialect does not have."""


def only(where, got, allowed):
    extra = set(got) - set(allowed)
    if extra:
        raise Wrong(400, "%s: unknown field %s" % (where, ", ".join(sorted(extra))))


def need(what, ok):
    if not ok:
        raise Wrong(400, what)


class OpenAI:
    path = "/v1/chat/completions"
    header, before = "Authorization", "Bearer "

    def check(self, r):
        only("request", r, ("model", "messages", "max_tokens", "max_completion_tokens", "response_format"))
        need("roles", all(m["role"] in ("system", "user", "assistant") for m in r["messages"]))
        return {"json": "response_format" in r, "prompt": [m["content"] for m in r["messages"]],
                "most": r.get("max_tokens", r.get("max_completion_tokens"))}

    def answer(self, ask, text, end):
        message = {"role": "assistant", "content": text, "refusal": None}
        if end == "refusal":
            message.update(content=None, refusal="I cannot do that")
        reason = {"cut": "length"}.get(end, "stop")
        return {"id": "c1", "choices": [{"index": 0, "finish_reason": reason, "message": message}],
                "usage": {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42}}

    def error(self, status):
        code = {402: "insufficient_balance", 404: "model_not_found", 429: "rate_limit_exceeded"}.get(status, "x")
        return {"error": {"message": "words about %d %s" % (status, KEY), "type": "some_error", "code": code}}


class Anthropic:
    path = "/v1/messages"
    header, before = "x-api-key", ""

    def check(self, r):
        only("request", r, ("model", "messages", "max_tokens", "system", "tools", "tool_choice"))
        need("max_tokens: Field required", isinstance(r.get("max_tokens"), int))
        need("roles", all(m["role"] in ("user", "assistant") for m in r["messages"]))
        need("messages: at least one", r["messages"])
        tools = r.get("tools", [])
        for t in tools:
            only("tool", t, ("name", "description", "input_schema"))
            need("schema", t["input_schema"]["type"] == "object")
            need("choice", r["tool_choice"] == {"type": "tool", "name": t["name"]})
        return {"json": bool(tools), "prompt": [r.get("system")] + [m["content"] for m in r["messages"]],
                "most": r["max_tokens"], "tool": tools and tools[0]["name"]}

    def answer(self, ask, text, end):
        content = [{"type": "text", "text": text}] if text else []
        reason = {"cut": "max_tokens", "refusal": "refusal"}.get(end, "end_turn")
        if ask["json"] and end == "json":
            reason = "tool_use"
            content = [{"type": "text", "text": "Let me say it."},
                       {"type": "tool_use", "id": "t1", "name": ask["tool"], "input": json.loads(text)}]
        return {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": content,
                "stop_reason": reason, "stop_sequence": None,
                "usage": {"input_tokens": 20, "output_tokens": 12, "cache_creation_input_tokens": 4,
                          "cache_read_input_tokens": 6}}

    def error(self, status):
        kind = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
                403: "permission_error", 404: "not_found_error", 413: "request_too_large",
                429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": "words about %d %s" % (status, KEY)},
                "request_id": "req_1"}


class Gemini:
    path = "/v1beta/models/m1:generateContent"
    header, before = "x-goog-api-key", ""

    def check(self, r):
        only("request", r, ("contents", "systemInstruction", "generationConfig"))
        config = r.get("generationConfig", {})
        only("config", config, ("maxOutputTokens", "responseMimeType", "responseSchema"))
        need("roles", all(c["role"] in ("user", "model") for c in r["contents"]))
        if "responseSchema" in config:
            need("mime", config.get("responseMimeType") == "application/json")
            need("type", config["responseSchema"]["type"] == "OBJECT" and config["responseSchema"]["properties"])
        parts = r.get("systemInstruction", {}).get("parts", []) + [p for c in r["contents"] for p in c["parts"]]
        return {"json": "responseMimeType" in config, "prompt": [p["text"] for p in parts],
                "most": config.get("maxOutputTokens")}

    def answer(self, ask, text, end):
        usage = {"promptTokenCount": 30, "totalTokenCount": 42, "thoughtsTokenCount": 5, "candidatesTokenCount": 7}
        if end == "refusal":
            return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage}
        reason = {"cut": "MAX_TOKENS"}.get(end, "STOP")
        parts = [{"text": "thinking aloud", "thought": True}] + ([{"text": text}] if text else [])
        return {"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0}],
                "usageMetadata": usage, "modelVersion": "m1"}

    def error(self, status):
        word = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
                429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}.get(status, "UNAVAILABLE")
        return {"error": {"code": status, "message": "words about %d %s" % (status, KEY), "status": word}}


class Ollama:
    path = "/api/chat"
    header = before = None

    def check(self, r):
        only("request", r, ("model", "messages", "stream", "think", "truncate", "shift", "format", "options"))
        only("options", r.get("options", {}), ("num_ctx", "num_predict"))
        need("stream", r.get("stream") is False)
        prompt = [m["content"] for m in r["messages"]]
        # A byte a token is the worst there is; a window for a third is fair.
        need("the prompt is cut", r["options"]["num_ctx"] >= sum(len(p) for p in prompt) // 4)
        if "format" in r:
            need("format", r["format"] == "json" or r["format"]["type"] == "object")
        return {"json": "format" in r, "prompt": prompt, "most": r["options"]["num_predict"]}

    def answer(self, ask, text, end):
        if end == "refusal":
            text = "I cannot do that"
        return {"model": "m1", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": text},
                "done": True, "done_reason": "length" if end == "cut" else "stop", "prompt_eval_count": 30,
                "eval_count": 12}

    def error(self, status):
        return {"error": "words about %d %s" % (status, KEY)}


DIALECTS = {"openai-compatible": OpenAI(), "anthropic": Anthropic(), "gemini": Gemini(), "ollama": Ollama()}
TEXTS = {
    "text": TEXT, "json": json.dumps(OBJECT), "empty": "", "cut": '{"name":"ha', "refusal": "",
    "fenced": "```json\n%s\n```" % json.dumps(OBJECT),
    "prose": "Sure, here it is:\n\n%s\n\nAnything else?" % json.dumps(OBJECT),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    args = None

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # it hung up, as some tests make it do

    def log_message(self, *args):
        pass

    def send(self, status, body, kind="application/json", more=()):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        key = self.path[len("/count/"):]
        with LOCK:
            self.send(200, str(COUNTS.get(key, 0)), "text/plain")

    def note(self, **row):
        if self.args.log:
            with LOCK, open(self.args.log, "a", encoding="utf-8") as f:
                f.write(json.dumps(row, ensure_ascii=False) + "\n")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        key, _, rest = self.path[1:].partition("/")
        name, *options = key.split(",")
        o = dict((p.split("=", 1) + [True])[:2] for p in options)
        with LOCK:
            COUNTS[key] = count = COUNTS.get(key, 0) + 1
        d = DIALECTS[name]
        say = o.get("say", "answer" if "answer" in o else "text")
        if "times" in o and count > int(o["times"]):
            say = "json"
        try:
            if "/" + rest != d.path:
                raise Wrong(404, "no such path /" + rest)
            if d.header and self.headers.get(d.header) != d.before + KEY:
                raise Wrong(401, "no key")
            if name == "anthropic" and self.headers.get_all("anthropic-version") != ["2023-06-01"]:
                raise Wrong(400, "no version")
            ask = d.check(request)
            if "plain" in o and ask["json"]:
                raise Wrong(400, "JSON is not known here")
        except Wrong as w:
            self.note(dialect=name, status=w.args[0], wrong=w.args[1])
            self.send(w.args[0], json.dumps({"error": {"message": w.args[1]}}))
            return
        self.note(dialect=name, status=200, say=say, **ask)
        while "gate" in o and not os.path.exists(self.args.answer + ".go"):
            time.sleep(.02)
        self.say(d, ask, say, o)

    def say(self, d, ask, say, o):
        if say.isdigit():
            more = [("Retry-After", o["after"])] if "after" in o else []
            self.send(int(say), json.dumps(d.error(int(say))), more=more)
            return
        if say == "error200":
            self.send(200, json.dumps(d.error(529)))
            return
        if say == "html":
            self.send(200, "<!doctype html><title>Sign in</title>", "text/html")
            return
        if say == "away":
            self.send(307, "", more=[("Location", "http://other.invalid/x")])
            return
        if say == "answer":
            with open(self.args.answer, encoding="utf-8") as f:
                text = f.read()
            say = "json" if ask["json"] else "text"
        else:
            text = TEXTS.get(say, TEXT)
        body = json.dumps(d.answer(ask, text, say)).encode()
        if say == "half":
            self.send(200, body[:len(body) // 2])
        elif say == "huge":
            self.send(200, body + b" " * (8 << 20))
        elif say in ("reset", "trickle"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.close_connection = True
            for c in body[:len(body) // 2]:
                self.wfile.write(bytes([c]))
                if say == "trickle":
                    self.wfile.flush()
                    time.sleep(1)
        else:
            self.send(200, body)


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--port-file", "--log", "--answer"):
        parser.add_argument(name)
    Handler.args = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if Handler.args.port_file:
        with open(Handler.args.port_file + ".new", "w", encoding="utf-8") as f:
            f.write(str(server.server_port))
        os.rename(Handler.args.port_file + ".new", Handler.args.port_file)
    else:
        print(server.server_port, flush=True)
        threading.Thread(target=end_with_parent, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
