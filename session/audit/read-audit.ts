/** Parses and verifies audit logs. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readPlain, whyInsecure } from '../../core/base/files.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import {
  isVouchedLine,
  type JournalReach,
  type JournalWitness,
  type KnownJournal,
} from '../../store/journal-witness.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import type { Found, ProblemCode } from '../../store/stored-object.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listThreadIds, threadDirectory } from '../thread/open-thread.ts';

/** One event of an audit log, without its place in the chain. */
export interface AuditEvent {
  /** The thread. */
  readonly trace_id: string;
  /** `automation:<client>`, `browser:<client>`, `tui`, `cli`; `unproven` without a valid lease token. */
  readonly principal_id: string;
  readonly action: AuditAction;
  readonly policy_version: typeof policyVersion;
  /** One line, without control characters, secrets and answers. */
  readonly redacted_summary: string;
  /** RFC 3339. */
  readonly at: string;
}

/** `rotate` is the log's own: a new file begins. */
export type AuditAction = 'attach' | 'detach' | 'submit' | 'respond' | 'cancel' | 'revoke' | 'rotate';

export const policyVersion = 'local-tui-control/v1';

/** An event in its place: the digest of the line before, and the word of the user's witness over all before `mac`. */
interface AuditLine extends AuditEvent {
  readonly seq: number;
  readonly prev: string;
}

const names = [
  'seq',
  'trace_id',
  'principal_id',
  'action',
  'policy_version',
  'redacted_summary',
  'at',
  'prev',
  'mac',
];

/** Octets of a line without its end; what is longer is none of ours. */
export const maxAuditLine = 4096;

/** One line of an audit log; `undefined` for what is none. */
function parseAuditLine(text: string): AuditLine | undefined {
  try {
    const { value } = parseStrictJson(Buffer.from(text), { code: 'INVALID_BODY', maxBytes: maxAuditLine });
    const line = value as Readonly<Record<string, unknown>>;
    const isWhole =
      names.length === Object.keys(line).length && names.every((name) => Object.hasOwn(line, name));
    const { seq, ...words } = line;
    const areWords = Object.values(words).every((word) => typeof word === 'string');
    if (!isWhole || !areWords || !Number.isSafeInteger(seq) || line.policy_version !== policyVersion)
      return undefined;
    return line as unknown as AuditLine;
  } catch (fault) {
    if (fault instanceof WritError || fault instanceof TypeError) return undefined;
    throw fault;
  }
}

/** One file of an audit log: a log that grows goes on in another one. */
export interface AuditFile {
  readonly path: string;
  /** Number of its first line, from the file's name. */
  readonly first: number;
}

/** `audit-<number of its first line>.jsonl` in the directory of the thread. */
export function auditFile(directory: string, first: number): string {
  return join(directory, `audit-${first}.jsonl`);
}

/** The files of a thread's audit log, oldest first; none where there is none. */
export async function listAuditFiles(directory: string): Promise<readonly AuditFile[]> {
  const names = await readdir(directory).catch(() => []);
  return names
    .flatMap((name) => {
      const [, first] = /^audit-([1-9]\d{0,10})\.jsonl$/.exec(name) ?? [];
      return first === undefined ? [] : [{ path: join(directory, name), first: Number(first) }];
    })
    .sort((a, b) => a.first - b.first);
}

/** A larger file was not written by writ: files are rotated long before this size. */
const maxFileBytes = 16 * 1024 * 1024;

/** The content of a file, or why it cannot be trusted; `undefined` if it does not exist. */
function readAuditFile(path: string): Buffer | string | undefined {
  const { bytes, status, fault } = readPlain(path, maxFileBytes);
  if (fault?.code === 'ENOENT') return undefined;
  if (status === undefined) return `it cannot be opened: ${fault?.code}`;
  return whyInsecure(status, 0o077) ?? bytes ?? fault?.message;
}

export interface AuditProblem extends Found {
  readonly code: Extract<ProblemCode, `audit-${string}`>;
}

/** The last line that is there, and how many octets of its file count. */
export interface AuditEnd {
  readonly seq: number;
  readonly prev: string;
  readonly path?: string;
  readonly bytes: number;
}

/** What is there of a log, and whether it may be believed. */
interface VerifiedAudit {
  readonly problems: readonly AuditProblem[];
  readonly lines: number;
  /** Number of the oldest line that should be there. */
  readonly keptFrom: number;
  readonly end: AuditEnd;
  /** Whatever is wrong before: the next line can be written there. */
  readonly isEndSound: boolean;
}

const shown = 200;

/**
 * Verifies a log from its oldest file to its newest. Every line is in its place, the chain is complete, and the last
 * line is authenticated. The log is as long as after its last write here. Lines before the oldest file may be absent
 * if a later line of the log records their removal. An incomplete last line comes from a killed process and is not
 * damage.
 */
