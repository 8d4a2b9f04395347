import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../../core/base/errors.ts';
import type { AgentProcess, AgentProgram } from '../../../../core/contract/agent.ts';
import { providerFailure } from '../../../../core/contract/provider.ts';
import type { SandboxBackend, SandboxPipes, SandboxRequest } from '../../../../core/contract/sandbox.ts';
import { isVersionControl } from '../../../tool/version-control.ts';
import type { OpenAgent } from '../../state/open-model.ts';
import type { HandPlace } from '../hands/hand-place.ts';
import { boundedLines } from './bounded-lines.ts';
import { openPort } from './open-port.ts';
import { relayed } from './relay-inside.ts';
import { copyUnreadable, type UnreadablePrograms } from './unreadable-programs.ts';

const bounds = {
  maxLineBytes: 16 * 1024 * 1024,
  maxLines: 1_000_000,
  maxBytes: 1024 * 1024 * 1024,
  maxWaitingBytes: 64 * 1024 * 1024,
};
/** What it says on standard error at its end is told to people. */
const maxStderrBytes = 16 * 1024;
const longestMs = 24 * 3600 * 1000;
/** Between the signal to stop and the end of the program: time to be told to. */
const graceMs = 3000;
/** What its home is made of; the home itself is in memory. The first word is the variable that names it. */
const homeSource = '/agent-home';
const startScript = `home=$HOME/agent name=$1; shift
mkdir -p "$home" && cp -R ${homeSource}/. "$home" && exec env "$name=$home" "$@"`;

/** Where an agent runs, and with what. */
export interface AgentGround extends Pick<SandboxRequest, 'network'> {
  readonly sandbox: SandboxBackend;
  readonly place: HandPlace;
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

export function openAgentStarter(ground: AgentGround): AgentStarter {
  const { sandbox, place, agent, provider, env, network, maxMemoryBytes, signal } = ground;
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
