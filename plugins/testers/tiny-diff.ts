/* Builds patch sets from files in memory, for test cases. */
import { createHash } from 'node:crypto';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { ChangeType, PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import { toBinaryPatch } from '../../readers/diff/binary-sides.ts';
import { quotePath } from '../../readers/diff/read-sections.ts';

/** One file of a test case: its text or bytes on each side, absent where the file is not there. */
export interface CaseFile {
  readonly base?: string | Uint8Array;
  readonly candidate?: string | Uint8Array;
  /** Where the file was at base, when the case renames it. */
  readonly oldPath?: string;
  /** Six octal digits; default `100644`. */
  readonly oldMode?: string;
  readonly newMode?: string;
}

const contextLines = 3;
/** Git looks this far for a NUL byte before it calls a file binary. */
const binaryProbeBytes = 8000;

/**
 * Builds a PatchSet from files in memory, as git would print it with one hunk per file. Unchanged files add no
 * section.
 */
export function toPatchSet(files: Readonly<Record<string, CaseFile>>): PatchSet {
  const sections: Buffer[] = [];
  const changed: PatchFile[] = [];
  let offset = 0;
  for (const path of Object.keys(files).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const made = toSection(path, files[path] ?? {});
    if (made === undefined) continue;
    changed.push({ ...made.file, start: offset, end: offset + made.bytes.length });
    sections.push(made.bytes);
    offset += made.bytes.length;
  }
  const diff = new Uint8Array(new SharedArrayBuffer(offset));
  let at = 0;
  for (const section of sections) {
    diff.set(section, at);
    at += section.length;
  }
  return {
    digest: sha256Hex(diff),
    baseCommit: gitHash('commit', Buffer.from(JSON.stringify(Object.keys(files)))),
    baseTree: treeOf(files, 'base'),
    candidateTree: treeOf(files, 'candidate'),
    format: 'GitDiff',
    files: changed,
    diff,
  };
}

/** Bytes of one side as a rule receives them. */
export function toSideBytes(side: string | Uint8Array): Uint8Array {
  return typeof side === 'string' ? new TextEncoder().encode(side) : side;
}

function toSection(
  path: string,
  file: CaseFile,
): { file: Omit<PatchFile, 'start' | 'end'>; bytes: Buffer } | undefined {
  const base = file.base === undefined ? undefined : Buffer.from(toSideBytes(file.base));
  const candidate = file.candidate === undefined ? undefined : Buffer.from(toSideBytes(file.candidate));
  const oldMode = base && (file.oldMode ?? '100644');
  const newMode = candidate && (file.newMode ?? file.oldMode ?? '100644');
  const changeType = toChangeType(base, candidate, file, oldMode !== newMode);
  if (changeType === undefined) return undefined;
  const oldPath = file.oldPath ?? path;
  const binary = [base, candidate].some((side) => side?.subarray(0, binaryProbeBytes).includes(0));
  const head = [`diff --git ${quotePath(`a/${oldPath}`)} ${quotePath(`b/${path}`)}`];
  if (changeType === 'add') head.push(`new file mode ${newMode}`);
  if (changeType === 'delete') head.push(`deleted file mode ${oldMode}`);
  if (base && candidate && oldMode !== newMode) head.push(`old mode ${oldMode}`, `new mode ${newMode}`);
  if (changeType === 'rename') head.push(`rename from ${quotePath(oldPath)}`, `rename to ${quotePath(path)}`);
  const oldBlob = base && gitHash('blob', base);
  const newBlob = candidate && gitHash('blob', candidate);
  const names = [
    base ? quotePath(`a/${oldPath}`) : '/dev/null',
    candidate ? quotePath(`b/${path}`) : '/dev/null',
  ];
  let added = 0;
  let deleted = 0;
  const parts: Buffer[] = [];
  if (oldBlob !== newBlob) {
    const mode = oldMode === newMode ? ` ${newMode}` : '';
    head.push(`index ${oldBlob ?? '0'.repeat(40)}..${newBlob ?? '0'.repeat(40)}${mode}`);
    const hunk = binary ? undefined : toHunk(toLines(base), toLines(candidate));
    if (binary) parts.push(toBinaryPatch(candidate ?? new Uint8Array(), base));
    if (hunk) {
      head.push(`--- ${named(names[0])}`, `+++ ${named(names[1])}`);
      parts.push(hunk.bytes);
      added = hunk.added;
      deleted = hunk.deleted;
    }
  }
  return {
    file: {
      path,
      ...(oldPath === path ? {} : { oldPath }),
      changeType,
      ...(oldMode ? { oldMode } : {}),
      ...(newMode ? { newMode } : {}),
      ...(oldBlob ? { oldBlob } : {}),
      ...(newBlob ? { newBlob } : {}),
      binary,
      linesAdded: added,
      linesDeleted: deleted,
    },
    bytes: Buffer.concat([Buffer.from(`${head.join('\n')}\n`), ...parts]),
  };
}

function toChangeType(
  base: Buffer | undefined,
  candidate: Buffer | undefined,
  file: CaseFile,
  modeChanged: boolean,
): ChangeType | undefined {
  if (base === undefined) return candidate === undefined ? undefined : 'add';
  if (candidate === undefined) return 'delete';
  if (file.oldPath !== undefined) return 'rename';
  if (!base.equals(candidate)) return 'modify';
  return modeChanged ? 'mode' : undefined;
}

/** Lines with their line feed; the last one may lack it. */
function toLines(bytes: Buffer | undefined): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; bytes !== undefined && start < bytes.length; ) {
    const feed = bytes.indexOf(10, start);
    const end = feed === -1 ? bytes.length : feed + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

/** One hunk from the first to the last line that differs, with context; `undefined` where no line does. */
function toHunk(
  base: Buffer[],
  candidate: Buffer[],
): { bytes: Buffer; added: number; deleted: number } | undefined {
  const shorter = Math.min(base.length, candidate.length);
  let head = 0;
  while (head < shorter && same(base[head], candidate[head])) head++;
  let tail = 0;
  while (tail < shorter - head && same(base[base.length - 1 - tail], candidate[candidate.length - 1 - tail]))
    tail++;
  const removed = base.slice(head, base.length - tail);
  const added = candidate.slice(head, candidate.length - tail);
  if (removed.length === 0 && added.length === 0) return undefined;
  const before = base.slice(Math.max(0, head - contextLines), head);
  const after = base.slice(base.length - tail, base.length - tail + contextLines);
  const range = (lines: number) => {
    const start = head - before.length + (lines === 0 ? 0 : 1);
    return lines === 1 ? `${start}` : `${start},${lines}`;
  };
  const around = before.length + after.length;
  const parts: Buffer[] = [
    Buffer.from(`@@ -${range(removed.length + around)} +${range(added.length + around)} @@\n`),
  ];
  for (const [mark, lines] of [
    [' ', before],
    ['-', removed],
    ['+', added],
    [' ', after],
  ] as const) {
    for (const line of lines) {
      parts.push(Buffer.from(mark), line);
      if (line.at(-1) !== 10) parts.push(Buffer.from('\n\\ No newline at end of file\n'));
    }
  }
  return { bytes: Buffer.concat(parts), added: added.length, deleted: removed.length };
}

function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a !== undefined && b !== undefined && a.equals(b);
}

/** Git ends a name that holds a blank with a tab, so that patch readers find its end. */
function named(name: string | undefined): string {
  return name?.includes(' ') && !name.startsWith('"') ? `${name}\t` : `${name}`;
}

/** Object id as git computes it. */
function gitHash(type: string, bytes: Uint8Array): string {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Stable id of one side; not a tree that git could read. */
function treeOf(files: Readonly<Record<string, CaseFile>>, side: 'base' | 'candidate'): string {
  const entries = Object.entries(files).map(([path, file]) => [
    path,
    Buffer.from(toSideBytes(file[side] ?? '')).toString('hex'),
  ]);
  return gitHash('tree', Buffer.from(JSON.stringify(entries)));
}