export async function verifyAudit(
  directory: string,
  files: readonly AuditFile[],
  known: KnownJournal,
): Promise<VerifiedAudit> {
  const problems: AuditProblem[] = [];
  const report = (code: AuditProblem['code'], where: string, what: string): void => {
    if (problems.length < shown) problems.push({ code, where, what });
  };
  const { reached } = known;
  let end: AuditEnd = { seq: 0, prev: firstPrev, bytes: 0 };
  let lines = 0;
  let isBroken = false;
  let oldest: number | undefined;
  let keptFrom = 1;
  for (const { path, first } of files) {
    const bytes = await readAuditFile(path);
    if (bytes === undefined) continue;
    if (typeof bytes === 'string') {
      report('audit-foreign', path, bytes);
      isBroken = true;
      continue;
    }
    const isGap = first !== end.seq + 1;
    if (isGap && !isBroken && oldest !== undefined)
      report('audit-missing', path, `lines ${end.seq + 1} to ${first - 1} are missing`);
    // After a gap or damage, the `prev` of the first line cannot be checked.
    if (isGap || isBroken) end = { seq: first - 1, prev: '', bytes: 0 };
    oldest ??= first;
    const read = readLines(bytes, end, reached);
    lines += read.lines;
    end = { ...read.end, path };
    const isVouched = read.last === undefined || isVouchedLine(read.last, known);
    isBroken = read.fault !== undefined || !isVouched;
    if (read.fault !== undefined) report('audit-altered', path, read.fault);
    else if (!isVouched)
      report('audit-foreign', path, 'its last line cannot be authenticated: this user did not write it here');
    else keptFrom = Math.max(keptFrom, ...read.rotations);
  }
  if (oldest !== undefined && oldest > keptFrom)
    report('audit-missing', directory, `lines ${keptFrom} to ${oldest - 1} are missing`);
  if (reached !== undefined && reached.records > end.seq && !isBroken)
    report(
      lines === 0 ? 'audit-missing' : 'audit-cut',
      end.path ?? directory,
      `it ends at line ${end.seq}, and reached line ${reached.records}`,
    );
  if (reached === undefined && lines > 0)
    report('audit-foreign', directory, 'how far it reached is unknown: this user did not write it here');
  const isEndSound = !isBroken && (reached === undefined ? lines === 0 : reached.records <= end.seq);
  return { problems, lines, keptFrom, end, isEndSound };
}

interface ReadLines {
  readonly lines: number;
  readonly end: AuditEnd;
  /** Numbers of the oldest kept lines, as recorded by lines of the log itself. */
  readonly rotations: readonly number[];
  readonly last?: string;
  readonly fault?: string;
}

/** An empty `prev` of `before` skips the check of the first line. */
function readLines(
  bytes: Buffer,
  before: { readonly seq: number; readonly prev: string },
  reached: JournalReach | undefined,
): ReadLines {
  const goodBytes = bytes.lastIndexOf(10) + 1;
  const texts = goodBytes === 0 ? [] : bytes.toString('utf8', 0, goodBytes - 1).split('\n');
  const rotations: number[] = [];
  let { seq, prev } = before;
  let last: string | undefined;
  let lines = 0;
  for (const text of texts) {
    const line = Buffer.byteLength(text) > maxAuditLine ? undefined : parseAuditLine(text);
    const digest = sha256Hex(text);
    const fault = whyAltered(line, { seq: seq + 1, prev }, digest, reached);
    if (line === undefined || fault !== undefined)
      return { lines, end: { seq, prev, bytes: goodBytes }, rotations, fault: `line ${seq + 1}: ${fault}` };
    if (line.action === 'rotate') rotations.push(oldestKept(line));
    [seq, prev, last] = [line.seq, digest, text];
    lines += 1;
  }
  return { lines, end: { seq, prev, bytes: goodBytes }, rotations, ...(last === undefined ? {} : { last }) };
}

function whyAltered(
  line: AuditLine | undefined,
  expected: { readonly seq: number; readonly prev: string },
  digest: string,
  reached: JournalReach | undefined,
): string | undefined {
  if (line === undefined) return 'it is no line of an audit log';
  if (line.seq !== expected.seq) return `found number ${line.seq}`;
  if (expected.prev !== '' && line.prev !== expected.prev) return 'the line before it was changed';
  if (reached?.records === line.seq && reached.digest !== digest) return 'another one was written there';
  return undefined;
}

const keptWords = /^lines from (\d+) on are kept$/;

/** Text of the first line of a file about the files before it. */
export function keptSummary(oldest: number): string {
  return `lines from ${oldest} on are kept`;
}

function oldestKept({ redacted_summary: words }: AuditLine): number {
  return Number(keptWords.exec(words)?.[1] ?? 1);
}

/** The name under which the user's witness knows the audit log of a thread. */
export function auditName(threadId: string): string {
  return `audit-${threadId}`;
}

/** Checks the audit log of every thread, also while a session writes it. Removed threads are skipped. KEY_INSECURE. */
export async function checkAudits(
  repository: Pick<Repository, 'commonDir'>,
  witness: Pick<JournalWitness, 'look'>,
): Promise<{ readonly lines: number; readonly problems: readonly AuditProblem[] }> {
  const problems: AuditProblem[] = [];
  let lines = 0;
  for (const threadId of await threadsOf(repository)) {
    // Read first: a session can only append meanwhile.
    const known = await witness.look(auditName(threadId));
    const directory = threadDirectory(repository, threadId);
    const judged = await verifyAudit(directory, await listAuditFiles(directory), known);
    lines += judged.lines;
    problems.push(...judged.problems);
  }
  return { lines, problems };
}

/** No threads if their directory is foreign; the check of threads reports that. */
async function threadsOf(repository: Pick<Repository, 'commonDir'>): Promise<readonly string[]> {
  const { ids } = await listThreadIds(repository).catch((fault: unknown) => {
    if (isWritError(fault, 'STORAGE_PATH_INVALID')) return { ids: [] };
    throw fault;
  });
  return ids;
}
