/* Scans a diff or whole files piece by piece. */
import { open } from 'node:fs/promises';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import type { FileSides, RuleInput } from '../../core/interfaces/rule-input.ts';
import { evaluateRule } from '../../core/kernel/rules.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { toBinaryPatch } from '../../readers/diff/binary-sides.ts';
import {
  hunkLines,
  maxHunkHeaderBytes,
  quotePath,
  readHunkHeader,
} from '../../readers/diff/read-sections.ts';
import type { SarifFinding } from '../../readers/documents/sarif/build-sarif.ts';
import { cutDiff, type DiffPiece, readFileHeader, type Unscanned } from './cut-diff.ts';

/** One file to scan: its name in findings, and its location. */
export interface FileToScan {
  /** Relative, POSIX. */
  readonly path: string;
  readonly absolute: string;
}

/** A file of which every line counts as added; with its content where it is small enough to be parsed whole. */
export interface FilePiece extends DiffPiece {
  readonly sides: Readonly<Record<string, FileSides>>;
}

const maxWholeBytes = 2 * 1024 * 1024;
const blockBytes = 1024 * 1024;

/**
 * Yields files as additions, in bounded memory: small ones whole, large ones cut between lines. Unreadable parts are
 * reported.
 */
export async function* filesAsPieces(
  files: Iterable<FileToScan>,
  onUnscanned: (unscanned: Unscanned) => void,
): AsyncGenerator<FilePiece> {
  for (const file of files) {
    try {
      yield* pieces(file, onUnscanned);
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException;
      if (code === undefined) throw fault;
      onUnscanned({ path: file.path, reason: `it cannot be read (${code})` });
    }
  }
}

async function* pieces(
  { path, absolute }: FileToScan,
  onUnscanned: (unscanned: Unscanned) => void,
): AsyncGenerator<FilePiece> {
  await using handle = await open(absolute, 'r');
  const { size } = await handle.stat();
  if (size === 0) return;
  const isWhole = size <= maxWholeBytes;
  const content = isWhole ? await handle.readFile() : undefined;
  const isBinary = content?.subarray(0, 8000).includes(0) === true;
  const blocks = content
    ? [content]
    : handle.createReadStream({ highWaterMark: blockBytes, autoClose: false });
  const added = quotePath(`b/${path}`);
  const header = `diff --git ${quotePath(`a/${path}`)} ${added}\nnew file mode 100644\n`;
  async function* source(): AsyncGenerator<Uint8Array> {
    if (content && isBinary) yield Buffer.concat([Buffer.from(header), toBinaryPatch(content)]);
    else {
      yield Buffer.from(`${header}--- /dev/null\n+++ ${added}\n@@ -0,0 +1,${2 ** 40} @@\n`);
      yield* asAdded(blocks);
    }
  }
  const sides = content ? { [path]: { candidate: content } } : {};
  // The one hunk of a file never ends before the file does.
  for await (const piece of cutDiff(source(), { onUnscanned })) yield { ...piece, isCut: true, sides };
}

/** Every line with a `+` before it. */
async function* asAdded(
  blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isLineStart = true;
  for await (const block of blocks) {
    const parts: Uint8Array[] = [];
    for (let at = 0; at < block.length; ) {
      const feed = block.indexOf(10, at);
      const end = feed < 0 ? block.length : feed + 1;
      if (isLineStart) parts.push(plusSign);
      parts.push(block.subarray(at, end));
      isLineStart = feed >= 0;
      at = end;
    }
    yield Buffer.concat(parts);
  }
  if (!isLineStart) yield Buffer.from('\n');
}

const plusSign = Buffer.from('+');

interface ScanRequest {
  /** The spec that the rules evaluate. */
  readonly spec: RuleInput['spec'];
  readonly rules: readonly Rule[];
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly pool: WorkerPool;
  readonly signal: AbortSignal;
  /**
   * Whole files that a rule may read, where the scan knows them. A piece that does not name its files then holds each
   * of them whole.
   */
  readonly filesFor?: (piece: DiffPiece, rule: Rule) => Promise<Readonly<Record<string, FileSides>>>;
  readonly onPiece?: (done: ScanTotals) => void;
}

interface ScanTotals {
  readonly files: number;
  /** Added lines. */
  readonly lines: number;
  readonly bytes: number;
}

