/** Decides `/rewind`, which goes back before the last messages, and where `/fork` begins. */
import { WritError } from '../../core/base/errors.ts';
import { type Decided, type Moment, requireIdle } from './command.ts';
import { mostNamed, turnInQuotes } from './dialogue.ts';
import type { Fact, FactOf, Speaker } from './fact.ts';
import { requireMayUndo } from './questions.ts';
import { type MessageName, type Spoken, spokenIn } from './slash.ts';
import type { SessionState, TranscriptEntry } from './state.ts';
import type { RunOutcome } from './work.ts';

/** A message that a model got, and the runs that were committed after it, newest first. */
interface SentMessage {
  /** Of its transcript entry; absent if it left the window. */
  readonly entry: string | undefined;
  readonly words: string;
  readonly runs: readonly string[];
}

/** CONTROLLER_CONFLICT while a turn runs, UNSUPPORTED_OPERATION if there is nothing to go back to. */
export function decideRewind(
  state: SessionState,
  { before, what }: Extract<Spoken, { readonly kind: 'rewind' }>,
  said: FactOf<'said'>,
  by: Speaker,
  { newId }: Pick<Moment, 'newId'>,
): Decided {
  requireIdle(state);
  const sent = sentMessages(state);
  const note = (text: string): Fact => ({ type: 'noted', id: newId(), title: 'Conversation', text });
  if (before === undefined) return { facts: [said, note(listed(sent))], wants: [] };
  const messages = countTo(sent, before);
  const dropped = lastOf(sent, messages);
  const runs = dropped.at(-1)?.runs ?? [];
  const [newest] = runs;
  const cut: readonly Fact[] = what === 'files' ? [] : [{ type: 'talk-cut', how: { messages } }];
  if (what === 'talk') {
    const kept = runs.length === 0 ? [] : [`its commits stay: ${undoing(runs)} takes one back`];
    return { facts: [said, ...cut, note([forgotten(dropped), ...kept].join('\n'))], wants: [] };
  }
  if (newest === undefined) throw unsupported('no commit came of these messages');
  requireMayUndo(state, newest);
  const later = runs.slice(1);
  const notes = [
    ...(what === 'both' ? [forgotten(dropped)] : []),
    ...(later.length === 0 ? [] : [`then ${undoing(later)} takes back the commits before it`]),
  ];
  const turn = newId();
  return {
    facts: [
      said,
      ...cut,
      ...(notes.length === 0 ? [] : [note(notes.join('\n'))]),
      { type: 'turn-began', turn },
    ],
    wants: [{ type: 'turn', turn, spoken: { kind: 'undo', text: newest }, by }],
  };
}

/** The transcript entry of a message. UNSUPPORTED_OPERATION if there is no such message. */
export function entryBefore(state: SessionState, before: MessageName): string {
  if (typeof before === 'string') {
    const said = state.transcript.filter(({ kind }) => kind === 'user_message').map(({ id }) => id);
    return onlyOne(said, before);
  }
  const entry = lastOf(sentMessages(state), before).at(-1)?.entry;
  if (entry !== undefined) return entry;
  throw unsupported('that message is too old: only the end of a thread can be forked');
}

function countTo(sent: readonly SentMessage[], before: MessageName): number {
  if (typeof before === 'number') return before;
  const entries = sent.map(({ entry = '' }) => entry);
  return entries.indexOf(onlyOne(entries, before)) + 1;
}

/** The one id that begins so. */
function onlyOne(ids: readonly string[], begin: string): string {
  const [found, ...more] = ids.filter((id) => id.startsWith(begin));
  if (found !== undefined && more.length === 0) return found;
  throw unsupported(
    found === undefined
      ? `no message of yours has the entry \`${begin}\``
      : `the entries of ${1 + more.length} messages begin with \`${begin}\``,
  );
}

function lastOf(sent: readonly SentMessage[], messages: number): readonly SentMessage[] {
  if (messages <= sent.length) return sent.slice(0, messages);
  throw unsupported(
    sent.length === 0 ? 'no message was sent to a model' : `only ${sent.length} messages can be gone back to`,
  );
}

/** The messages of the conversation, newest first. */
function sentMessages({ dialogue, transcript, undos }: SessionState): readonly SentMessage[] {
  const isUndone = (runId: string): boolean => undos.some(({ run, by }) => run === runId || by === runId);
  let end = transcript.length;
  return dialogue
    .flatMap((message) => (message.role === 'user' ? [message.text] : []))
    .toReversed()
    .map((text) => {
      const at = transcript.slice(0, end).findLastIndex((entry) => isOf(entry, text));
      if (at >= 0) end = at;
      const entry = at < 0 ? undefined : transcript[at]?.id;
      return {
        entry,
        words: text,
        runs: transcript
          .slice(end)
          .flatMap(committedRun)
          .filter((run) => !isUndone(run))
          .toReversed(),
      };
    });
}

/** A model gets the words of a message, and its attachments behind them. */
function isOf({ kind, content = '' }: TranscriptEntry, text: string): boolean {
  if (kind !== 'user_message') return false;
  const spoken = spokenIn(content);
  const words = spoken !== undefined && 'text' in spoken ? spoken.text.trim() : '';
  return words !== '' && text.startsWith(words);
}

function committedRun({ metadata }: TranscriptEntry): readonly string[] {
  const outcome = metadata.outcome as RunOutcome | undefined;
  return outcome?.decision === 'commit' ? [outcome.runId] : [];
}

function listed(sent: readonly SentMessage[]): string {
  if (sent.length === 0) return 'no message was sent to a model: there is nothing to go back to';
  const lines = sent.slice(0, mostNamed).map(({ entry, words, runs }, at) => {
    const commits = runs.length === 0 ? '' : ` (commits since: ${runs.length})`;
    const named = entry === undefined ? '' : ` · entry ${shortEntry(entry)}`;
    return `${at + 1}  ${turnInQuotes(words)}${commits}${named}`;
  });
  return [
    '`/rewind N` or `/rewind ENTRY` goes back before one of these, `/fork` begins a thread there:',
    ...lines,
  ].join('\n');
}

/** The beginning of an id up to its time in milliseconds, so that another message hardly has it. */
export function shortEntry(id: string): string {
  return id.slice(0, 13);
}

function forgotten(dropped: readonly SentMessage[]): string {
  return `a model no longer gets: ${dropped
    .slice(0, mostNamed)
    .map(({ words }) => turnInQuotes(words))
    .join(', ')}`;
}

function undoing(runs: readonly string[]): string {
  return runs
    .slice(0, mostNamed)
    .map((run) => `\`/undo ${run}\``)
    .join(', ');
}

function unsupported(message: string): WritError {
  return new WritError('UNSUPPORTED_OPERATION', { message, hints: ['`/rewind` lists the messages'] });
}
