/* Opens the sandbox of an agent program for one attempt. */
import { statSync } from 'node:fs';
import { posix } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { AgentHost, AgentVerdict, HandUse } from '../../core/interfaces/worker.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { refusal } from '../../workspace/command-acl/constraints.ts';
import { wayAddress } from '../../workspace/egress/open-egress.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { wordsOf } from '../../workspace/shell/shell.ts';
import type { AgentRun } from '../agent-run.ts';
import { fenceNote, type TurnsOfTask, type TurnsUsed } from '../model-loop/model-turns.ts';
import type { OpenAgent, OpenModel } from '../model-loop/open-model.ts';
import type { ToolPlace } from '../tool-calls/tool-entry.ts';
import { type AttemptTools, openToolEntry, usualBound } from '../tool-calls/tool-entry.ts';
import { type AuthorizedUse, authorizeUse, toolEnvironment } from '../workspace-tools/authorize-use.ts';
import { type GateRun, gateRoot, openModelGate } from './model-gate.ts';
import { openAgentStarter } from './start-agent.ts';

/** A program's host for one attempt, and what came of it. */
interface OpenAgentHost extends AgentHost {
  taken(): TurnsUsed;
  /** Ends what still runs, and closes the way to the model. */
  close(): Promise<void>;
}

/** Of what is kept with the record. */
const [maxNotes, maxNote] = [20, 8000];
/** Opens the way of one attempt to an agent. SANDBOX_NONE_REFUSED: what works by itself is not let loose. */
export async function openAgentHost(
  run: AgentRun & GateRun,
  place: ToolPlace,
  chosen: OpenModel & { readonly agent: OpenAgent },
  tools: AttemptTools,
  about: Pick<TurnsOfTask, 'called' | 'instructions'>,
): Promise<OpenAgentHost> {
  const { agent, model, provider } = chosen;
  const { sandbox, config } = run.environment;
  if (sandbox.unconfined) throw new WritError('SANDBOX_NONE_REFUSED');
  const gate = await openModelGate(run, chosen, {
    ...about,
    spend: tools.calls.spend,
    task: tools.task,
  });
  const judge = openAgentJudge(run, place, tools);
  const notes: string[] = [];
  const { promptInjection } = run.identity.contract.effective.security;

  const starter = openAgentStarter({
    sandbox,
    place,
    agent,
    provider: provider.name,
    env: toolEnvironment(run, place),
    network: gate.network,
    maxMemoryBytes: maxMemoryBytes(config),
    signal: run.services.signal,
  });

  return {
    model,
    modelBase: `${wayAddress}${gateRoot}`,
    workspace: sandbox.pathsInside(place).workspace,
    flags: agent.flags,
    notes: promptInjection.treatRetrievedContentAsUntrusted ? [fenceNote] : [],
    start: starter.start,
    judge: judge.judge,
    note: (text) =>
      void (notes.length < maxNotes && notes.push(redactTexts(text.slice(0, maxNote), tools.policy))),
    isAsking: gate.isAsking,
    failure: gate.failure,
    taken: () => ({ ...gate.taken(), notices: [...(chosen.notices ?? []), ...notes] }),
    async close() {
      await starter[Symbol.asyncDispose]();
      await gate.close();
    },
  };
}

/** A file may grow to so much by one use. */
const maxFileBytes = 8 * 1024 * 1024;

/**
 * Authorizes an agent's tool calls in one attempt by the same rules as the workspace tools, and records them in the
 * same form.
 */
function openAgentJudge(run: AgentRun, place: ToolPlace, tools: AttemptTools) {
  const door = openToolEntry(tools, usualBound);
  const inside = run.environment.sandbox.pathsInside(place).workspace;
  const judge = (use: HandUse): AuthorizedUse | string => {
    const wanted = toHandUse(use, inside, place);
    if (typeof wanted === 'string') return wanted;
    const judged = authorizeUse(run, place, wanted);
    // The output of an agent's command goes to the agent, not through writ, and no process checks between two
    // commands.
    const { acl } = judged;
    const bound = acl && unheldBounds.find((name) => acl[name] !== undefined);
    if (judged.refusal !== undefined || bound === undefined) return judged;
    return { ...judged, refusal: unheld(bound) };
  };
  return {
    /** Calls are authorized one at a time, like workspace tool calls. */
    async judge(use: HandUse): Promise<AgentVerdict> {
      const begun = await door.begin(() => judge(use));
      if ('refusal' in begun) return { refusal: begun.refusal, settle: async () => {} };
      return {
        async settle(outcome, exitCode) {
          await begun.settle({ outcome, ...(exitCode === undefined ? {} : { exitCode }) });
        },
      };
    },
  };
}

const unheldBounds = ['maxOutputBytes', 'maxWriteBytes', 'writeRoots'] as const;

function unheld(bound: string): Finding {
  return refusal(`the rule that allows it sets \`${bound}\`, to which a command of an agent cannot be held`, {
    reason: 'unheld',
    bound,
  });
}

const shells = /^(?:\/usr)?\/bin\/(?:ba|da|z)?sh$/;

/** Returns the script of a command that is only a shell running a script; otherwise the command. */
export function scriptIn(command: string): string {
  const [shell = '', option = '', script, ...more] = wordsOf(command) ?? [];
  const isScript = shells.test(shell) && (option === '-lc' || option === '-c') && more.length === 0;
  return isScript && script !== undefined ? script : command;
}

/** Converts an agent's tool call to the equivalent workspace tool call, or returns why there is none. */
function toHandUse(use: HandUse, inside: string, { workspace }: ToolPlace): HandUse | string {
  if (use.kind === 'execute') return { kind: 'execute', command: scriptIn(use.command) };
  if (use.kind === 'vcs') return 'an agent asks no version control';
  if (use.kind === 'background' || use.kind === 'command') return 'an agent runs its commands itself';
  // What is not in the workspace stays so: it begins with `..`.
  const path = posix.relative(inside, posix.resolve(inside, use.path)) || '.';
  if (use.kind !== 'write') return { ...use, path };
  const there = statSync(`${workspace}/${path}`, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = there + use.bytes.length;
  if (bytes > maxFileBytes) return `a file of more than ${maxFileBytes} bytes`;
  return { kind: 'write', path, bytes: Buffer.alloc(bytes) };
}