export interface ScanResult extends ScanTotals {
  /** In the order of the diff, then of the rules. */
  readonly findings: readonly ScannedFinding[];
}

/** Maximum number of listed findings. One additional finding counts the rest. */
const maxFindings = 10_000;

/**
 * Runs the rules on pieces of a diff, in parallel on all threads of the pool. At most that many pieces are in memory.
 */
export async function scanPieces(
  pieces: AsyncIterable<DiffPiece>,
  request: ScanRequest,
): Promise<ScanResult> {
  const { pool, signal, onPiece } = request;
  const inTurn = oneAtATime();
  const results: (readonly ScannedFinding[])[] = [];
  const running = new Set<Promise<void>>();
  const totals = { files: 0, lines: 0, bytes: 0 };
  let kept = 0;
  let dropped = 0;
  let index = 0;
  for await (const piece of pieces) {
    signal.throwIfAborted();
    const at = index++;
    const judged = judgePiece(piece, request, inTurn).then(({ findings, files, lines }) => {
      const room = Math.max(0, maxFindings - kept);
      results[at] = findings.slice(0, room);
      kept += Math.min(room, findings.length);
      dropped += findings.length - Math.min(room, findings.length);
      // The rest of a cut file is not another file.
      totals.files += files - (piece.isRest ? 1 : 0);
      totals.lines += lines;
      totals.bytes += piece.diff.length;
      onPiece?.({ ...totals });
    });
    const tracked = judged.finally(() => {
      running.delete(tracked);
      piece.release?.();
    });
    running.add(tracked);
    // Awaited below in any case; an early fault must not be an unhandled one.
    tracked.catch(() => {});
    if (running.size > pool.threads) await Promise.race(running);
  }
  await Promise.all(running);
  const findings: ScannedFinding[] = results.flat();
  if (dropped > 0) findings.push(tooMany(dropped));
  return { findings, ...totals };
}

/** The syntax tree of a larger file uses so much memory that such files are parsed one at a time. */
const largeBytes = 128 * 1024;

/** Works that are given to it run one after the other. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}

const nowhere = {
  digest: '',
  baseCommit: undefined,
  baseTree: '',
  candidateTree: '',
  format: 'GitDiff',
} as const;

/** A change without files, for a rule that evaluates artifacts. */
export const emptyPatch: PatchSet = { ...nowhere, files: [], diff: new Uint8Array(new SharedArrayBuffer(0)) };

async function judgePiece(
  piece: DiffPiece,
  { spec, rules, ruleOptions, pool, signal, filesFor }: ScanRequest,
  inTurn: ReturnType<typeof oneAtATime>,
): Promise<{ findings: readonly ScannedFinding[]; files: number; lines: number }> {
  const { release, isRest, isCut = false, files: known, ...rest } = piece;
  const { files, addedLines, unread } = readPiece(piece.diff, known, isCut);
  const hasLarge = files.some(({ start, end }) => end - start > largeBytes);
  const ask = async (rule: Rule): Promise<readonly Finding[]> => {
    const input: RuleInput = {
      spec,
      // A piece that is a whole PatchSet keeps its trees.
      patch: { ...nowhere, ...rest, files },
      scope: { write: [], forbidden: [], wholeRepository: true },
      artifacts: [],
      args: [],
      files: (await filesFor?.(piece, rule)) ?? {},
      options: ruleOptions[rule.id] ?? {},
    };
    const judge = (): Promise<readonly Finding[]> => evaluateRule(rule, input, pool, signal);
    return hasLarge ? inTurn(judge) : judge();
  };
  const found = await Promise.all(rules.map(ask));
  const findings = [...unread.map(toUnread), ...found.flat()];
  return {
    findings: showAround(findings, piece.diff, files, rules),
    files: files.length,
    lines: addedLines,
  };
}

/** A skipped part must not count as passed. */
function toUnread({ path, reason }: Unscanned): Finding {
  const message = `this part of the diff cannot be read to its end: ${reason}`;
  return { rule: 'scan', severity: 'error', message, ...(path === '' ? {} : { path }), detail: { reason } };
}

function tooMany(dropped: number): Finding {
  return {
    rule: 'scan',
    severity: 'error',
    message: `${dropped} more findings are not listed: the scan keeps ${maxFindings}`,
  };
}

