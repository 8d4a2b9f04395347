/* Reads the report files of a check, and the files that a rule declares. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readPlain } from '../../core/base/files.ts';
import { compileGlob } from '../../core/base/glob.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import type { FileSides } from '../../core/interfaces/rule-input.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { entriesOf } from '../../workspace/process/workspace-file.ts';

/**
 * Most files, and most bytes over all files, that are read out of one `$REPORTS_DIR`; most entries of any kind that are
 * looked at.
 */
export const reportLimits = { files: 256, bytes: 64 * 1024 * 1024, entries: 4096 };

interface ReadReports {
  readonly files: readonly ReportFile[];
  /** Names of entries that are not regular files: the first `reportLimits.files` of those examined, in name order. */
  readonly unread: readonly string[];
  /** Reports that were not read, and why. A check with reports above the limits has failed. */
  readonly findings: readonly Finding[];
}

/**
 * Reads what a check left at the top of its reports directory, in name order. Symlinks, devices and pipes are never
 * opened: the check may have put them there to have us read something of the person's. A file that was last written
 * before `since`, by the clock of the same file system in nanoseconds, is marked as stale.
 */
export function readReports(directory: string, since: bigint): ReadReports {
  const { names, others, excess } = listReports(directory);
  const unread = others.slice(0, reportLimits.files);
  if (excess !== undefined) return { files: [], unread, findings: [excess] };
  const files: ReportFile[] = [];
  let left = reportLimits.bytes;
  for (const name of names) {
    const path = join(directory, name);
    const { bytes, fault } = readPlain(path, left);
    if (fault?.code === 'EFBIG')
      return {
        files,
        unread,
        findings: [
          tooMuch(
            `\`${JSON.stringify(name).slice(1, -1).slice(0, 200)}\` and others, more`,
            reportLimits.bytes,
            'bytes',
          ),
        ],
      };
    if (bytes === undefined) {
      unread.push(name);
      continue;
    }
    left -= bytes.length;
    const isStale = lstatSync(path, { bigint: true }).mtimeNs < since;
    files.push({ name, bytes, ...(isStale ? { isStale } : {}) });
  }
  return { files, unread, findings: [] };
}

/** Looks at the directory entry by entry and stops at the limit: a check may leave more than fits into memory. */
function listReports(directory: string): {
  readonly names: readonly string[];
  readonly others: readonly string[];
  readonly excess?: Finding;
} {
  const names: string[] = [];
  const others: string[] = [];
  const listed = (excess?: Finding) => {
    for (const list of [names, others]) list.sort();
    return { names, others, ...(excess === undefined ? {} : { excess }) };
  };
  for (const entry of entriesOf(directory)) {
    (entry.isFile() ? names : others).push(entry.name.toString('utf8'));
    const { files, entries } = reportLimits;
    // Leaving the loop closes the directory.
    if (names.length > files) return listed(tooMuch('more report files', files, 'files'));
    if (names.length + others.length > entries) return listed(tooMuch('more entries', entries, 'entries'));
  }
  return listed();
}

function tooMuch(found: string, limit: number, unit: 'files' | 'bytes' | 'entries'): Finding {
  return {
    rule: 'check-outcome',
    severity: 'error',
    message: `the reports directory holds ${found} than the ${limit} ${unit} that are read`,
    detail: { code: 'REPORT_UNREADABLE', reason: 'too-large', limit, unit },
  };
}

/** Byte limit for the files passed to one rule; above it, the rule refuses. */
const maxFileBytes = 256 * 1024 * 1024;

/**
 * Returns the content of the files that a rule declares, at base and candidate. Empty if no changed file is among
 * them. Throws INPUT_TOO_LARGE.
 */
export async function readRuleFiles(
  objects: GitDirectory,
  patch: PatchSet,
  rule: Pick<Rule, 'reads' | 'readsUnchanged'>,
): Promise<Record<string, FileSides>> {
  const isRead = pathMatcher(rule.reads ?? []);
  const wanted = patch.files.filter(
    ({ path, oldPath }) => isRead(path) || (oldPath !== undefined && isRead(oldPath)),
  );
  if (wanted.length === 0) return {};
  const unchanged = rule.readsUnchanged ? await listUnchanged(objects, patch, isRead) : [];
  const [base, candidate] = await Promise.all([
    readBlobs(
      objects,
      patch.baseTree,
      wanted.map((file) => file.oldPath ?? file.path),
      maxFileBytes,
    ),
    readBlobs(objects, patch.candidateTree, [...wanted.map(({ path }) => path), ...unchanged], maxFileBytes),
  ]);
  const sides = (file: PatchFile): FileSides =>
    toSides(base.get(file.oldPath ?? file.path), candidate.get(file.path));
  return Object.fromEntries([
    ...wanted.map((file) => [file.path, sides(file)] as const),
    ...unchanged.map((path) => [path, toSides(candidate.get(path), candidate.get(path))] as const),
  ]);
}

async function listUnchanged(
  objects: GitDirectory,
  patch: PatchSet,
  isRead: (path: string) => boolean,
): Promise<readonly string[]> {
  const changed = new Set(patch.files.map(({ path }) => path));
  const tree = await listTree(objects, patch.candidateTree);
  return tree
    .filter(({ path, mode }) => mode.startsWith('100') && !changed.has(path) && isRead(path))
    .map(({ path }) => path);
}

/** The matcher runs over a whole tree, so a pattern that names one file is looked up, not matched. */
function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const names = new Set<string>();
  const globs = patterns.flatMap((pattern) => {
    const name = /^\*\*\/([\w.-]+)$/.exec(pattern)?.[1];
    if (name === undefined) return [compileGlob(pattern)];
    names.add(name);
    return [];
  });
  return (path) =>
    names.has(path.slice(path.lastIndexOf('/') + 1)) || globs.some((glob) => glob.matches(path));
}

function toSides(base: Buffer | undefined, candidate: Buffer | undefined): FileSides {
  return { ...(base ? { base } : {}), ...(candidate ? { candidate } : {}) };
}
