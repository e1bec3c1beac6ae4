"""Times `remem mcp`: talk.py REMEM. See run."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

REMEM = sys.argv[1]
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}
QUERIES = ("where did we put the gateway settings", "网关的设置在哪里", "ERR_PAY_4021", "上周决定了什么")


def notes(home):
    ws = os.path.join(home, "notes")
    os.makedirs(os.path.join(ws, "memory"))
    with open(os.path.join(ws, "MEMORY.md"), "w", encoding="utf-8") as f:
        f.write("# Memory\n\n- The gateway waits 30 seconds\n- 小王负责支付网关，出错码 ERR_PAY_4021\n")
    for i in range(2000):
        with open(os.path.join(ws, "memory", "topic-%d.md" % i), "w", encoding="utf-8") as f:
            f.write("# Topic %d\n\n- the gateway loads its settings %d again at night\n- 第 %d 次会议决定了新的索引服务\n" % (i, i, i))
    return ws


def show(name, ms):
    print("%-44s best %7.2f ms, median %7.2f ms" % (name, min(ms), statistics.median(ms)))
    return min(ms)


def line(m):
    return json.dumps(m, ensure_ascii=False).encode() + b"\n"


def start(command, **kwargs):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                            **kwargs)


def once(p, message):
    begun = time.perf_counter()
    p.stdin.write(message)
    got = b""
    while not got.endswith(b"\n"):
        part = p.stdout.read(1 << 16)
        assert part
        got += part
    return (time.perf_counter() - begun) * 1000


def first_answer(command, message, **kwargs):
    begun = time.perf_counter()
    p = start(command, **kwargs)
    once(p, message)
    took = (time.perf_counter() - begun) * 1000
    p.stdin.close()
    p.wait()
    return took


def call(i):
    return line({"jsonrpc": "2.0", "id": i, "method": "tools/call",
                 "params": {"name": "memory_search", "arguments": {"query": QUERIES[i % len(QUERIES)]}}})


with tempfile.TemporaryDirectory() as home:
    at = dict(cwd=notes(home), env=dict(os.environ, HOME=home, XDG_CACHE_HOME=home + "/cache"))
    for mode, set_ in (("text", ["--set", "provider=none"]), ("hybrid", [])):
        print("-- %s" % mode)
        subprocess.run([REMEM, "index", "-q", *set_], check=True, stdout=subprocess.DEVNULL, **at)
        server = [REMEM, "mcp", *set_]
        bare = show("start of cat until its echo", [first_answer(["cat"], line(HELLO)) for _ in range(30)])
        hello = show("start until the answer to initialize", [first_answer(server, line(HELLO), **at) for _ in range(30)])
        cold = show("remem search, started anew", [
            (lambda t: (subprocess.run([REMEM, "search", "--json", *set_, QUERIES[i % 4]], check=True, stdout=subprocess.DEVNULL,
                                       **at), (time.perf_counter() - t) * 1000)[1])(time.perf_counter()) for i in range(20)])
        p, echo = start(server, **at), start(["cat"])
        once(p, line(HELLO))
        show("echo by cat", [once(echo, call(i)) for i in range(200)])
        show("ping", [once(p, line({"jsonrpc": "2.0", "id": i, "method": "ping"})) for i in range(200)])
        once(p, call(0))
        warm = show("memory_search", [once(p, call(i)) for i in range(200)])
        print("initialize after start: %.1f ms (bar 10), %.1f ms of it the server's; a search started anew costs %.1f times as much"
              % (hello, hello - bare, cold / warm))
        for x in (p, echo):
            x.stdin.close()
            x.wait()
