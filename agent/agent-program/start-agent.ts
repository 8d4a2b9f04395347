/* Starts the programs of an agent in the sandbox. */
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { providerFailure } from '../../core/interfaces/provider.ts';
import type {
  SandboxBackend,
  SandboxBind,
  SandboxPipes,
  SandboxRequest,
} from '../../core/interfaces/sandbox.ts';
import type { AgentPort, AgentProcess, AgentProgram } from '../../core/interfaces/worker.ts';
import type { FoundAgent } from '../../workspace/process/find-program.ts';
import { isVersionControl } from '../../workspace/process/version-control.ts';
import type { OpenAgent } from '../model-loop/open-model.ts';
import type { ToolPlace } from '../tool-calls/tool-entry.ts';
import {
  boundedLines,
  octetsOf,
  openWebSocket,
  type SocketBounds,
  type WebSocketTalk,
} from './web-socket.ts';

const bounds = {
  maxLineBytes: 16 * 1024 * 1024,
  maxLines: 1_000_000,
  maxBytes: 1024 * 1024 * 1024,
  maxWaitingBytes: 64 * 1024 * 1024,
};
/** The last bytes of stderr are reported to people. */
const maxStderrBytes = 16 * 1024;
const longestMs = 24 * 3600 * 1000;
/** Grace period between the stop signal and killing the program. */
const graceMs = 3000;
/** What its home is made of; the home itself is in memory. The first word is the variable that names it. */
const homeSource = '/agent-home';
const startScript = `home=$HOME/agent name=$1; shift
mkdir -p "$home" && cp -R ${homeSource}/. "$home" && exec env "$name=$home" "$@"`;

/** Where an agent runs, and with what. */
export interface AgentEnvironment extends Pick<SandboxRequest, 'network'> {
  readonly sandbox: SandboxBackend;
  readonly place: ToolPlace;
  readonly agent: OpenAgent;
  /** Name of its backend. */
  readonly provider: string;
  readonly env: Readonly<Record<string, string>>;
  readonly maxMemoryBytes: number;
  readonly signal: AbortSignal;
}

/** Starts programs of an agent in its sandbox; disposing of it ends those that still run. */
export interface AgentStarter extends AsyncDisposable {
  start(program: AgentProgram): Promise<AgentProcess>;
}