const reach = 2;
const maxTextBytes = 400;

/** Adds the lines around each finding of these rules, read from the diff in one walk per file that has any. */
export function showAround(
  findings: readonly Finding[],
  diff: Uint8Array,
  files: readonly PatchFile[],
  rules: readonly Pick<Rule, 'id' | 'findsSecrets'>[],
): readonly ScannedFinding[] {
  const ofSecrets = new Set(rules.filter(({ findsSecrets }) => findsSecrets).map(({ id }) => id));
  const hidden = secretColumns(findings.filter(({ rule }) => ofSecrets.has(rule)));
  const byPath = new Map(files.map((file) => [file.path, file]));
  const around = new Map<string, Map<number, NonNullable<ScannedFinding['around']>[number]>>();
  for (const [path, wanted] of wantedLines(findings)) {
    const file = byPath.get(path);
    if (!file) continue;
    const found = new Map<number, NonNullable<ScannedFinding['around']>[number]>();
    for (const { kind, line, start, end } of hunkLines(diff, file)) {
      if (kind === 'removed' || !wanted.has(line)) continue;
      const whole = Buffer.from(diff.buffer, diff.byteOffset).toString(
        'utf8',
        start,
        Math.min(end, start + maxTextBytes),
      );
      const column = hidden.get(path)?.get(line);
      const text = column === undefined ? whole.replace(/\r$/, '') : `${whole.slice(0, column - 1)}[…]`;
      found.set(line, { line, text, added: kind === 'added' });
    }
    around.set(path, found);
  }
  return findings.map((finding) => {
    const found = finding.path === undefined ? undefined : around.get(finding.path);
    if (!found || finding.line === undefined) return finding;
    // What follows a secret may be the rest of it.
    const shown = ofSecrets.has(finding.rule) ? [finding.line] : near(finding.line);
    const lines = shown.flatMap((line) => found.get(line) ?? []);
    return lines.length === 0 ? finding : { ...finding, around: lines };
  });
}

/** First column of each secret that was found, by path and line: no frame shows what a rule refused as one. */
function secretColumns(findings: readonly Finding[]): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const columns = new Map<string, Map<number, number>>();
  for (const { path, line, column = 1 } of findings) {
    if (path === undefined || line === undefined) continue;
    const lines = columns.get(path) ?? new Map<number, number>();
    lines.set(line, Math.min(column, lines.get(line) ?? column));
    columns.set(path, lines);
  }
  return columns;
}

function wantedLines(findings: readonly Finding[]): ReadonlyMap<string, ReadonlySet<number>> {
  const wanted = new Map<string, Set<number>>();
  for (const { path, line } of findings) {
    if (path === undefined || line === undefined) continue;
    const lines = wanted.get(path) ?? new Set();
    for (const one of near(line)) lines.add(one);
    wanted.set(path, lines);
  }
  return wanted;
}

function near(line: number): readonly number[] {
  return Array.from({ length: 2 * reach + 1 }, (_, index) => line - reach + index);
}

/** A finding with the lines around it, for a code frame and for a fingerprint that survives moved lines. */
export interface ScannedFinding extends Finding {
  /** Lines of the candidate around `line`, in order; lines far from any change are not known. */
  readonly around?: readonly { readonly line: number; readonly text: string; readonly added: boolean }[];
}

/** Findings with the text of their own line where it is known, which makes their fingerprints survive moved lines. */
export function withLineText(findings: readonly ScannedFinding[]): readonly SarifFinding[] {
  return findings.map(({ around, ...finding }) => {
    const lineText = around?.find(({ line }) => line === finding.line)?.text;
    return lineText === undefined ? finding : { ...finding, lineText };
  });
}

/** What a piece of a diff holds. */
interface ReadPiece {
  readonly files: readonly PatchFile[];
  readonly addedLines: number;
  /** Parts of a third-party diff that no reader of hunks sees. */
  readonly unread: readonly Unscanned[];
}

const gitHeader = Buffer.from('\ndiff --git ');
const [feed, plus, minus, space, backslash] = [10, 43, 45, 32, 92];
/** `git format-patch` ends a mail with it. */
const signature = '-- ';

/**
 * Reads every line of a piece once. Files that are not `known` are read from its headers, and then what no reader of
 * hunks sees is reported; `isCut`: the last file goes on in another piece.
 */
