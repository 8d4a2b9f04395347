import { sha256Hex } from '../../core/base/digest.ts';
import { isVouchedLine, type JournalReach, type KnownJournal } from '../../store/journal-witness.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import type { Found, ProblemCode } from '../../store/problem.ts';
import { type AuditFile, readAuditFile } from './audit-files.ts';
import { type AuditLine, maxAuditLine, parseAuditLine } from './audit-line.ts';

/** One thing that is wrong with an audit log. */
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
export interface JudgedAudit {
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
 * Reads a log from its oldest file to its newest: every line in its place, its chain whole, its last line vouched for,
 * and as long as it was when it was last written here. Lines before the oldest file may be gone where a later line of
 * the log itself says so. A last line without an end is how a kill looks and is no damage.
 */
export async function judgeAudit(
  directory: string,
  files: readonly AuditFile[],
  known: KnownJournal,
): Promise<JudgedAudit> {
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
    // Behind damage the first line is taken at its word: what it says of the line before is about another one.
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
  /** Numbers of the oldest lines that were kept, as lines of the log's own say. */
  readonly rotations: readonly number[];
  readonly last?: string;
  readonly fault?: string;
}

/** `prev` of `before` is empty where what came before is not there: the first line is taken at its word. */
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

/** What the first line of a file says of the files before it. */
export function keptSummary(oldest: number): string {
  return `lines from ${oldest} on are kept`;
}

function oldestKept({ redacted_summary: words }: AuditLine): number {
  return Number(keptWords.exec(words)?.[1] ?? 1);
}
