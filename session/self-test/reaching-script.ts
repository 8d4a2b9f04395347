import { wayAddress } from '../../engine/tool/egress/inside.ts';

/** What a process in the sandbox tries to reach; the answer is a JSON list of what it did reach, on its output. */
export interface ReachingTask {
  /** Ports of this machine's loopback. */
  readonly ports: readonly number[];
  /** Files and directories. */
  readonly paths: readonly string[];
  /** Whether it has a way out. */
  readonly hasWay: boolean;
}

const way = new URL(wayAddress);

/** Runs under Node, inside; the task is its only argument. Written without templates: it is sent as it stands. */
export const reachingScript = `
const net = require('node:net'), fs = require('node:fs');
const task = JSON.parse(process.argv[1]);
const reached = [];
const connects = (host, port) => new Promise((done) => {
  const socket = net.connect({ host, port });
  socket.setTimeout(3000, () => { socket.destroy(); done(false); });
  socket.on('connect', () => { socket.destroy(); done(true); });
  socket.on('error', () => done(false));
});
const through = (text, mark) => new Promise((done) => {
  let answer = '';
  const socket = net.connect({ host: '${way.hostname}', port: ${way.port} });
  const end = () => { socket.destroy(); done(answer.includes(mark)); };
  socket.setTimeout(3000, end);
  socket.on('connect', () => socket.write(text));
  socket.on('data', (bytes) => { answer += bytes; if (answer.length > 65536) end(); });
  socket.on('close', end);
  socket.on('error', end);
});
const hosts = ['127.0.0.1', '::1', 'localhost'];
(async () => {
  for (const port of task.ports) for (const host of hosts) {
    const name = (host === '::1' ? '[::1]' : host) + ':' + port;
    if (await connects(host, port)) reached.push('connect ' + name);
    if (!task.hasWay) continue;
    const path = 'http://' + name + '/api/code/session';
    const asked = 'GET ' + path + ' HTTP/1.1\\r\\nHost: ' + name + '\\r\\nConnection: close\\r\\n\\r\\n';
    if (await through(asked, 'sessionId')) reached.push('proxy ' + name);
    const tunnel = 'CONNECT ' + name + ' HTTP/1.1\\r\\nHost: ' + name + '\\r\\n\\r\\n';
    if (await through(tunnel, ' 200 ')) reached.push('tunnel ' + name);
  }
  for (const path of task.paths) {
    try { fs.readdirSync(path); reached.push('list ' + path); } catch {}
    try { fs.readFileSync(path); reached.push('read ' + path); } catch {}
  }
  process.stdout.write(JSON.stringify(reached));
})();
`;
