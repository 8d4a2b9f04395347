/* Reads the dependency files of base and candidate. */
import type { RuleInput } from '../../core/interfaces/rule.ts';
import type { DependencyProblem } from '../../readers/packages/apply-manifests.ts';
import { type ReadingCache, readDependencies } from '../../readers/packages/read-dependencies.ts';
import type { FileReading } from '../../readers/packages/reading.ts';

/** Dependency files of base and candidate, changed or not. */
export interface ComparedDependencies {
  readonly base: readonly FileReading[];
  readonly candidate: readonly FileReading[];
  /** Of candidate files; what the base has too is left out, unless its file is part of the change. */
  readonly problems: readonly DependencyProblem[];
  /** Of changed candidate files. */
  readonly notes: readonly DependencyProblem[];
}

/** Reads both sides. A changed file without its content is a problem; an unreadable base file counts as empty. */
export function comparedDependencies(
  { files, patch }: RuleInput,
  isRead: (path: string) => boolean,
): ComparedDependencies {
  const base = new Map<string, Uint8Array>();
  const candidate = new Map<string, Uint8Array>();
  const changed = new Map(patch.files.map((file) => [file.path, file]));
  const missing: DependencyProblem[] = [];
  for (const [path, sides] of Object.entries(files)) {
    if (sides.base) base.set(changed.get(path)?.oldPath ?? path, sides.base);
    if (sides.candidate) candidate.set(path, sides.candidate);
  }
  for (const { path, changeType } of patch.files) {
    if (isRead(path) && changeType !== 'delete' && !candidate.has(path))
      missing.push({ path, reason: 'its content was not given' });
  }
  const cache: ReadingCache = new WeakMap();
  const before = readDependencies(base, cache);
  const after = readDependencies(candidate, cache);
  const known = new Set(before.problems.map(({ path, reason }) => `${path} ${reason}`));
  const isNews = ({ path, reason }: DependencyProblem): boolean =>
    changed.has(path) || !known.has(`${path} ${reason}`);
  return {
    base: before.readings,
    candidate: after.readings,
    problems: [...missing, ...after.problems.filter(isNews)],
    notes: after.notes.filter(({ path }) => changed.has(path)),
  };
}
