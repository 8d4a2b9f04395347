import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, WritError } from '../../../../core/base/errors.ts';
import type { AgentHost, AgentProcess, AgentProgram } from '../../../../core/contract/agent.ts';
import { providerFailure } from '../../../../core/contract/provider.ts';
import type { SandboxPipes } from '../../../../core/contract/sandbox.ts';
import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import { wayAddress } from '../../../tool/egress/inside.ts';
import { isVersionControl } from '../../../tool/version-control.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import { maxMemoryBytes } from '../../state/max-memory-bytes.ts';
import type { OpenAgent, OpenModel } from '../../state/open-model.ts';
import { handEnvironment } from '../hands/hand-environment.ts';
import type { HandPlace } from '../hands/hand-place.ts';
import type { AttemptTools } from '../tools/tool-setting.ts';
import type { TurnsTaken } from '../turns/open-turns.ts';
import { fenceNote } from '../turns/untrusted-text.ts';
import { boundedLines } from './bounded-lines.ts';
import { openAgentJudge } from './judge-agent-use.ts';
import { gateRoot, openModelGate } from './model-gate.ts';

/** A program's host for one attempt, and what came of it. */
export interface OpenAgentHost extends AgentHost {
  taken(): TurnsTaken;
  /** Ends what still runs, and closes the way to the model. */
  close(): Promise<void>;
}

const bounds = { maxLineBytes: 16 * 1024 * 1024, maxLines: 1_000_000, maxBytes: 1024 * 1024 * 1024 };
/** What it says on standard error at its end is told to people. */
const maxStderrBytes = 16 * 1024;
const longestMs = 24 * 3600 * 1000;
/** Between the signal to stop and the end of the program: time to be told to. */
const graceMs = 3000;
/** Of what is kept with the record. */
const [maxNotes, maxNote] = [20, 8000];
/** What its home is made of; the home itself is in memory. The first word is the variable that names it. */
const homeSource = '/agent-home';
const startScript = `home=$HOME/agent name=$1; shift
mkdir -p "$home" && cp -R ${homeSource}/. "$home" && exec env "$name=$home" "$@"`;

/** Opens the way of one attempt to an agent. SANDBOX_NONE_REFUSED: what works by itself is not let loose. */
export async function openAgentHost(
  run: OpenRun,
  place: HandPlace,
  chosen: OpenModel & { readonly agent: OpenAgent },
  tools: AttemptTools,
): Promise<OpenAgentHost> {
  const { agent, model, provider } = chosen;
  const { sandbox, config } = run.ground;
  if (sandbox.unconfined) throw new WritError('SANDBOX_NONE_REFUSED');
  const gate = await openModelGate(run, chosen, { spend: tools.calls.spend, task: tools.task });
  const judge = openAgentJudge(run, place, tools);
  const notes: string[] = [];
  const policy = policyOf(run);
  const started = new Set<AgentProcess>();
  const { promptInjection } = run.identity.contract.effective.security;

  const start = async (program: AgentProgram): Promise<AgentProcess> => {
    run.means.signal.throwIfAborted();
    const home = join(dirname(place.workspace), 'agent-home');
    await mkdir(home, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(program.home)) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), text, { mode: 0o600 });
    }
    const over = new AbortController();
    let talk: (pipes: SandboxPipes) => void = () => {};
    const talked = new Promise<SandboxPipes>((resolve) => {
      talk = resolve;
    });
    const running = sandbox.run({
      argv: ['sh', '-c', startScript, 'sh', program.homeVariable, agent.program.program, ...program.words],
      workspace: place.workspace,
      reports: place.reports,
      binds: [agent.program.bind, { source: home, target: homeSource, writable: false }],
      env: { ...handEnvironment(run, place), ...program.env },
      network: gate.network,
      withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
      timeoutMs: longestMs,
      maxOutputBytes: maxStderrBytes,
      maxMemoryBytes: maxMemoryBytes(config),
      talk,
      signal: over.signal,
    });
    const ended = running.then(
      ({ exitCode, signal, exceeded, stderr }) => {
        const how = exceeded
          ? `held more ${exceeded.what} than ${exceeded.limit}`
          : exitCode === undefined
            ? `was ended by ${signal}`
            : `ended with ${exitCode}`;
        const said = stderr.bytes.toString('utf8').trim().slice(-300);
        return said === '' ? how : `${how}: ${said}`;
      },
      (fault: unknown) => messageOf(fault),
    );
    const { input, output } = await Promise.race([talked, running.then(() => talked)]);
    input.on('error', () => {});
    const stop = (): void => {
      const timer = setTimeout(() => over.abort(), graceMs);
      ended.then(() => clearTimeout(timer));
    };
    run.means.signal.addEventListener('abort', stop, { once: true });
    const tooMuch = (found: string) =>
      providerFailure({ provider: provider.name, kind: 'broken-reply', found: `the program says ${found}` });
    const agentProcess: AgentProcess = {
      send: (line) => void input.write(`${line}\n`),
      lines: boundedLines(output, bounds, tooMuch),
      ended,
      async [Symbol.asyncDispose]() {
        run.means.signal.removeEventListener('abort', stop);
        over.abort();
        output.destroy();
        await ended;
        started.delete(agentProcess);
      },
    };
    started.add(agentProcess);
    return agentProcess;
  };

  return {
    model,
    modelBase: `${wayAddress}${gateRoot}`,
    workspace: sandbox.pathsInside(place).workspace,
    flags: agent.flags,
    notes: promptInjection.treatRetrievedContentAsUntrusted ? [fenceNote] : [],
    start,
    judge: judge.judge,
    note: (text) => void (notes.length < maxNotes && notes.push(redactTexts(text.slice(0, maxNote), policy))),
    isAsking: gate.isAsking,
    failure: gate.failure,
    taken: () => ({ ...gate.taken(), notices: notes }),
    async close() {
      for (const one of started) await one[Symbol.asyncDispose]();
      await gate.close();
    },
  };
}
