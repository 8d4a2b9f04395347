/* `writ code --print`: one message without a screen, its answer, and the exit code of a run. */
import { escapeJson, toEnvelope } from '../../api/envelope.ts';
import { uncommittedCode } from '../../api/run/verdict.ts';
import { type ErrorCode, errorCatalogue } from '../../core/base/error-codes.ts';
import { WritError } from '../../core/base/errors.ts';
import type { OpenSession } from '../../session/open-session.ts';
import { outcomeTitles } from '../../session/screen/words.ts';
import type { GivenAnswer, Interaction } from '../../session/state/interaction.ts';
import { localChangesSubject, stoppedRunOf } from '../../session/state/questions.ts';
import { toEntry, toSnapshot } from '../../session/state/snapshot.ts';
import { pendingOf, type SessionState, type TranscriptEntry } from '../../session/state/state.ts';
import type { RunOutcome } from '../../session/state/work.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import type { CodeLine } from './code-line.ts';

const proof = { from: 'local' } as const;

/**
 * Sends the message, prints what the model answers, and executes a change that needs no person: a draft of low risk
 * that leaves nothing to decide, or any with `--yes`. Commands that would need an approval are denied. What needs a
 * person waits in the thread: exit 4.
 */
export async function printSession(
  context: CommandContext,
  line: CodeLine,
  { channel, threadId }: OpenSession,
): Promise<CommandResult> {
  const { print, json, signal } = context;
  const message = await readMessage(context, line);
  const [asked] = pendingOf(channel.state);
  if (asked !== undefined) throw waits(threadId, asked, line.yes);
  const first = channel.state.transcript.length + channel.state.earlier;
  const ended = Promise.withResolvers<void>();
  let shown = first;
  let waitsFor: Interaction | undefined;
  const answered = new Set<string>();
  const show = (state: SessionState): void => {
    const entries = since(state, shown);
    // An entry is complete once it does not stream, and a later one never overtakes it.
    const open = entries.findIndex(({ streaming }) => streaming);
    const done = open < 0 ? entries : entries.slice(0, open);
    shown += done.length;
    for (const entry of done) tell(entry);
  };
  const tell = (entry: TranscriptEntry): void => {
    if (line.events) print.raw(`${escapeJson(JSON.stringify({ type: 'entry', entry: toEntry(entry) }))}\n`);
    else if (!json && entry.kind === 'assistant_message') print.text(`${entry.content ?? ''}\n`);
    else if (!json && entry.kind === 'info_note' && entry.title !== 'Failed')
      for (const one of noteLines(entry)) print.note(one);
  };
  const stop = channel.subscribe((state) => {
    show(state);
    const asked = pendingOf(state).find(({ id }) => !answered.has(id));
    if (asked !== undefined) {
      answered.add(asked.id);
      const given = answerTo(asked, line.yes);
      if (given === undefined) {
        waitsFor = asked;
        ended.resolve();
      } else channel.send({ type: 'respond', id: asked.id, given, proof }).catch(ended.reject);
    } else if (state.turn === undefined && pendingOf(state).length === 0) ended.resolve();
  });
  const interrupted = (): void => ended.reject(signal.reason);
  signal.addEventListener('abort', interrupted, { once: true });
  try {
    signal.throwIfAborted();
    await channel.send({ type: 'submit', ...message, proof });
    await ended.promise;
  } catch (fault) {
    if (channel.state.turn !== undefined)
      await channel.send({ type: 'cancel', proof }).catch(() => undefined);
    throw fault;
  } finally {
    signal.removeEventListener('abort', interrupted);
    stop();
  }
  return resultOf(context, line, { state: channel.state, threadId, first, waitsFor });
}

function since({ transcript, earlier }: SessionState, from: number): readonly TranscriptEntry[] {
  return transcript.slice(Math.max(0, from - earlier));
}

