// The official client against `remem mcp`: mcp_client.mjs MODE TARGET [TOKEN].
// MODE is legacy or auto; TARGET the program, or the URL of its HTTP server.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.REMEM_NPM + '/package.json');
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const sdk = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const [mode, target, token] = process.argv.slice(2);
// Arguments as a host's settings have them; ours offer every tool.
const args = process.env.REMEM_MCP_ARGS ? JSON.parse(process.env.REMEM_MCP_ARGS) : ['mcp', '--tools', 'full'];
const web = target.startsWith('http');

function transport() {
	if (!web)
		return new StdioClientTransport({ command: target, args, env: process.env });
	return new sdk.StreamableHTTPClientTransport(new URL(target),
		{ requestInit: { headers: { Authorization: 'Bearer ' + token } } });
}

const client = new sdk.Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
await client.connect(transport());
assert.equal(client.getServerVersion().name, 'remem');
assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28');
assert.match(client.getInstructions(), /memory_search/);

const { tools } = await client.listTools();
assert.deepEqual(tools.slice(0, 2).map((t) => t.name), ['memory_search', 'memory_get']);
assert.ok(tools.every((t) => t.annotations));

for (const [query, path, word] of [['Where does Ann live?', 'memory/2026-03-01.md', 'Berlin'],
	['支付网关的出错码', 'MEMORY.md', 'ERR_PAY_4021']]) {
	const r = await client.callTool({ name: 'memory_search', arguments: { query } });
	const hit = r.structuredContent.results[0];
	assert.equal(hit.path, path);
	assert.ok(hit.snippet.includes(word));
	assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent);
	const got = await client.callTool({ name: 'memory_get', arguments: { path: hit.citation } });
	assert.ok(got.structuredContent.text.includes(word));
}
const wrong = await client.callTool({ name: 'memory_search', arguments: { qeury: 'x' } });
assert.ok(wrong.isError && wrong.content[0].text.includes("'query'"));
const status = await client.callTool({ name: 'memory_status', arguments: {} });
assert.equal(status.structuredContent.version, 1);
if (args.includes('full')) {
	const done = await client.callTool({ name: 'memory_index', arguments: {} }, { onprogress: () => {} });
	assert.equal(done.structuredContent.complete, true);
}

const { resources } = await client.listResources();
assert.equal(resources.length, 4);
const note = await client.readResource({ uri: 'memory://MEMORY.md' });
assert.ok(note.contents[0].text.includes('小王'));
await assert.rejects(client.readResource({ uri: 'memory://none.md' }));
assert.equal((await client.listPrompts()).prompts[0].name, 'recall');
const recall = await client.getPrompt({ name: 'recall', arguments: { topic: '网关' } });
assert.ok(recall.messages[0].content.text.includes('网关'));
await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }));

for (let i = 0; i < 200; i += 20)
	await Promise.all(Array.from({ length: 20 }, () =>
		client.callTool({ name: 'memory_search', arguments: { query: 'Berlin' } })));
await client.close();
console.log('ok');
