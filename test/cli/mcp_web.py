"""Talks to `remem mcp --http`: mcp_web.py SCENARIO. See mcp_talk.py."""
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time

REMEM = os.environ["REMEM"]
MODERN = "2026-07-28"
KEY = "io.modelcontextprotocol/"
META = {"_meta": {KEY + "protocolVersion": MODERN, KEY + "clientCapabilities": {}}}
LIMIT = 60


def check(a, b):
    assert a == b, "%r is not %r" % (a, b)


class Server:
    def __init__(self, *options):
        self.p = subprocess.Popen([REMEM, "mcp", "--http", "--port", "0", *options], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        line = self.p.stdout.readline().decode()
        m = re.match(r"serving http://(.+):(\d+)/mcp, token in (.+)\n", line)
        assert m, line + self.p.stderr.read().decode()
        self.port, self.file = int(m.group(2)), m.group(3)
        with open(self.file, encoding="utf-8") as f:
            self.token = f.read().strip()
        self.session = None

    def ask(self, method="POST", body=None, path="/mcp", drop=(), **headers):
        """(status, headers, body): headers by name with _ for -."""
        h = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
             "Authorization": "Bearer " + self.token}
        if self.session:
            h["Mcp-Session-Id"] = self.session
        h.update({k.replace("_", "-"): v for k, v in headers.items()})
        for name in drop:
            h.pop(name, None)
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        c.putrequest(method, path, skip_host="Host" in h)
        for k, v in h.items():
            c.putheader(k, v)
        if data is not None:
            c.putheader("Content-Length", str(len(data)))
        c.endheaders(data)
        r = c.getresponse()
        text = r.read()
        c.close()
        return r.status, r.headers, text

    def rpc(self, method, params=None, id=1, **headers):
        m = {"jsonrpc": "2.0", "method": method}
        if id is not None:
            m["id"] = id
        if params is not None:
            m["params"] = params
        status, h, text = self.ask(body=m, **headers)
        return status, h, json.loads(text) if text else None

    def modern(self, method, params=None, **headers):
        p = dict(params or {}, **META)
        more = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
        name = p.get("name") or p.get("uri")
        if name:
            more["Mcp_Name"] = name
        more.update(headers)
        return self.rpc(method, p, **{k: v for k, v in more.items() if v is not None})

    def hello(self):
        status, h, m = self.rpc("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                               "clientInfo": {"name": "t", "version": "1"}})
        check(status, 200)
        self.session = h["Mcp-Session-Id"]
        assert re.fullmatch("[0-9a-f]{32}", self.session)
        check(self.rpc("notifications/initialized", id=None)[0], 202)
        return m["result"]

    def end(self, sig=signal.SIGTERM):
        self.p.send_signal(sig)
        check(self.p.wait(LIMIT), 0)


def call(query):
    return {"name": "memory_search", "arguments": {"query": query}}


def case_legacy():
    s = Server()
    check(stat.S_IMODE(os.stat(s.file).st_mode), 0o600)
    check(s.rpc("tools/list")[0], 400)
    r = s.hello()
    check(r["protocolVersion"], "2025-11-25")
    status, h, m = s.rpc("tools/list", MCP_Protocol_Version="2025-11-25")
    check((status, h["Content-Type"]), (200, "application/json"))
    check(m["result"]["tools"][0]["name"], "memory_search")
    m = s.rpc("tools/call", call("支付网关"))[2]
    assert "ERR_PAY_4021" in m["result"]["content"][0]["text"]
    check(s.rpc("nothing/there")[0], 200)
    check(s.rpc("tools/list", MCP_Protocol_Version="1999-01-01")[0], 400)
    check(s.ask(body=b"{")[0], 400)
    check(s.ask(body=b"")[0], 400)
    check(s.ask(body={"jsonrpc": "2.0", "id": 1, "result": {}})[0], 202)
    check(s.ask("GET")[0], 405)
    check(s.ask("DELETE", Mcp_Session_Id="0" * 32)[0], 404)
    check(s.ask("DELETE", drop=["Mcp-Session-Id"])[0], 400)
    check(s.ask("DELETE")[0], 204)
    check(s.rpc("tools/list")[0], 404)
    s.end()


def case_modern():
    s = Server()
    status, h, m = s.modern("server/discover")
    check((status, m["result"]["supportedVersions"]), (200, [MODERN]))
    assert "Mcp-Session-Id" not in h
    m = s.modern("tools/call", call("Where does Ann live?"))[2]
    check(m["result"]["structuredContent"]["results"][0]["path"], "memory/2026-03-01.md")
    for headers in ({"Mcp_Method": "tools/list"}, {"Mcp_Method": None}, {"Mcp_Name": "memory_get"}, {"Mcp_Name": None},
                    {"MCP_Protocol_Version": "2025-11-25"}, {"MCP_Protocol_Version": None}):
        status, h, m = s.modern("tools/call", call("x"), **headers)
        check((status, m["error"]["code"]), (400, -32020))
    check(s.modern("resources/read", {"uri": "memory://MEMORY.md"},
                   Mcp_Name="=?base64?bWVtb3J5Oi8vTUVNT1JZLm1k?=")[0], 200)
    check(s.modern("resources/read", {"uri": "memory://MEMORY.md"}, Mcp_Name="=?base64?****?=")[0], 400)
    status, h, m = s.modern("nothing/there")
    check((status, m["error"]["code"]), (404, -32601))
    p = {"_meta": {KEY + "protocolVersion": "1999-01-01"}}
    status, h, m = s.rpc("tools/list", p, MCP_Protocol_Version="1999-01-01", Mcp_Method="tools/list")
    check((status, m["error"]["code"], m["error"]["data"]["supported"]), (400, -32022, [MODERN]))
    s.end(signal.SIGINT)


def case_callers():
    s = Server()
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    for status, headers in (
            (401, {"drop": ["Authorization"]}), (401, {"Authorization": "Bearer x"}), (401, {"Authorization": "Bearer "}),
            (401, {"Authorization": s.token}), (401, {"Authorization": "Bearer " + s.token + "0"}),
            (401, {"Authorization": "Bearer " + s.token[:-1]}), (200, {"Authorization": "bearer " + s.token}),
            (403, {"Host": "evil.example"}), (403, {"Host": "127.0.0.1.evil.example"}), (403, {"Host": "localhost:1x"}),
            (200, {"Host": "localhost:%d" % s.port}), (200, {"Host": "[::1]"}),
            (403, {"Origin": "https://evil.example"}), (403, {"Origin": "null"}), (403, {"Origin": "http://localhost.evil"}),
            (403, {"Origin": "file://"}), (200, {"Origin": "http://localhost:3000"}), (200, {"Origin": "http://127.0.0.1"}),
            (404, {"path": "/"}), (404, {"path": "/mcp/x"}), (415, {"Content_Type": "text/plain"}),
            (415, {"drop": ["Content-Type"]}), (406, {"Accept": "text/html"}), (200, {"drop": ["Accept"]})):
        check((s.ask(body=body, **headers)[0], headers), (status, headers))
    check(s.ask("OPTIONS", Origin="http://localhost")[0], 405)
    check(s.ask("PUT", body=body)[0], 405)
    check(s.ask(body=body, drop=["Authorization"])[1]["WWW-Authenticate"], "Bearer")
    s.end()


def case_large():
    s = Server()
    s.hello()
    status, h, text = s.ask(body=b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b"x" * (100 << 20) + b'"}}')
    check(status, 400)
    assert b"16 MiB" in text
    check(s.rpc("ping")[0], 200)
    # Headers without an end, half a body, nothing at all: only their own connection suffers.
    for data in (b"POST /mcp HTTP/1.1\r\nX: " + b"y" * 200000, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
                 b"\0\xff\r\n\r\n", b""):
        c = socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT)
        try:
            c.sendall(data)
            c.shutdown(socket.SHUT_WR)
            c.recv(100)
        except OSError:
            pass
        c.close()
    check(s.rpc("ping")[0], 200)
    s.end()