function noteLines({ title, content = '', metadata }: TranscriptEntry): readonly string[] {
  const gate = metadata.gate as { readonly stage: string } | undefined;
  const outcome = metadata.outcome as RunOutcome | undefined;
  const shown = outcome === undefined ? title : outcomeTitles[outcome.decision];
  const name = gate === undefined ? shown : `gate ${gate.stage}`;
  const [first = '', ...rest] = content.split('\n');
  const start = name === undefined ? '' : gate === undefined ? `${name}: ` : `${name} `;
  return [`${start}${first}`, ...rest.map((line) => `  ${line}`)];
}

/** What is answered without a person; `undefined`: it waits for one. */
function answerTo(asked: Interaction, yes: boolean): GivenAnswer | undefined {
  switch (asked.kind) {
    case 'intent_review_choice': {
      const { riskLevel, questions = [], lacks = [] } = asked.metadata;
      const isClear = riskLevel === 'low' && questions.length === 0 && lacks.length === 0;
      return yes || isClear ? { selectedOption: 'confirm' } : undefined;
    }
    case 'post_plan_choice': {
      const isFirst = asked.metadata.repair === undefined && asked.metadata.stopped === undefined;
      return isFirst && (yes || asked.metadata.riskLevel === 'low')
        ? { selectedOption: 'execute' }
        : undefined;
    }
    case 'approval':
    case 'sandbox_approval':
      return { selectedOption: 'deny' };
    default:
      return undefined;
  }
}

interface Ended {
  readonly state: SessionState;
  readonly threadId: string;
  readonly first: number;
  readonly waitsFor: Interaction | undefined;
}

function resultOf(
  { print, json }: CommandContext,
  line: CodeLine,
  { state, threadId, first, waitsFor }: Ended,
): CommandResult {
  const entries = since(state, first);
  const answer = entries
    .flatMap(({ kind, content = '' }) => (kind === 'assistant_message' ? [content] : []))
    .join('\n\n');
  const outcome = entries
    .flatMap(({ metadata }) => (metadata.outcome as RunOutcome | undefined) ?? [])
    .at(-1);
  const error = failureOf(state, {
    yes: line.yes,
    threadId,
    outcome,
    waitsFor,
    reason: entries.at(-1)?.content,
  });
  const { usage, settings } = toSnapshot(state);
  const data = {
    thread_id: threadId,
    provider: state.ground.provider.provider,
    model: settings.model ?? state.ground.provider.model ?? null,
    status: error === undefined ? (outcome === undefined ? 'answered' : 'committed') : 'stopped',
    answer,
    ...(outcome === undefined
      ? {}
      : { run_id: outcome.runId, decision: outcome.decision, commit: outcome.commit ?? null }),
    ...(waitsFor === undefined ? {} : { waits_for: waitsFor.kind }),
    usage: {
      input_tokens: usage?.inputTokens ?? 0,
      output_tokens: usage?.outputTokens ?? 0,
      cost_usd: usage?.costUsd ?? null,
    },
  };
  if (error === undefined && line.events)
    print.raw(`${escapeJson(JSON.stringify({ type: 'result', data }))}\n`);
  else if (error === undefined && json) print.raw(toEnvelope('code', { data }, true));
  if (error !== undefined) return refused(error, data, () => {});
  print.note(`thread ${threadId}; \`writ code --resume ${threadId}\` goes on with it`);
  return succeeded(data, () => {});
}