export function openAgentStarter(environment: AgentEnvironment): AgentStarter {
  const { sandbox, place, agent, provider, env, network, maxMemoryBytes, signal } = environment;
  const started = new Set<AsyncDisposable>();
  let unreadable: Promise<UnreadablePrograms> | undefined;
  const start = async (program: AgentProgram): Promise<AgentProcess> => {
    signal.throwIfAborted();
    const home = join(dirname(place.workspace), 'agent-home');
    await mkdir(home, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(program.home)) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), text, { mode: 0o600 });
    }
    const { port } = program;
    if (port !== undefined) unreadable ??= copyUnreadable(agent.program, dirname(place.workspace));
    const copies = await unreadable;
    const words = [agent.program.program, ...program.words];
    const over = new AbortController();
    let talk: (pipes: SandboxPipes) => void = () => {};
    const talked = new Promise<SandboxPipes>((resolve) => {
      talk = resolve;
    });
    const running = sandbox.run({
      argv: [
        ...['sh', '-c', startScript, 'sh', program.homeVariable],
        ...(copies === undefined || port === undefined ? words : relayed(copies.relay, port.port, words)),
      ],
      workspace: place.workspace,
      reports: place.reports,
      binds: [
        ...(copies?.binds ?? [agent.program.bind]),
        { source: home, target: homeSource, writable: false },
      ],
      env: { ...env, ...program.env },
      network,
      // What it runs must not speak in our place, by way of what it holds.
      untraced: true,
      withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
      timeoutMs: longestMs,
      maxOutputBytes: maxStderrBytes,
      maxMemoryBytes,
      talk,
      signal: over.signal,
    });
    const ended = running.then(
      ({ exitCode, signal: by, exceeded, stderr }) => {
        const how = exceeded
          ? `held more ${exceeded.what} than ${exceeded.limit}`
          : exitCode === undefined
            ? `was ended by ${by}`
            : `ended with ${exitCode}`;
        const said = stderr.bytes.toString('utf8').trim().slice(-300);
        return said === '' ? how : `${how}: ${said}`;
      },
      (fault: unknown) => messageOf(fault),
    );
    const { input, output } = await Promise.race([talked, running.then(() => talked)]);
    const stop = (): void => {
      const timer = setTimeout(() => over.abort(), graceMs);
      ended.then(() => clearTimeout(timer));
    };
    signal.addEventListener('abort', stop, { once: true });
    const tooMuch = (found: string) =>
      providerFailure({ provider, kind: 'broken-reply', found: `the program says ${found}` });
    const agentProcess = {
      ended,
      async [Symbol.asyncDispose]() {
        signal.removeEventListener('abort', stop);
        over.abort();
        output.destroy();
        await ended;
        started.delete(agentProcess);
      },
    };
    started.add(agentProcess);
    if (port === undefined)
      return Object.assign(agentProcess, {
        send: (line: string) => void input.write(`${line}\n`),
        lines: boundedLines(output, bounds, tooMuch),
      });
    try {
      const { send, messages } = await openPort({ input, output }, port, { provider, ended, bounds });
      return Object.assign(agentProcess, { send, lines: messages });
    } catch (fault) {
      await agentProcess[Symbol.asyncDispose]();
      throw fault;
    }
  };
  return {
    start,
    async [Symbol.asyncDispose]() {
      for (const one of started) await one[Symbol.asyncDispose]();
      const copies = await unreadable?.catch(() => undefined);
      await copies?.[Symbol.asyncDispose]();
    },
  };
}

/** Timeout until the program listens on its port and accepts our token. */
const listenMs = 60_000;

interface OpenPort {
  /** Name of its backend. */
  readonly provider: string;
  /** How the program ended. */
  readonly ended: Promise<string>;
  readonly bounds: SocketBounds;
}

/**
 * Opens a connection to a program's port through the relay. Throws PROVIDER_FAILED, or AGENT_PORT_UNUSABLE before any
 * secret is sent.
 */