def case_stream():
    """Progress comes as events before the answer."""
    s = Server("--tools", "full")
    s.hello()
    status, h, text = s.ask(body={"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                                  "params": {"name": "memory_index", "arguments": {}, "_meta": {"progressToken": 5}}})
    check((status, h["Content-Type"]), (200, "text/event-stream"))
    events = [json.loads(e.split("data: ", 1)[1]) for e in text.decode().split("\n\n") if e.startswith("event")]
    assert all(e["method"] == "notifications/progress" and e["params"]["progressToken"] == 5 for e in events[:-1])
    assert len(events) > 1
    check((events[-1]["id"], events[-1]["result"]["structuredContent"]["complete"]), (7, True))
    # Who does not take events gets one document.
    status, h, text = s.ask(body={"jsonrpc": "2.0", "id": 8, "method": "tools/call",
                                  "params": {"name": "memory_index", "arguments": {}, "_meta": {"progressToken": 5}}},
                            Accept="application/json")
    check((status, json.loads(text)["id"]), (200, 8))
    s.end()


def case_many():
    import concurrent.futures as f
    s = Server()
    s.hello()
    with f.ThreadPoolExecutor(16) as pool:
        got = list(pool.map(lambda i: s.rpc("tools/call", call("Berlin"), id=i), range(200)))
    check([m["id"] for _, _, m in got], list(range(200)))
    check({status for status, _, _ in got}, {200})
    # As many sessions as anybody likes: the oldest make room.
    first = s.session
    for _ in range(300):
        s.session = None
        s.hello()
    check(s.rpc("ping")[0], 200)
    check(s.rpc("ping", Mcp_Session_Id=first)[0], 404)
    s.end(signal.SIGHUP)


def case_token():
    s = Server("--token-file", "my-token")
    check(s.file, "my-token")
    first = s.token
    s.end()
    s = Server("--token-file", "my-token")
    check(s.token, first)
    s.end()
    for mode, text, words in ((0o644, first, "chmod 600"), (0o600, "short", "16")):
        with open("my-token", "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod("my-token", mode)
        p = subprocess.run([REMEM, "mcp", "--http", "--port", "0", "--token-file", "my-token"], capture_output=True,
                           timeout=LIMIT, check=False)
        assert p.returncode == 1 and words in p.stderr.decode(), p
    p = subprocess.run([REMEM, "mcp", "--http", "--host", "example.com"], capture_output=True, timeout=LIMIT, check=False)
    check(p.returncode, 2)
    p = subprocess.run([REMEM, "mcp", "--port", "5"], capture_output=True, timeout=LIMIT, check=False)
    check(p.returncode, 2)


def case_cancel():
    """A closed stream ends its search: the next is answered soon."""
    s = Server()
    s.hello()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": dict(call("x"), _meta={"progressToken": 1})})
    socks = []
    for _ in range(3):
        c = socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT)
        c.sendall(("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\nAccept: */*, "
                   "text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                   % (s.token, s.session, len(body), body)).encode())
        socks.append(c)
    check(s.rpc("ping")[0], 200)
    for c in socks:
        c.close()
    check(s.rpc("ping")[0], 200)
    s.end()


if sys.argv[1] == "serve":  # for the official client: prints URL and token
    server = Server(*sys.argv[2:])
    print("http://127.0.0.1:%d/mcp" % server.port, server.token, flush=True)
    sys.stdin.read()
    server.end()
else:
    globals()["case_" + sys.argv[1]](*sys.argv[2:])
