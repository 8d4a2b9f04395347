import { WritError } from '../../core/base/errors.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import { cutDialogue } from './cut-dialogue.ts';
import type { Happened } from './fact.ts';
import { openedState, reduce } from './reduce.ts';
import { withMessage } from './reduce-work.ts';
import { kept, type SessionState } from './state.ts';

/**
 * The state that the facts of a thread add up to, oldest first: the same as reducing them one by one, without copying
 * for each what is let go of before the end. Pure. JOURNAL_CORRUPT where they do not begin with an opening.
 */
export function restoredState(facts: readonly Happened[]): SessionState {
  const [first] = facts;
  if (first?.type !== 'opened')
    throw new WritError('JOURNAL_CORRUPT', { message: 'the thread does not begin with an opening' });
  const recent = beginOfWindow(facts);
  const commands: (readonly [id: string, text: string])[] = [];
  let dialogue: ModelMessage[] = [];
  let state = openedState(first);
  for (let at = 1; at < facts.length; at += 1) {
    const fact = facts[at] as Happened;
    if (fact.type === 'exchanged') {
      dialogue.push(fact.message);
      state = { ...state, updatedAtMs: Math.max(state.updatedAtMs, fact.atMs) };
    } else if (fact.type === 'talk-cut') {
      dialogue = [...cutDialogue(bounded(dialogue), fact.how)];
      state = { ...state, updatedAtMs: Math.max(state.updatedAtMs, fact.atMs) };
    } else if (fact.type === 'said' && fact.commandId !== undefined) {
      const { commandId, ...said } = fact;
      commands.push([commandId, fact.text]);
      state = reduce(state, said);
    } else state = reduce(state, fact);
    if (at < recent && state.transcript.length >= 2 * counted) state = withoutTranscript(state);
  }
  return { ...state, commands: new Map(commands.slice(-kept.commands)), dialogue: bounded(dialogue) };
}

/** Entries that are held while what is long gone is only counted. */
const counted = 64;

/**
 * From here on there are twice as many messages as a transcript keeps: no entry before it is in the end, and none that
 * is in the end was placed beside one of those.
 */
function beginOfWindow(facts: readonly Happened[]): number {
  let messages = 0;
  for (let at = facts.length - 1; at > 0; at -= 1) {
    if (facts[at]?.type === 'said') messages += 1;
    if (messages === 2 * kept.transcript) return at;
  }
  return 0;
}

/** All but the last entries. */
function withoutTranscript(state: SessionState): SessionState {
  const { transcript, earlier } = state;
  return {
    ...state,
    transcript: transcript.slice(-counted),
    earlier: earlier + transcript.length - counted,
  };
}

/** A dialogue is cut where a person speaks: what the last cut leaves, every cut before it would have left. */
function bounded(dialogue: readonly ModelMessage[]): readonly ModelMessage[] {
  const last = dialogue.findLastIndex(({ role }) => role === 'user');
  const spoken = dialogue[last];
  if (spoken === undefined) return dialogue;
  return [...withMessage(dialogue.slice(0, last), spoken), ...dialogue.slice(last + 1)];
}
