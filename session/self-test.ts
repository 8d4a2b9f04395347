/** Tests whether a sandboxed command could approve itself. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isWritError, WritError } from '../core/base/errors.ts';
import type { SandboxBackend, SandboxRequest } from '../core/interfaces/sandbox.ts';
import { openEgress, wayAddress } from '../workspace/egress/open-egress.ts';
import { pickSandbox, type SandboxChoice } from '../workspace/process/version-control.ts';

/** Where approvals of a session come from: whatever reaches one of them could approve its own commands. */
interface ApprovalPlaces {
  /** Every port that the session serves. */
  readonly ports: readonly number[];
  /** Tokens, state and threads: absolute paths. */
  readonly paths: readonly string[];
}

/** What a process in the sandbox reached of them; `isTried` is false where it could not be started. */
export interface SelfTest {
  readonly isTried: boolean;
  readonly reached: readonly string[];
}

const timeoutMs = 60_000;
const maxOutputBytes = 64 * 1024;

/**
 * Tries to reach the approval services as a model's command could: without a network, and with the widest network
 * that a person can open. No data leaves the machine. The result proves nothing about paths that it does not try.
 */
export async function tryToApprove(
  backend: SandboxBackend,
  places: ApprovalPlaces,
  signal: AbortSignal,
): Promise<SelfTest> {
  if (backend.unconfined) return { isTried: true, reached: ['everything: nothing confines commands here'] };
  const box = await mkdtemp(join(tmpdir(), 'writ-self-test-'));
  try {
    const closed = await tryOnce(backend, box, { ...places, hasWay: false }, 'none', signal);
    const egress = await openEgress(box, { policy: { all: true, openings: [] }, leaving: undefined });
    try {
      const open = await tryOnce(backend, box, { ...places, hasWay: true }, egress.network, signal);
      return {
        isTried: closed !== undefined && open !== undefined,
        reached: [...new Set([...(closed ?? []), ...(open ?? [])])],
      };
    } finally {
      await egress.close();
    }
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}

/**
 * SELF_APPROVAL_POSSIBLE if the network is to be open and the test does not show that no approval service is
 * reachable.
 */
export function requireApart(networkAccess: 'allow' | 'deny', { isTried, reached }: SelfTest): void {
  if (networkAccess === 'deny' || (isTried && reached.length === 0)) return;
  throw new WritError('SELF_APPROVAL_POSSIBLE', {
    message: isTried
      ? `a command in the sandbox can reach the server that approves it: ${reached[0] ?? ''}`
      : 'writ could not test whether a command in the sandbox reaches the server that approves it',
    detail: { reached },
  });
}

async function tryOnce(
  backend: SandboxBackend,
  box: string,
  task: ReachingTask,
  network: SandboxRequest['network'],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const [workspace, reports] = [join(box, 'workspace'), join(box, 'reports')];
  await mkdir(workspace, { recursive: true });
  await mkdir(reports, { recursive: true });
  const { exitCode, stdout } = await backend.run({
    argv: [process.execPath, '--input-type=commonjs', '-e', reachingScript, JSON.stringify(task)],
    workspace,
    reports,
    binds: [],
    tools: [dirname(process.execPath)],
    env: {},
    network,
    timeoutMs,
    maxOutputBytes,
    signal,
  });
  if (exitCode !== 0) return undefined;
  try {
    const told: unknown = JSON.parse(stdout.bytes.toString('utf8'));
    return Array.isArray(told) ? told.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/** What a process in the sandbox tries to reach; the answer is a JSON list of what it did reach, on its output. */
interface ReachingTask {
  /** Ports of this machine's loopback. */
  readonly ports: readonly number[];
  /** Files and directories. */
  readonly paths: readonly string[];
  /** Whether it has a way out. */
  readonly hasWay: boolean;
}

const way = new URL(wayAddress);

/** Runs under Node in the sandbox; the task is its only argument. */
const reachingScript = `
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

/** The self-test of one session, run on first use. */
export interface SelfTester {
  /** From here on it is known where approvals come from. */
  serve(places: ApprovalPlaces): void;
  /** `isTried` is false until a service runs, and if no sandbox works. */
  result(): Promise<SelfTest>;
}

const untried: SelfTest = { isTried: false, reached: [] };

export function openSelfTester(sandbox: string, choice: SandboxChoice, signal: AbortSignal): SelfTester {
  let places: ApprovalPlaces | undefined;
  let tested: Promise<SelfTest> | undefined;
  const test = async (at: ApprovalPlaces): Promise<SelfTest> => {
    try {
      return await tryToApprove(await pickSandbox(sandbox, choice), at, signal);
    } catch (fault) {
      if (isWritError(fault, 'SANDBOX_UNAVAILABLE')) return untried;
      throw fault;
    }
  };
  return {
    serve(at) {
      places = at;
      tested = undefined;
    },
    async result() {
      if (places === undefined) return untried;
      tested ??= test(places);
      return tested;
    },
  };
}
