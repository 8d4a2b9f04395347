/** Records the commands of clients in the audit log of a thread, and rotates its files. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { equalSecret, sha256Hex } from '../../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { syncPath } from '../../core/base/files.ts';
import { printable } from '../../core/base/printable.ts';
import { sensitiveClasses } from '../../core/interfaces/privacy.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { type JournalReach, type JournalWitness, toVouchedLine } from '../../store/journal-witness.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import type { ClientCommand, Command, CommandOf } from '../state/command.ts';
import type { Fact } from '../state/fact.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { SessionState } from '../state/state.ts';
import {
  type AuditAction,
  type AuditEnd,
  type AuditEvent,
  type AuditFile,
  type AuditProblem,
  auditFile,
  auditName,
  keptSummary,
  listAuditFiles,
  maxAuditLine,
  policyVersion,
  verifyAudit,
} from './read-audit.ts';

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

/** The audit log of a thread, open for writing. */
export interface OpenAudit extends AsyncDisposable {
  /** What was wrong with what was there: it is left as it is, and the log goes on in another file. */
  readonly problems: readonly AuditProblem[];
  /** The line is on disk when this resolves. EVIDENCE_WRITE_FAILED: nothing was written, and a retry is possible. */
  append(event: Pick<AuditEvent, 'principal_id' | 'action' | 'redacted_summary'>): Promise<void>;
}

export interface AuditParts {
  readonly clock: Clock;
  readonly witness: JournalWitness;
  /** Octets after which a new file begins; default 4 MiB. */
  readonly maxFileBytes?: number;
  /** Files that are kept besides the one that is written; default 15: with it 64 MiB. */
  readonly keptFiles?: number;
}

/**
 * Opens or creates the audit log in a thread's directory; the caller holds its lock. A damaged file is never appended
 * to: a new file begins after the last known line. EVIDENCE_WRITE_FAILED, KEY_INSECURE.
 */
export async function openAudit(
  directory: string,
  threadId: string,
  { clock, witness, maxFileBytes = 4 * 1024 * 1024, keptFiles = 15 }: AuditParts,
): Promise<OpenAudit> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const known = await witness.open(auditName(threadId));
  let file: FileHandle | undefined;
  /** Octets that count; beyond them may be half a line that could not be written. */
  let size = 0;
  /** The file ends at `size`. */
  let isTidy = false;
  const files = await listAuditFiles(directory);
  const { problems, lines, end, isEndSound, ...judged } = await verifyAudit(directory, files, known);
  let { keptFrom } = judged;
  let { seq, prev } = isEndSound ? end : behind(end, files, known.reached);
  // The witness must know the log before its first line, or a cut log would not be detected.
  if (lines === 0 && known.reached === undefined) await known.reach({ records: 0, digest: firstPrev });
  if (isEndSound && end.path !== undefined) {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
    file = await open(end.path, flags);
    size = end.bytes;
  }
  const write = async (event: Pick<AuditEvent, 'principal_id' | 'action' | 'redacted_summary'>) => {
    const line = toVouchedLine(
      {
        seq: seq + 1,
        trace_id: threadId,
        principal_id: event.principal_id,
        action: event.action,
        policy_version: policyVersion,
        redacted_summary: event.redacted_summary,
        at: toRfc3339(clock.now()),
        prev,
      },
      known,
    );
    if (file === undefined) throw new Error('the audit log is closed');
    const bytes = Buffer.from(`${line}\n`);
    if (bytes.length > maxAuditLine) throw new Error('a line is longer than a line may be');
    if (!isTidy) await file.truncate(size);
    isTidy = false;
    // A line that could not be written whole is cut off before the next one.
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    await file.datasync();
    isTidy = true;
    size += bytes.length;
    seq += 1;
    prev = sha256Hex(line);
    // If this fails, the witness records a shorter log. The lines after that point are still authenticated.
    await known.reach({ records: seq, digest: prev }).catch(() => undefined);
  };
  /** A new file records in its first line which older files are kept. Only then are the others deleted. */
  const begin = async (): Promise<void> => {
    const older = await listAuditFiles(directory);
    const path = auditFile(directory, seq + 1);
    const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
    const next = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600);
    // A new file survives a power cut only when its directory is synced, too.
    await syncPath(directory);
    await file?.close();
    [file, size, isTidy] = [next, 0, true];
    if (older.length === 0) return;
    const gone = older.slice(0, -keptFiles);
    if (gone.length > 0) keptFrom = older[gone.length]?.first ?? keptFrom;
    await write({ principal_id: 'writ', action: 'rotate', redacted_summary: keptSummary(keptFrom) });
    for (const one of gone) await rm(one.path, { force: true });
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    problems,
    append(event) {
      const appended = last.then(async () => {
        try {
          if (file === undefined || size >= maxFileBytes) await begin();
          await write(event);
        } catch (fault) {
          throw writeFailed(directory, fault);
        }
      });
      last = appended.catch(() => undefined);
      return appended;
    },
    async [Symbol.asyncDispose]() {
      await last;
      await file?.close();
      file = undefined;
      await known[Symbol.asyncDispose]();
    },
  };
}

/** Where a log goes on of which something is wrong: behind all that there was, and all that there is. */
function behind(
  end: AuditEnd,
  files: readonly AuditFile[],
  reached: JournalReach | undefined,
): { readonly seq: number; readonly prev: string } {
  const seq = Math.max(end.seq, reached?.records ?? 0, ...files.map(({ first }) => first));
  return { seq, prev: reached?.digest ?? firstPrev };
}

function writeFailed(path: string, cause: unknown): WritError {
  if (isWritError(cause)) return cause;
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `the audit log in \`${path}\` could not be written${errno === undefined ? '' : `: ${errno}`}`,
    detail: { path, ...(errno === undefined ? {} : { errno }) },
    cause,
  });
}
