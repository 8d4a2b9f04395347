/* Finds what a check wrote outside the write scope. */
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { compileGlob } from '../../core/base/glob.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { WrittenOutside } from '../../core/interfaces/stage.ts';
import { fileKind } from '../../readers/packages/file-kind.ts';
import { inScope } from '../../spec/scope-verdict.ts';
import { entriesOf } from '../../workspace/process/workspace-file.ts';

/** The directory in which a command ran, and its contents before that. */
export interface WrittenPlace {
  readonly directory: string;
  /** Every path of the tree that was exported to it. */
  readonly tracked: ReadonlySet<string>;
  /** Directories and files that were placed in it; they are reported elsewhere. */
  readonly laid: readonly string[];
}

export interface WrittenLimits {
  /** Entries that are looked at beside those of the tree; beyond it the count is a lower bound. */
  readonly entries: number;
  readonly named: number;
  readonly pathCharacters: number;
}

/** Entries between two yields to the event loop. */
const entriesInARow = 2000;

export const writtenLimits: WrittenLimits = { entries: 200_000, named: 20, pathCharacters: 1024 };

/**
 * Returns a command's writes outside the write scope: files, links and other entries that the tree lacks, and tracked
 * files that are `changed`. It follows and opens no entry, and ignores empty directories, as git does. Returns
 * `undefined` if there are none.
 */
export async function writtenOutside(
  { directory, tracked, laid }: WrittenPlace,
  changed: readonly string[],
  scope: Scope,
  limits = writtenLimits,
): Promise<WrittenOutside | undefined> {
  // Every path may be written, so the search is skipped.
  if (scope.wholeRepository && scope.forbidden.length === 0) return undefined;
  const first = new FirstPaths(limits);
  for (const path of changed) if (!inScope(scope, path)) first.add({ path, was: 'changed' });
  const passed = new Set(['.git', ...laid]);
  const pending = [''];
  let left = limits.entries;
  let isComplete = true;
  for (let at = pending.pop(); at !== undefined && left >= 0; at = pending.pop()) {
    let listing: Iterable<Dirent<Buffer>> = [];
    try {
      listing = entriesOf(join(directory, at));
    } catch {
      // A check may have removed the read permission of directories that it created.
      isComplete = false;
    }
    for (const entry of listing) {
      const name = entry.name.toString('utf8');
      const path = at === '' ? name : `${at}/${name}`;
      if (tracked.has(path) || passed.has(path)) continue;
      left -= 1;
      if (left < 0) break;
      if (left % entriesInARow === 0) await setImmediate();
      if (entry.isDirectory()) pending.push(path);
      else if (!inScope(scope, path)) first.add({ path, was: 'added' });
    }
  }
  const { count, paths } = first;
  if (count === 0) return undefined;
  return { count, ...(left < 0 || !isComplete ? { atLeast: true } : {}), paths };
}

/** All that a command wrote, as a signed result lists it. */
export async function allWritten(
  place: WrittenPlace,
  changed: readonly string[],
): Promise<{ readonly written: readonly Written[]; readonly isCut: boolean }> {
  const scope = { write: [], forbidden: [], wholeRepository: false };
  const limits = { ...writtenLimits, named: 2000, pathCharacters: 4000 };
  const found = await writtenOutside(place, changed, scope, limits);
  const { paths = [], count = 0, atLeast = false } = found ?? {};
  return { written: paths, isCut: atLeast || count > paths.length };
}

type Written = WrittenOutside['paths'][number];

/** Counts paths and keeps the first in their own order, whatever order they come in. */
class FirstPaths {
  readonly #limits: WrittenLimits;
  readonly #kept: Written[] = [];
  count = 0;

  constructor(limits: WrittenLimits) {
    this.#limits = limits;
  }

  add(one: Written): void {
    this.count += 1;
    const { named } = this.#limits;
    const last = this.#kept.at(-1);
    if (this.#kept.length >= named && last !== undefined && one.path >= last.path) return;
    const at = this.#kept.findIndex(({ path }) => one.path < path);
    this.#kept.splice(at < 0 ? this.#kept.length : at, 0, one);
    this.#kept.splice(named);
  }

  get paths(): readonly Written[] {
    const most = this.#limits.pathCharacters;
    return this.#kept.map(({ path, was }) => ({
      path: path.length > most ? `${path.slice(0, most).toWellFormed()}…` : path,
      was,
    }));
  }
}

const maxNamed = 20;

/**
 * Returns findings about a check that changed tracked files: it may have checked content that is never committed.
 * Paths in `[workspace] rewrites` are ignored. A changed lockfile is only a warning, because package managers
 * reformat it. Pure.
 */
export function rewrittenFindings(
  changed: readonly string[],
  rewrites: readonly string[],
): readonly Finding[] {
  const allowed = rewrites.map(compileGlob);
  const others = changed.filter((path) => !allowed.some((glob) => glob.matches(path)));
  const isLockfile = (path: string): boolean => fileKind(path)?.role === 'lockfile';
  const lockfiles = others.filter(isLockfile);
  const files = others.filter((path) => !isLockfile(path));
  return [
    ...(files.length > 0 ? [finding('error', files)] : []),
    ...(lockfiles.length > 0 ? [finding('warning', lockfiles)] : []),
  ];
}

function finding(severity: Finding['severity'], paths: readonly string[]): Finding {
  const named = paths.slice(0, maxNamed);
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : '';
  const said = named.map((path) => `\`${path}\``).join(', ');
  return {
    rule: 'check-outcome',
    severity,
    message: `expected tracked files to be what they were when it started, found others at ${said}${more}: it may have tested other content than what is committed; a check that writes them on purpose needs them in \`[workspace] rewrites\``,
    detail: { code: 'CHECK_REWROTE', paths: named, count: paths.length },
  };
}