function failureOf(
  { status }: SessionState,
  {
    yes,
    threadId,
    outcome,
    waitsFor,
    reason = '',
  }: Pick<Ended, 'threadId' | 'waitsFor'> & {
    readonly yes: boolean;
    readonly outcome: RunOutcome | undefined;
    readonly reason: string | undefined;
  },
): WritError | undefined {
  if (waitsFor !== undefined) return waits(threadId, waitsFor, yes);
  const hints = [resumeHint(threadId)];
  if (status === 'error') {
    const [, code = '', words = reason] = /^([A-Z][A-Z_]+): (.*)$/s.exec(reason) ?? [];
    const known = Object.hasOwn(errorCatalogue, code) ? (code as ErrorCode) : 'DECISION_ABANDON';
    return new WritError(known, {
      message: words.split('\n- ')[0] ?? words,
      detail: { thread_id: threadId },
      hints,
    });
  }
  if (outcome === undefined || outcome.decision === 'commit') return undefined;
  return new WritError(uncommittedCode(outcome.decision), {
    message: outcome.why,
    detail: { run_id: outcome.runId, thread_id: threadId },
    hints,
  });
}

function resumeHint(threadId: string): string {
  return `go on with it: \`writ code --resume ${threadId}\``;
}

function waits(threadId: string, asked: Interaction, yes: boolean): WritError {
  const { kind, subject, title, prompt = kind } = asked;
  const run = stoppedRunOf(asked);
  if (run !== undefined)
    return new WritError('DRAFT_WAITS', {
      message: `a run of this thread was interrupted: ${title}. ${prompt}`,
      detail: { thread_id: threadId, kind, run_id: run },
      hints: [resumeHint(threadId), `without a person: \`writ resume ${run}\`, or \`writ cancel ${run}\``],
    });
  const isDraft = kind === 'intent_review_choice' || kind === 'post_plan_choice';
  const more = subject.startsWith(localChangesSubject)
    ? [
        'without a person: send the text again with `--local-changes include` or `set-aside`, or commit the files',
      ]
    : isDraft && !yes
      ? ['`--yes` confirms a draft and its plan beforehand']
      : [];
  return new WritError('DRAFT_WAITS', {
    message: `a question waits for a person: ${title ?? prompt}`,
    detail: { thread_id: threadId, kind },
    hints: [resumeHint(threadId), ...more],
  });
}

/** Octets of standard input that are attached. */
const maxInput = 1024 * 1024;
/** Wait for the first octet of standard input: a program may have left it open without ever writing to it. */
const inputWaitMs = 3000;

/** The words of the line, with standard input attached if something is piped in. */
async function readMessage({ stdin, print }: CommandContext, { print: words = '' }: CodeLine) {
  const input =
    (stdin as { readonly isTTY?: boolean }).isTTY === true ? '' : await readInput(stdin, words !== '');
  if (input === undefined) {
    print.note('standard input is open, but nothing came from it: it is not attached');
    return { text: words };
  }
  if (words !== '')
    return { text: words, ...(input.trim() === '' ? {} : { given: [{ name: 'stdin', text: input }] }) };
  if (input.trim() === '')
    throw new WritError('USAGE', {
      message: '`--print` has no message: write TEXT after it, or pipe it to standard input',
      detail: { command: 'code', option: '--print', expected: 'TEXT', found: '' },
    });
  return { text: input };
}

async function readInput(stdin: CommandContext['stdin'], mayBeSilent: boolean): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  const timer = Promise.withResolvers<'silent'>();
  const waiting = mayBeSilent ? setTimeout(() => timer.resolve('silent'), inputWaitMs) : undefined;
  const read = (async (): Promise<'read'> => {
    for await (const chunk of stdin) {
      clearTimeout(waiting);
      const bytes = Buffer.from(chunk as Uint8Array);
      size += bytes.length;
      if (size > maxInput)
        throw new WritError('INPUT_TOO_LARGE', {
          message: `standard input is larger than ${maxInput} octets: write it to a file of the repository, and name that file`,
          detail: { limit: maxInput, found: size },
        });
      parts.push(bytes);
    }
    return 'read';
  })();
  try {
    if ((await Promise.race([read, timer.promise])) === 'silent') return undefined;
  } finally {
    clearTimeout(waiting);
    if (parts.length === 0) stdin.destroy();
    read.catch(() => undefined);
  }
  return Buffer.concat(parts).toString('utf8');
}
