#!/usr/bin/env python3
"""How vendors of embeddings speak, from their public documentation.

One table for both sides: provider.py refuses whatever a dialect does not have
(path, key, fields, kinds), and the tests loop over its rows.

usage: dialects.py [forms]   prints "PROVIDER MODEL QUERY DOCUMENT DIMS KEY" a
                             row; forms: the first of each form alone

  key      header of the key and what stands before it; None: no key
  paths    where it is asked; {model} stands for the model
  fields   members a request may have
  query, document   what tells the kinds apart, "-" nothing
  dims     member that asks for dimensions, "-" none
"""
import base64
import json
import struct
import sys

BEARER = ("Authorization", "Bearer ")
OPENAI = {"model", "input", "encoding_format"}


def row(name, model="-", key=BEARER, paths=("/embeddings",), fields=OPENAI, query="-", document="-",
        dims="-", form="openai", most=2048):
    return dict(name=name, model=model, key=key, paths=paths, fields=set(fields), query=query,
                document=document, dims=dims, form=form, most=most)


def preset(name, dims="dimensions", most=2048, model="-", key=BEARER, b64=True):
    fields = OPENAI if b64 else {"model", "input"}
    return row(name, dims=dims, most=most, model=model, key=key, fields=fields)


DIALECTS = [
    row("openai", dims="dimensions"),
    row("gemini", key=("x-goog-api-key", ""), form="gemini", most=100,
        paths=("/models/gemini-embedding-001:embedContent", "/models/gemini-embedding-001:batchEmbedContents"),
        fields=("model", "content", "taskType"), query="RETRIEVAL_QUERY", document="RETRIEVAL_DOCUMENT",
        dims="outputDimensionality"),
    row("voyage", fields=OPENAI | {"input_type"}, query="query", document="document", dims="output_dimension",
        most=1000),
    row("mistral", fields=("model", "input"), dims="output_dimension"),
    row("ollama", key=None, paths=("/api/embed",), fields=("model", "input", "truncate"), form="ollama",
        dims="dimensions"),
    row("lmstudio", key=None, fields=("model", "input")),
    row("bedrock", key=("Authorization", "Bearer "), paths=("/model/amazon.titan-embed-text-v2%3A0/invoke",),
        fields=("inputText",), form="titan", dims="dimensions", most=1),
    row("bedrock", model="cohere.embed-v4:0", paths=("/model/cohere.embed-v4%3A0/invoke",),
        fields=("texts", "input_type", "embedding_types"), form="cohere", query="search_query",
        document="search_document", dims="output_dimension", most=96),
    preset("dashscope", most=10, b64=False),
    preset("siliconflow", most=32),
    preset("zhipu", most=64, b64=False),
    preset("doubao", most=256),
    preset("deepinfra", most=1024, b64=False),
    preset("together", dims="-", most=128, b64=False),
    preset("vllm", model="some-model", key=None),
    preset("tei", dims="-", most=32, key=None),
    preset("llama-server", dims="-", most=64, key=None),
    row("azure", key=("api-key", ""), dims="dimensions",
        paths=("/openai/deployments/text-embedding-3-small/embeddings?api-version=2024-10-21",)),
    row("openai-compatible", model="mock", dims="dimensions", fields=OPENAI | {"input_type"}),
]


class Wrong(Exception):
    """Status and message of a request that the dialect does not have."""


def find(name, model):
    rows = [d for d in DIALECTS if d["name"] == name]
    return next((d for d in rows if d["model"] == model), rows[0])


def parts(d, request):
    """The single requests in one, as flat objects."""
    return request["requests"] if d["form"] == "gemini" and "requests" in request else [request]


def texts_of(d, request):
    if d["form"] == "gemini":
        return [p["content"]["parts"][0]["text"] for p in parts(d, request)]
    if d["form"] == "titan":
        return [request["inputText"]]
    got = request["texts" if d["form"] == "cohere" else "input"]
    return [got] if isinstance(got, str) else got


def check(d, path, headers, request):
    """(texts, kind, dims) of a good request; raises Wrong."""
    if path not in d["paths"]:
        raise Wrong(404, "no such path " + path)
    if d["key"]:
        name, before = d["key"]
        got = headers.get(name, "")
        if not (got == before + "sk-test-000000" or got.startswith("AWS4-HMAC-SHA256 Credential=")):
            raise Wrong(401, "no key")
    dims = kind = None
    for p in parts(d, request):
        extra = set(p) - d["fields"] - {d["dims"]}
        if extra:
            raise Wrong(400, "unknown field " + ", ".join(sorted(extra)))
        dims = p.get(d["dims"])
        kind = p.get("taskType") or p.get("input_type") or "-"
        if kind not in (d["query"], d["document"]) and "input_type" not in d["fields"]:
            raise Wrong(400, "unknown kind " + kind)
        if d["form"] == "gemini" and not p["model"].startswith("models/"):
            raise Wrong(400, "unexpected model name format")
    texts = texts_of(d, request)
    if len(texts) > d["most"]:
        raise Wrong(400, "at most %d texts" % d["most"])
    return texts, kind, dims


def pack(v):
    return base64.b64encode(struct.pack("<%df" % len(v), *v)).decode()


def answer(d, request, vectors, tokens):
    if d["form"] == "gemini":
        if "requests" not in request:
            return {"embedding": {"values": vectors[0]}}
        return {"embeddings": [{"values": v} for v in vectors]}
    if d["form"] == "ollama":
        return {"model": request["model"], "embeddings": vectors, "prompt_eval_count": tokens}
    if d["form"] == "titan":
        return {"embedding": vectors[0], "inputTextTokenCount": tokens}
    if d["form"] == "cohere":
        return {"id": "x", "response_type": "embeddings_by_type", "embeddings": {"float": vectors}}
    as_text = request.get("encoding_format") == "base64"
    data = [{"object": "embedding", "index": i, "embedding": pack(v) if as_text else v} for i, v in enumerate(vectors)]
    return {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


# What vendors say, by what is wrong: status and body of each form.
ERRORS = {
    "openai": {"quota": (429, {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota",
                                         "code": "insufficient_quota"}}),
               "model": (404, {"error": {"message": "The model does not exist", "code": "model_not_found"}}),
               "key": (401, {"error": {"message": "Incorrect API key provided: sk-test-000000"}})},
    "gemini": {"quota": (403, {"error": {"code": 403, "message": "billing is off", "status": "PERMISSION_DENIED"}}),
               "model": (404, {"error": {"code": 404, "message": "models/x is not found", "status": "NOT_FOUND"}}),
               "key": (400, {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
                                       "status": "INVALID_ARGUMENT"}})},
    "ollama": {"model": (404, {"error": 'model "x" not found, try pulling it first'})},
    "titan": {"model": (404, {"message": "Could not resolve the foundation model"}),
              "key": (403, {"message": "The security token included in the request is invalid."})},
    "cohere": {},
}

if __name__ == "__main__":
    seen = set()
    for one in DIALECTS:
        if "forms" in sys.argv and one["form"] in seen:
            continue
        seen.add(one["form"])
        print(one["name"], one["model"], one["query"], one["document"], one["dims"], "key" if one["key"] else "-")