export function readPiece(
  diff: Uint8Array,
  known: readonly PatchFile[] | undefined,
  isCut: boolean,
): ReadPiece {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const files = known ?? readFiles(diff);
  const unread: Unscanned[] = [];
  let addedLines = 0;
  for (const [index, file] of files.entries()) {
    const section = file.binary ? 0 : readSection(bytes, file, isCut && index === files.length - 1);
    addedLines += typeof section === 'number' ? section : countAdded(diff, file);
    const reason = nameFault(file) ?? (typeof section === 'string' ? section : undefined);
    if (known === undefined && reason !== undefined) unread.push({ path: file.path, reason });
  }
  return { files, addedLines, unread };
}

/** Returns the files of a diff that begins with a file header, read from all headers. */
export function readFiles(diff: Uint8Array): readonly PatchFile[] {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const files: PatchFile[] = [];
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(gitHeader, start);
    const end = next < 0 ? bytes.length : next + 1;
    files.push(readFileHeader(bytes, start, end));
    start = end;
  }
  return files;
}

function countAdded(diff: Uint8Array, file: PatchFile): number {
  let count = 0;
  for (const { kind } of hunkLines(diff, file)) if (kind === 'added') count += 1;
  return count;
}

function nameFault({ path }: PatchFile): string | undefined {
  if (path === '') return 'its header names no file';
  return path.startsWith('"') || /[\r\n]/.test(path) ? 'the name in its header cannot be read' : undefined;
}

/**
 * Where a line is: in the header, in a hunk, right behind one that is full, or in what is written between two files.
 */
type Place = 'header' | 'hunk' | 'behind' | 'prose';

/**
 * Counts the lines that a file's section adds. Returns a reason instead if the section holds text that hunk readers
 * skip but that may be a change: colours, combined and foreign diffs, hunks with another length than their header
 * states, contradictory headers. A scan that skips such a part is incomplete.
 */
function readSection(
  bytes: Buffer,
  { start, end, changeType }: PatchFile,
  mayGoOn: boolean,
): number | string {
  let place: Place = 'header';
  let namesSide = false;
  let added = 0;
  let [oldLeft, newLeft] = [0, 0];
  for (let line = start, stop = start; line < end; line = stop + 1) {
    stop = line;
    while (stop < end && bytes[stop] !== feed) stop += 1;
    if (place === 'hunk') {
      const mark = bytes[line];
      if (mark === backslash) continue;
      if (mark === plus) {
        if (changeType === 'delete') return 'it is deleted, and has added lines';
        added += 1;
        newLeft -= 1;
      } else if (mark === minus) oldLeft -= 1;
      else if (mark === space || line === stop) [oldLeft, newLeft] = [oldLeft - 1, newLeft - 1];
      else return 'a line of a hunk begins with neither `+`, `-` nor a blank';
      if (oldLeft <= 0 && newLeft <= 0) place = 'behind';
      continue;
    }
    const text = bytes.toString('latin1', line, Math.min(stop, line + maxHunkHeaderBytes));
    if (line === start || text.startsWith('\\')) continue;
    if (text.startsWith('\u001b')) return 'it is coloured: make it with `--no-color`';
    if (/^diff --(?:cc|combined) /.test(text) || text.startsWith('@@@'))
      return 'a combined diff of a merge is not read: compare with one parent';
    if (text.startsWith('@@')) {
      const header = readHunkHeader(bytes, line, stop);
      if (!header) return 'a hunk header cannot be read';
      if (place === 'prose')
        return 'a hunk is apart from the header of its file: a diff without `diff --git`';
      [oldLeft, newLeft] = [header.oldCount, header.newCount];
      place = oldLeft > 0 || newLeft > 0 ? 'hunk' : 'behind';
    } else if (place === 'header') {
      if (text.startsWith('+++ ')) namesSide = true;
      else if (text.startsWith('+')) return 'an added line is before any hunk';
    } else if (place === 'behind') {
      if (text.startsWith('+')) return 'an added line is after a hunk that is full';
      if (!text.startsWith('-') || text === signature) place = 'prose';
    }
  }
  if (place === 'hunk' && !mayGoOn) return 'its last hunk has fewer lines than its header says';
  return place === 'header' && namesSide ? 'it names two sides and has no hunk' : added;
}
