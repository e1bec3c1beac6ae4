"""Writes a conversation as an agent's program does, with one line a message
on standard input:

    user TEXT | assistant TEXT | tool NAME OUTPUT | compact | usage TOKENS

usage: make_talk.py claude|codex|gemini|openclaw SESSION [START]
"""
import json
import sys
from datetime import datetime, timedelta, timezone

host, session = sys.argv[1:3]
start = sys.argv[3] if len(sys.argv) > 3 else "2026-11-28T08:00:00"
clock = datetime.fromisoformat(start).replace(tzinfo=timezone.utc)
count = 0
usage = 0


def now():
    global clock
    clock += timedelta(seconds=7)
    return clock.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def put(record):
    print(json.dumps(record, ensure_ascii=False))


def claude(kind, content):
    global count
    count += 1
    base = {"parentUuid": "u-%d" % (count - 1) if count > 1 else None, "isSidechain": False,
            "userType": "external", "cwd": "/home/ada/src", "sessionId": session,
            "version": "2.1.239", "gitBranch": "main", "type": kind}
    if kind == "system":
        put({**base, "subtype": "compact_boundary", "content": "Conversation compacted",
             "uuid": "u-%d" % count, "timestamp": now(), "compactMetadata": {"trigger": "auto"}})
        return
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message.update(id="msg_%d" % count, type="message", model="claude",
                       usage={"input_tokens": usage, "output_tokens": 0})
    put({**base, "message": message, "uuid": "u-%d" % count, "timestamp": now()})


def codex(kind, payload):
    put({"timestamp": now(), "type": kind, "payload": payload})


def gemini(kind, content, **more):
    global count
    count += 1
    put({"id": "g-%d" % count, "timestamp": now(), "type": kind, "content": content, **more})


def openclaw(role, content, **more):
    global count
    count += 1
    put({"type": "message", "id": "o-%d" % count, "parentId": "o-%d" % (count - 1) if count > 1 else None,
         "timestamp": now(), "message": {"role": role, "content": content, **more}})


def said(who, text):
    if host == "claude":
        claude(who, text if who == "user" else [{"type": "text", "text": text}])
    elif host == "codex":
        codex("response_item", {"type": "message", "role": who, "content": [
            {"type": "input_text" if who == "user" else "output_text", "text": text}]})
    elif host == "gemini":
        gemini("user" if who == "user" else "gemini", text)
    else:
        openclaw(who, [{"type": "text", "text": text}])


def tool(name, output):
    if host == "claude":
        claude("assistant", [{"type": "tool_use", "id": "t%d" % count, "name": name, "input": {}}])
        claude("user", [{"type": "tool_result", "tool_use_id": "t%d" % (count - 1), "content": output}])
    elif host == "codex":
        codex("response_item", {"type": "function_call", "name": name, "arguments": "{}", "call_id": "c1"})
        codex("response_item", {"type": "function_call_output", "call_id": "c1", "output": output})
    elif host == "gemini":
        gemini("gemini", "", toolCalls=[{"id": "c1", "name": name, "args": {}, "status": "success",
                                         "result": [{"functionResponse": {"id": "c1", "name": name, "response": {"output": output}}}]}])
    else:
        openclaw("assistant", [{"type": "toolCall", "id": "c1", "name": name, "arguments": {}}])
        openclaw("toolResult", [{"type": "text", "text": output}], toolCallId="c1", toolName=name)


if host == "codex":
    codex("session_meta", {"id": session, "timestamp": now(), "cwd": "/home/ada/src", "cli_version": "0.60.0"})
elif host == "gemini":
    put({"sessionId": session, "projectHash": "aa", "startTime": now(), "lastUpdated": now(), "kind": "main"})
elif host == "openclaw":
    put({"type": "session", "version": 3, "id": session, "timestamp": now(), "cwd": "/home/ada/src"})
for line in sys.stdin:
    word, _, rest = line.rstrip("\n").partition(" ")
    if word == "tool":
        tool(*rest.split(" ", 1))
    elif word == "usage":
        usage = int(rest)
    elif word == "compact":
        claude("system", None)
    elif word:
        said(word, rest.replace("\\n", "\n"))
