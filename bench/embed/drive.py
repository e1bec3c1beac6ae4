"""Runs and figures of bench/embed/run: drive.py REMEM PORT FOLDER"""
import json
import os
import resource
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

remem, port, folder = sys.argv[1:]
DELAY, FLIGHT = 0.05, 4
LATIN = "the gateway loads its settings again at night and says in its log what it found there"
HAN = "网关每晚重新读取用户目录里的设置并在日志里写下读到了哪些文件"


def write_notes(name, files):
    os.makedirs("%s/%s/memory" % (folder, name))
    for f in range(files):
        with open("%s/%s/memory/note-%d.md" % (folder, name, f), "w", encoding="utf-8") as out:
            out.write("# Notes %d\n\n" % f)
            for i in range(100):
                out.write("- entry %d-%d: %s\n" % (f, i, (HAN if i % 2 else LATIN) * (1 + i % 3)))


def index(notes, home, options, *more):
    """Seconds, processor seconds, the report and the requests of one run."""
    config = "%s/%s/.config/remem" % (folder, home)
    os.makedirs(config)
    with open(config + "/config.yaml", "w", encoding="utf-8") as f:
        json.dump({"memorySearch": {"provider": "openai-compatible", "model": "mock", "remote": {
            "baseUrl": "http://127.0.0.1:%s/%s/v1" % (port, options)}}}, f)
    open(folder + "/log", "w").close()
    env = dict(os.environ, HOME="%s/%s" % (folder, home), REMEM_DAEMON_AUTO_START="false")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        env.pop(name, None)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    p = subprocess.run([remem, "--workspace", "%s/%s" % (folder, notes), "index", "--json", *more], env=env,
                       stdout=subprocess.PIPE, check=False)
    took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(folder + "/log", encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    return took, cpu, json.loads(p.stdout), rows


def bare(rows):
    """Processor seconds of a client that asks for as many texts and keeps nothing."""
    text = LATIN + HAN

    def ask(n):
        body = json.dumps({"model": "mock", "input": [text] * n, "encoding_format": "base64"}).encode()
        r = urllib.request.Request("http://127.0.0.1:%s/fast,tag=bare/v1/embeddings" % port, body,
                                   {"Content-Type": "application/json"})
        return len(json.loads(urllib.request.urlopen(r).read())["data"])

    start = time.process_time()
    with ThreadPoolExecutor(FLIGHT) as pool:
        list(pool.map(ask, [r["items"] for r in rows]))
    return time.process_time() - start


def main():
    write_notes("notes", 206)
    write_notes("few", 40)
    # The machine may be busy: the best of three, one after the other.
    runs = []
    for i in range(3):
        text_cpu = index("notes", "text%d" % i, "x", "--text-only")[1]
        runs.append((index("notes", "delay%d" % i, "fast,slow=50"), text_cpu))
    took, cpu, report, rows = min((r for r, _ in runs), key=lambda r: r[0])
    cpu, text_cpu = min(r[1] for r, _ in runs), min(t for _, t in runs)
    made = report["vectors"]["done"]
    least = len(rows) * DELAY / FLIGHT
    print("delay    %d requests for %d passages, %d in the largest; %.2f s, %.2f x the %.2f s of its waits" % (
        len(rows), report["passages"], max(r["items"] for r in rows), took, took / least, least))
    own, peer = (cpu - text_cpu) / made * 1e6, bare(rows) / made * 1e6
    print("own      %.1f us a vector, %.2f x a client that keeps nothing (%.1f us)" % (own, own / peer, peer))
    took, _, report, rows = index("few", "storm", "fast,storm=10,wait=5")
    print("storm    %d of %d vectors, %d requests, %d refused, %d before their time; %.1f s" % (
        report["vectors"]["done"], report["passages"], len(rows), sum(r["status"] == 429 for r in rows),
        sum("early" in r for r in rows), took))
    assert report["vectors"]["pending"] == 0 and not any("early" in r for r in rows)


main()