async function openPort(
  { input, output }: SandboxPipes,
  port: AgentPort,
  { provider, ended, bounds }: OpenPort,
): Promise<WebSocketTalk> {
  const broken = (found: string) =>
    providerFailure({ provider, kind: 'broken-reply', found: `the program says ${found}` });
  const from = octetsOf(output);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(broken(`nothing at its port for ${listenMs} ms`)), listenMs);
  });
  const open = async (): Promise<WebSocketTalk> => {
    const word = await from.line(20);
    if (word === relayWords.taken) throw unusable(port, 'taken', 'something else listens there');
    if (word === relayWords.readable)
      throw unusable(port, 'readable', 'commands could look into the program, and find its token');
    if (word !== relayWords.open) throw broken(`nothing at its port: it ${await ended}`);
    return openWebSocket({ from, write: (octets) => void input.write(octets) }, port, bounds, broken);
  };
  try {
    return await Promise.race([open(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function unusable({ port }: AgentPort, reason: string, why: string): WritError {
  return new WritError('AGENT_PORT_UNUSABLE', {
    message: `port ${port} in the sandbox of the program cannot be used: ${why}`,
    detail: { port, reason },
    hints: [reason === 'taken' ? 'name another one' : 'leave it away: a program is talked with without one'],
  });
}

/** The relay's first line, before it forwards bytes. */
const relayWords = { open: 'open', taken: 'taken', readable: 'readable' } as const;

/**
 * Runs in the sandbox as the program's parent. Starts the program if its port is free and connects once. Verifies
 * that no process of the same user can inspect it or its children. Joins the connection to its stdin and stdout. If
 * either side ends, both end.
 */
const relay = `
const net = require("node:net"), fs = require("node:fs"), { spawn, spawnSync } = require("node:child_process");
const [port, program, ...words] = process.argv.slice(1);
const end = (word) => { fs.writeSync(1, word + "\\n"); process.exit(1); };
const to = () => net.connect({ port: Number(port), host: "127.0.0.1" });
const look = 'true </proc/$$/environ || exit 1; for one; do true </proc/$one/environ && exit 1; done; exit 0';
const below = () => {
  const found = [String(process.pid)], parents = new Map();
  for (const pid of fs.readdirSync("/proc")) try {
    parents.set(pid, fs.readFileSync("/proc/" + pid + "/stat", "latin1").split(") ").pop().split(" ")[1]);
  } catch {}
  for (const one of found) for (const [pid, parent] of parents) if (parent === one) found.push(pid);
  return found;
};
const start = () => {
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "inherit"] });
  child.on("error", () => process.exit(127));
  child.on("exit", (code) => process.exit(code ?? 1));
  const join = () => {
    const way = to();
    way.on("error", () => setTimeout(join, 20));
    way.on("connect", () => {
      way.removeAllListeners("error");
      way.on("error", () => process.exit(1)).on("close", () => process.exit(1));
      if (spawnSync("/bin/sh", ["-c", look, "sh", ...below()], { stdio: "ignore" }).status !== 0)
        end("${relayWords.readable}");
      fs.writeSync(1, "${relayWords.open}\\n");
      way.pipe(process.stdout);
      process.stdin.pipe(way);
    });
  };
  join();
};
to().on("connect", () => end("${relayWords.taken}")).on("error", start);
`;

/** The words that run a program, the first of `words`, behind its port. */
function relayed(node: string, port: number, words: readonly string[]): readonly string[] {
  return [node, '--input-type=commonjs', '-e', relay, String(port), ...words];
}

/** Programs that may be run and not be read, and where the sandbox shows them. */
interface UnreadablePrograms extends AsyncDisposable {
  readonly binds: readonly SandboxBind[];
  /** Inside: the Node that runs us. */
  readonly relay: string;
}

const relayInside = '/agent-relay';
const runAlone = 0o111;

/**
 * Copies an agent's program, its package directory, and our Node. If a user cannot read a process's program, the
 * kernel hides the process's memory and descriptors from that user's other processes (ptrace(2), `PR_SET_DUMPABLE`).
 * A command that the agent runs therefore cannot read the token or use the connection.
 */
async function copyUnreadable({ program, bind }: FoundAgent, into: string): Promise<UnreadablePrograms> {
  const root = await mkdtemp(join(into, 'agent-port-'));
  const drop = (): Promise<void> => rm(root, { recursive: true, force: true });
  const copy = async (file: string, directory: string, name: string): Promise<void> => {
    const target = join(root, directory, name);
    await copyFile(file, target, constants.COPYFILE_FICLONE);
    await chmod(target, runAlone);
  };
  try {
    for (const directory of ['program', 'relay']) await mkdir(join(root, directory), { mode: 0o755 });
    const beside = dirname(join(bind.source, posix.relative(bind.target, program)));
    if (bind.target === program) await copy(bind.source, 'program', posix.basename(program));
    else
      for (const name of await readdir(beside))
        if ((await stat(join(beside, name))).isFile()) await copy(join(beside, name), 'program', name);
    await copy(await realpath(process.execPath), 'relay', 'node');
  } catch (cause) {
    await drop();
    throw new WritError('AGENT_PORT_UNUSABLE', {
      message: `writ makes an unreadable copy of a program that serves a port, and that failed: ${messageOf(cause)}`,
      detail: { reason: 'no-copy' },
      cause,
    });
  }
  const over = (name: string, target: string): SandboxBind => ({
    source: join(root, name),
    target,
    writable: false,
  });
  return {
    binds: [
      ...(bind.target === program ? [] : [bind]),
      over('program', posix.dirname(program)),
      over('relay', relayInside),
    ],
    relay: posix.join(relayInside, 'node'),
    [Symbol.asyncDispose]: drop,
  };
}
