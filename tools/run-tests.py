#!/usr/bin/env python3
"""Runs every test that is built or lies in test/ and counts them.

usage: run-tests.py [WORD...]     only those whose name holds one of the words

  unit    build/debug/u_*        each function one test
  asan    build/asan/u_*         the same under address and undefined sanitizers
  thread  build/tsan/u_thr_*     those with threads under the thread sanitizer
  fuzz    build/asan/f_*         each file of test/fuzz/corpus/NAME one test
  cli     test/cli/*.bats        each case one test
  golden  test/golden/KIND/run   NAME.in through it must give NAME.out

Each runs in the source folder with a home and a temporary folder of its own,
REMEM naming the program, and none of the user's REMEM_ and XDG_ variables.
Jobs: TEST_JOBS, by default the number of cores. Logs: build/test-logs/.
The last line reads "N passed, N failed", with skipped ones if there are any.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOGS = os.path.join(ROOT, "build", "test-logs")
TIMES = os.path.join(ROOT, "build", "test-times.json")
TAP = re.compile(r"^(not ok|ok) \d+(?: - | )?(.*)$")
SECONDS = {"unit": 300, "asan": 900, "thread": 900, "fuzz": 600, "cli": 900, "golden": 60}
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:handle_segv=2:handle_sigbus=2:handle_sigfpe=2:"
                    "allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1",
}


class Job:
    """One process and the tests it stands for."""

    def __init__(self, kind, name, command, expect=(), env=None, read=None, broken=False):
        self.kind, self.name, self.command = kind, name, command
        self.expect, self.env, self.read, self.broken = list(expect), env or {}, read, broken
        self.passed, self.failed, self.skipped = 0, [], 0
        self.seconds = 0.0

    @property
    def label(self):
        return "%s %s" % (self.kind, self.name)


def environment(job, home):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("REMEM", "XDG_", "CMOCKA_", "BATS_")) and k.lower() != "no_proxy"
           and not k.lower().endswith("_proxy") and k not in ("NO_COLOR", "MAKEFLAGS", "MAKELEVEL")}
    env.update(SANITIZERS)
    env.update(HOME=home, TMPDIR=os.path.join(home, "tmp"), LC_ALL="C.UTF-8", TZ="UTC",
               REMEM=os.path.join(ROOT, "build", "remem"), REMEM_SOURCE_ROOT=ROOT,
               CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONDONTWRITEBYTECODE="1")
    env["PATH"] = os.path.join(ROOT, "build") + os.pathsep + env.get("PATH", "")
    env.update(job.env)
    # Tests that run as root take another user's place for a while.
    os.chmod(home, 0o755)
    os.mkdir(env["TMPDIR"])
    os.chmod(env["TMPDIR"], 0o1777)
    return env


def run(job):
    """(exit code or None when time ran out, output)"""
    home = tempfile.mkdtemp(prefix="remem-test-")
    start = time.monotonic()
    try:
        with open(os.path.join(home, "output"), "w+b") as out:
            p = subprocess.Popen(job.command, cwd=ROOT, env=environment(job, home), stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = p.wait(timeout=SECONDS[job.kind])
            except subprocess.TimeoutExpired:
                code = None
            try:
                os.killpg(p.pid, signal.SIGKILL)  # what it left running
            except OSError:
                pass
            p.wait()
            out.seek(0)
            text = out.read().decode("utf-8", "replace")
    finally:
        job.seconds = time.monotonic() - start
        subprocess.call(["chmod", "-R", "u+rwX", home], stderr=subprocess.DEVNULL)
        shutil.rmtree(home, ignore_errors=True)
    return code, text


def judge_tap(job, code, text):
    seen = set()
    for line in text.splitlines():
        m = TAP.match(line)
        if not m:
            continue
        name = m.group(2).strip()
        seen.add(name)
        if re.search(r"#\s*skip", line, re.I):
            job.skipped += 1
            seen.add(re.sub(r"^#\s*skip\s*", "", name, flags=re.I))
        elif m.group(1) == "ok":
            job.passed += 1
        else:
            job.failed.append(name)
    missing = [n for n in job.expect if n not in seen]
    job.failed += [n + " (did not finish)" for n in missing]
    if code != 0 and not job.failed:
        job.failed.append("time ran out" if code is None else "exit code %d" % code)
    if not (job.passed or job.failed or job.skipped):
        job.failed.append("no test ran")


def judge_broken(job, code, text):
    if re.search(r"^not ok ", text, re.M):
        job.passed += 1
    else:
        job.failed.append(job.name + " is marked broken and passes: take the mark off")


def judge_fuzz(job, code, text):
    done = set(re.findall(r"^ok (.+)$", text, re.M))
    job.passed = sum(1 for f in job.expect if f in done) or int(code == 0)  # without seeds: nothing at all
    job.failed = [f for f in job.expect if f not in done]
    if code != 0 and not job.failed:
        job.failed.append("time ran out" if code is None else "exit code %d" % code)


def judge_golden(job, code, text):
    with open(job.read, encoding="utf-8", errors="replace") as f:
        want = f.read()
    if code == 0 and text == want:
        job.passed = 1
    else:
        job.failed.append(job.name)


def judge(job, code, text):
    if job.broken:
        judge_broken(job, code, text)
    else:
        {"fuzz": judge_fuzz, "golden": judge_golden}.get(job.kind, judge_tap)(job, code, text)


def unit_jobs(kind, folder, pattern):
    for program in sorted(glob.glob(os.path.join(ROOT, "build", folder, pattern))):
        name = os.path.basename(program)
        source = os.path.join(ROOT, "test", "unit", name + ".c")
        if not os.path.isfile(source) or not os.access(program, os.X_OK):
            continue
        names = subprocess.run([program, "--list"], stdout=subprocess.PIPE, universal_newlines=True,
                               check=False).stdout.split()
        tests = [n for n in names if n.startswith("test_")]
        if tests or not names:
            yield Job(kind, name, [program], expect=tests)
        for n in names:
            if n.startswith("broken_"):
                yield Job(kind, n, [program, n], broken=True)


def fuzz_jobs():
    for source in sorted(glob.glob(os.path.join(ROOT, "test", "fuzz", "f_*.c"))):
        name = os.path.basename(source)[2:-2]
        files = sorted(glob.glob(os.path.join("test", "fuzz", "corpus", name, "*")))
        program = os.path.join(ROOT, "build", "asan", "f_" + name)
        yield Job("fuzz", name, [program] + files, expect=files)


def cli_jobs():
    for script in sorted(glob.glob(os.path.join(ROOT, "test", "cli", "*.bats"))):
        yield Job("cli", os.path.basename(script), ["bats", "--tap", script])


def golden_jobs():
    for runner in sorted(glob.glob(os.path.join(ROOT, "test", "golden", "*", "run"))):
        for given in sorted(glob.glob(os.path.join(os.path.dirname(runner), "*.in"))):
            name = os.path.relpath(given, os.path.join(ROOT, "test", "golden"))
            yield Job("golden", name[:-3], [runner, given], read=given[:-3] + ".out")


def collect(words):
    os.chdir(ROOT)
    jobs = list(unit_jobs("unit", "debug", "u_*")) + list(unit_jobs("asan", "asan", "u_*"))
    jobs += list(unit_jobs("thread", "tsan", "u_thr_*")) + list(fuzz_jobs()) + list(cli_jobs())
    jobs += list(golden_jobs())
    if words:
        jobs = [j for j in jobs if any(w in j.label for w in words)]
    try:
        with open(TIMES) as f:
            times = json.load(f)
    except (OSError, ValueError):
        times = {}
    # The longest first, so that none is left running alone at the end.
    jobs.sort(key=lambda j: -times.get(j.label, {"cli": 30, "asan": 20}.get(j.kind, 5)))
    return jobs, times


def report(job, text):
    counts = "%d passed" % job.passed
    if job.skipped:
        counts += ", %d skipped" % job.skipped
    if job.failed:
        counts += ", %d failed" % len(job.failed)
    print("%s %-8s%-34s %6.1f s  %s" % ("FAIL" if job.failed else " ok ", job.kind, job.name, job.seconds, counts))
    if job.failed:
        for n in job.failed[:20]:
            print("     failed: %s" % n)
        lines = text.splitlines()
        for line in lines[-60:]:
            print("     | " + line[:300])
    sys.stdout.flush()


def main():
    jobs, times = collect(sys.argv[1:])
    os.makedirs(LOGS, exist_ok=True)
    queue, lock = list(jobs), threading.Lock()

    def work():
        while True:
            with lock:
                if not queue:
                    return
                job = queue.pop(0)
            try:
                code, text = run(job)
            except OSError as e:
                code, text = 127, str(e)
            judge(job, code, text)
            with lock:
                with open(os.path.join(LOGS, re.sub(r"[^\w.-]", "-", job.label) + ".log"), "w") as f:
                    f.write(text)
                report(job, text)

    started = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(int(os.environ.get("TEST_JOBS") or os.cpu_count() or 2))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    times.update({j.label: round(j.seconds, 1) for j in jobs})
    with open(TIMES, "w") as f:
        json.dump(times, f)
    passed, failed = sum(j.passed for j in jobs), sum(len(j.failed) for j in jobs)
    skipped = sum(j.skipped for j in jobs)
    for j in jobs:
        if j.failed:
            print("failed: %s: %s" % (j.label, ", ".join(j.failed[:5])))
    print("%d test programs in %d s" % (len(jobs), time.monotonic() - started))
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
