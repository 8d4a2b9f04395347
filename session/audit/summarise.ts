import { printable } from '../../core/base/printable.ts';
import { sensitiveClasses } from '../../core/contract/privacy-policy.ts';
import { redactTexts } from '../../readers/sensitive/redact-texts.ts';
import type { ClientCommand } from '../state/command.ts';
import type { Fact } from '../state/fact.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { SessionState } from '../state/state.ts';

/** Characters of a message that are looked at, and of those the ones that are shown. */
const [looked, shown] = [4096, 80];

/**
 * What an accepted command did, in one line without secrets: of a message its beginning, redacted; of an answer the
 * option, and never what was answered. Pure.
 */
export function summarise(command: ClientCommand, state: SessionState, facts: readonly Fact[]): string {
  switch (command.type) {
    case 'attach':
      return facts.some(({ type }) => type === 'attached')
        ? `a lease${askedAgain(facts)}`
        : 'the same lease goes on';
    case 'detach':
      return `the lease is given back${askedAgain(facts)}`;
    case 'reclaim':
      return `the local screen took the session back from ${holder(state)}${askedAgain(facts)}`;
    case 'submit':
      return ofMessage(command.text, facts);
    case 'respond':
      return ofAnswer(command.id, command.given, state, facts);
    case 'dispatch':
      return `agent ${oneLine(command.agent, shown)} is asked: ${ofMessage(command.prompt, facts)}`;
    case 'goal-start':
      return `a goal: ${ofMessage(command.objective, facts)}`;
    case 'goal-cancel':
      return `goal ${state.goal?.id ?? 'none'} is given up`;
    case 'review':
      return ofReview(command);
    case 'revoke':
      return `pre-approval ${oneLine(command.grant, shown)} is revoked`;
    case 'cancel':
      return state.turn === undefined ? 'no turn ran' : `turn ${state.turn} is to stop`;
  }
}

/** Text of somebody's own as a line of the log may hold it. */
export function oneLine(text: string, most: number): string {
  const [cut, isCut] = [text.slice(0, most).toWellFormed(), text.length > most];
  return printable(isCut ? `${cut}…` : cut);
}

function holder({ lease }: SessionState): string {
  return lease === undefined ? 'nobody' : `${lease.kind}:${oneLine(lease.clientId, shown)}`;
}

function askedAgain(facts: readonly Fact[]): string {
  const count = facts.filter((fact) => fact.type === 'withdrawn' && fact.why === 'taken-over').length;
  return count === 0 ? '' : `; pending approvals asked again: ${count}`;
}

function ofMessage(text: string, facts: readonly Fact[]): string {
  const said = facts.find((fact) => fact.type === 'said');
  if (said === undefined) return 'a message that was sent before: nothing new';
  const note = said.noteOf === undefined ? '' : `, the note of interaction ${said.noteOf}`;
  // Masked before it is cut: half a secret is known by nobody.
  const masked = redactTexts(text.slice(0, looked).toWellFormed(), { remove: sensitiveClasses, words: {} });
  return `message ${said.id} of ${text.length} characters${note}: ${oneLine(masked, shown)}`;
}

/** A comment is for whoever reads the change: of it the length alone. */
function ofReview({
  patchset,
  path,
  hunk,
  verdict,
  comment,
}: Extract<ClientCommand, { type: 'review' }>): string {
  return [
    `hunk ${oneLine(hunk, shown)} of ${oneLine(path, shown)} in patchset ${oneLine(patchset, shown)}: ${verdict ?? 'no verdict'}`,
    ...(comment === undefined ? [] : [`with a comment of ${comment.length} characters`]),
  ].join('; ');
}

function ofAnswer(id: string, given: GivenAnswer, state: SessionState, facts: readonly Fact[]): string {
  const kind = state.interactions.find((one) => one.id === id)?.kind ?? 'unknown';
  const answered = facts.find((fact) => fact.type === 'answered');
  const option = answered?.answer.option ?? given.selectedOption ?? 'none';
  const future = answered?.answer.applyToFuture;
  const about = Object.keys(given.answers ?? {}).map((question) => oneLine(question, shown));
  return [
    `interaction ${oneLine(id, shown)} (${kind}): ${option}`,
    ...(answered === undefined ? ['it stays pending'] : []),
    ...(future === undefined ? [] : [`for those to come: ${future}`]),
    ...(given.note === undefined ? [] : [`with a note of ${given.note.length} characters`]),
    ...(about.length === 0 ? [] : [oneLine(`answers to ${about.join(', ')}`, 200)]),
  ].join('; ');
}
