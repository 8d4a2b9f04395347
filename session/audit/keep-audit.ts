/** Records the commands of clients in the audit log. */

import { equalSecret } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { sensitiveClasses } from '../../core/interfaces/privacy.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { ClientCommand, Command, CommandOf } from '../state/command.ts';
import type { Fact } from '../state/fact.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { SessionState } from '../state/state.ts';
import type { OpenAudit } from './open-audit.ts';
import type { AuditAction } from './read-audit.ts';

/** The audit records of the commands that a channel accepts or refuses. */
export interface SessionAudit {
  /** Before anything of an accepted command has happened; EVIDENCE_WRITE_FAILED: it may not happen then. */
  accepted(command: Command, state: SessionState, facts: readonly Fact[]): Promise<void>;
  /** After a command was refused, or was accepted and could not be kept. Never rejects. */
  failed(command: Command, state: SessionState, fault: unknown): Promise<void>;
}

/** Failures that are written within a window; beyond them they are counted. */
const [mostFailures, windowMs] = [30, 60_000];

/** Keeps the audit log of a session: what clients did, and in a bounded number what they were refused. */
export function keepAudit(log: Pick<OpenAudit, 'append'>, clock: Pick<Clock, 'monotonic'>): SessionAudit {
  let at: number[] = [];
  let uncounted = 0;
  return {
    async accepted(command, state, facts) {
      if (!isClient(command)) return;
      if (command.type === 'reclaim' && state.lease === undefined) return;
      const principal_id = principalOf(command, state);
      const redacted_summary = summarise(command, state, facts);
      await log.append({ principal_id, action: actions[command.type], redacted_summary });
    },
    async failed(command, state, fault) {
      if (!isClient(command)) return;
      const now = clock.monotonic();
      at = at.filter((one) => one > now - windowMs);
      if (at.length >= mostFailures) {
        uncounted += 1;
        return;
      }
      at.push(now);
      const code = isWritError(fault) ? fault.code : 'INTERNAL';
      const more = uncounted === 0 ? '' : `; ${uncounted} refusals before it were not written`;
      const redacted_summary = `refused: ${code}${whatFor(command)}${more}`;
      uncounted = 0;
      const principal_id = command.type === 'attach' ? 'unproven' : principalOf(command, state);
      const action = actions[command.type];
      await log.append({ principal_id, action, redacted_summary }).catch(() => undefined);
    },
  };
}

const actions: Readonly<Record<ClientCommand['type'], AuditAction>> = {
  attach: 'attach',
  detach: 'detach',
  reclaim: 'detach',
  submit: 'submit',
  respond: 'respond',
  cancel: 'cancel',
  revoke: 'revoke',
  review: 'respond',
  dispatch: 'submit',
  'goal-start': 'submit',
  'goal-cancel': 'cancel',
};

function isClient(command: Command): command is ClientCommand {
  return Object.hasOwn(actions, command.type);
}

const maxClient = 120;

/** The proven sender. A client's own identification counts only if its lease confirms it. */
function principalOf(command: ClientCommand, { lease, ground: { local } }: SessionState): string {
  if (command.type === 'attach') return `${command.kind}:${oneLine(command.clientId, maxClient)}`;
  if (command.type === 'reclaim' || command.proof.from === 'local') return local === 'cli' ? 'cli' : 'tui';
  const { tokenDigest = '' } = command.proof;
  const isHolder = lease !== undefined && equalSecret(lease.tokenDigest, tokenDigest);
  return isHolder ? `${lease.kind}:${oneLine(lease.clientId, maxClient)}` : 'unproven';
}

function whatFor(command: ClientCommand): string {
  if (command.type === 'attach')
    return `; who asked calls itself ${oneLine(`${command.kind}:${command.clientId}`, maxClient)}`;
  return command.type === 'respond' ? `; interaction ${oneLine(command.id, maxClient)}` : '';
}

/** Characters of a message that are looked at, and of those the ones that are shown. */
const [looked, shown] = [4096, 80];

/**
 * What an accepted command did, in one line without secrets: of a message its beginning, redacted; of an answer the
 * option, and never what was answered. Pure.
 */
function summarise(command: ClientCommand, state: SessionState, facts: readonly Fact[]): string {
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

function oneLine(text: string, most: number): string {
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
  // Secrets are masked before the text is shortened.
  const masked = redactTexts(text.slice(0, looked).toWellFormed(), { remove: sensitiveClasses, words: {} });
  return `message ${said.id} of ${text.length} characters${note}: ${oneLine(masked, shown)}`;
}

/** The log holds the length of a comment, never its text. */
function ofReview({ patchset, path, hunk, verdict, comment }: CommandOf<'review'>): string {
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
