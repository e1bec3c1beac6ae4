// OpenAI's embeddings and chat on loopback, for what lies below the dialect:
// HTTP/2, compressed replies, proxies, connections that are kept.
//
// usage: wire.mjs PORT_FILE LOG [PEM]     with PEM: HTTP/2 alone, over TLS
//
// The first part of a path says more: gzip, bomb (a small reply that unfolds
// to 64 MB), hang (never answers). The log has a line of JSON a request:
// version of HTTP, number of the connection, target, accepted encodings.
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import zlib from 'node:zlib';

const [portFile, log, pem] = process.argv.slice(2);
let connections = 0;
const numbers = new WeakMap();

function vector(text) {
	const v = new Array(16).fill(0.1);
	for (const c of text)
		v[c.codePointAt(0) % 16] += 1;
	return v;
}

function answer(request) {
	if (request.messages)
		return { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: '- by wire (L1)' } }],
			usage: { total_tokens: 42, completion_tokens: 12 } };
	const texts = [].concat(request.input);
	return { data: texts.map((t, index) => ({ index, embedding: vector(t) })), usage: { total_tokens: 7 } };
}

function number(session) {
	if (!numbers.has(session))
		numbers.set(session, ++connections);
	return numbers.get(session);
}

function serve(req, res) {
	const parts = [];
	req.on('data', (d) => parts.push(d));
	req.on('end', () => {
		const row = { version: req.httpVersion, connection: number(req.stream?.session ?? req.socket), target: req.url,
			accepts: req.headers['accept-encoding'] ?? '', key: req.headers.authorization ?? '' };
		fs.appendFileSync(log, JSON.stringify(row) + '\n');
		if (req.url.includes('/hang/'))
			return;
		let body = Buffer.from(JSON.stringify(answer(JSON.parse(Buffer.concat(parts).toString()))));
		if (req.url.includes('/bomb/'))
			body = Buffer.concat([body, Buffer.alloc(64 << 20, ' ')]);
		res.setHeader('Content-Type', 'application/json');
		if (/\/(gzip|bomb)\//.test(req.url)) {
			body = zlib.gzipSync(body);
			res.setHeader('Content-Encoding', 'gzip');
		}
		res.setHeader('Content-Length', body.length);
		res.end(body);
	});
}

const text = pem && fs.readFileSync(pem);
const server = pem ? http2.createSecureServer({ key: text, cert: text }, serve) : http.createServer(serve);
server.listen(0, '127.0.0.1', () => {
	fs.writeFileSync(portFile + '.new', String(server.address().port));
	fs.renameSync(portFile + '.new', portFile);
});
