/* What stands in for `codex app-server --listen ws://…` where the program is not there: Node itself starts it. */
const { execFile, spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const { createServer, request: ask } = require('node:http');

const words = process.argv;
const port = Number(words[words.indexOf('--listen') + 1].split(':').at(-1));
const digest = words[words.indexOf('--ws-token-sha256') + 1];
const hash = (algorithm, text, encoding) => createHash(algorithm).update(text).digest(encoding);

// One that lets others look into it.
if (fs.existsSync('/workspace/helped')) spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });

const server = createServer((_request, response) => response.writeHead(400).end());
server.on('upgrade', (request, socket) => {
  const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const refusal = request.headers.origin ? '403 Forbidden' : '401 Unauthorized';
  if (request.headers.origin || hash('sha256', token, 'hex') !== digest)
    return socket.end(`HTTP/1.1 ${refusal}\r\ncontent-length: 0\r\n\r\n`);
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = hash('sha1', key, 'base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  const say = (message) => {
    const text = Buffer.from(JSON.stringify(message));
    const head = Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff]);
    socket.write(Buffer.concat([head, text]));
  };
  let held = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const short = held[1] & 0x7f;
      const at = short === 126 ? 4 : 2;
      if (held.length < at) return;
      const length = short === 126 ? held.readUInt16BE(2) : short;
      if (held.length < at + 4 + length) return;
      const mask = held.subarray(at, at + 4);
      const octets = held.subarray(at + 4, at + 4 + length).map((octet, index) => octet ^ mask[index & 3]);
      held = held.subarray(at + 4 + length);
      take(JSON.parse(Buffer.from(octets).toString()), say);
    }
  });
});
server.listen(port, '127.0.0.1');

function take({ id, method }, say) {
  if (method === 'initialize') say({ id, result: {} });
  if (method === 'thread/start') say({ id, result: { thread: { id: 't' }, approvalPolicy: 'untrusted' } });
  if (method !== 'turn/start') return;
  say({ id, result: { turn: { id: 'u' } } });
  const over = () => say({ method: 'turn/completed', params: { turn: { id: 'u', status: 'completed' } } });
  // The model hears what came of it.
  execFile('node', ['/workspace/attack-inside.cjs'], { timeout: 60_000 }, (fault, output, errors) => {
    const body = JSON.stringify({
      input: [{ type: 'function_call_output', output: output || `${fault} ${errors}` }],
    });
    const told = ask('http://127.0.0.1:3128/v1/responses', { method: 'POST' }, (response) =>
      response.resume().on('end', over),
    );
    told.end(body);
  });
}
