/* Divides the objectives of a spec into parts of work. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import { inScope } from '../../spec/scope-verdict.ts';
import {
  hintPattern,
  type PredictWrites,
  parseWritePattern,
  patternsMeet,
  type WritePattern,
} from './predicted-writes.ts';

/** One piece of work: which objectives (by index, rising), and what it is expected to write (`undefined` = unknown). */
export interface WorkPart {
  readonly objectives: readonly number[];
  readonly writes: readonly string[] | undefined;
}

/** The tree that the plan starts from, as far as it is known. */
export interface PlanEnvironment {
  /** Names at the root of the base tree (for a monorepo: at the locator); they distinguish directories from words. */
  readonly rootNames?: ReadonlySet<string>;
  /** Every tracked path. */
  readonly tracked?: readonly string[];
  readonly imports?: Imports;
}

type DecompositionMode = EffectiveIntentSpec['objmodel']['planGeneration']['decompositionMode'];

/** What is cut into parts, and how. */
interface WorkToCut {
  readonly objectives: readonly string[];
  readonly mode: DecompositionMode;
  /** `touchHints.files`. */
  readonly hints: readonly string[];
  readonly root: string;
  readonly scope: Scope;
  readonly predict: PredictWrites;
  readonly environment: PlanEnvironment;
}

const maxSteps = 200_000;

/**
 * Cuts the objectives into parts of work (objmodel.planGeneration.decompositionMode); every objective is in at least
 * one.
 */
export function decompose(work: WorkToCut): readonly WorkPart[] {
  const { objectives, mode, predict } = work;
  if (mode === 'per-objective')
    return objectives.map((objective, index) => ({ objectives: [index], writes: predict(objective) }));
  return (mode === 'per-file-cluster' ? perCluster(work) : undefined) ?? [wholeOf(work)];
}

function wholeOf({ objectives, predict }: WorkToCut): WorkPart {
  const writes = objectives.map(predict);
  return {
    objectives: objectives.map((_, index) => index),
    writes: writes.includes(undefined) ? undefined : unique(writes.flatMap((paths) => paths ?? [])),
  };
}

/**
 * Divides the work by files. An objective is a step of every cluster with a file that it names, or of every cluster
 * if it names no path. An objective that names only other paths (a file to be created) becomes a separate part. A
 * cluster without a step has no success condition and is dropped. Returns `undefined` if fewer than two clusters are
 * known (no hint matches, or imports are unknown), or above 200,000 steps.
 */
function perCluster({
  objectives,
  hints,
  root,
  scope,
  predict,
  environment,
}: WorkToCut): readonly WorkPart[] | undefined {
  const { tracked, imports } = environment;
  if (tracked === undefined || imports === undefined) return undefined;
  const files = hintedFiles(hints, tracked, root).filter((path) => inScope(scope, path));
  const clusters = fileClusters(files, imports);
  if (clusters.length < 2) return undefined;
  const clusterOf = clusterFinder(clusters);
  let steps = 0;
  const parts = clusters.map((files) => ({ objectives: [] as number[], writes: new Set(files) }));
  const others: WorkPart[] = [];
  for (const [index, objective] of objectives.entries()) {
    const named = (predict(objective) ?? []).map((path) => ({ path, clusters: clusterOf(path) }));
    const outside = named.filter((one) => one.clusters.length === 0).map(({ path }) => path);
    const meant = new Set(named.flatMap((one) => one.clusters));
    if (meant.size === 0 && outside.length > 0) {
      others.push({ objectives: [index], writes: outside });
      continue;
    }
    steps += meant.size || parts.length;
    if (steps > maxSteps) return undefined;
    for (const at of meant.size === 0 ? parts.keys() : meant) {
      parts[at]?.objectives.push(index);
      for (const path of outside) parts[at]?.writes.add(path);
    }
  }
  return [
    ...parts
      .filter((part) => part.objectives.length > 0)
      .map((part) => ({ objectives: part.objectives, writes: [...part.writes] })),
    ...others,
  ];
}

/** Returns the clusters with a file that a pattern matches, in ascending order. */
function clusterFinder(clusters: readonly (readonly string[])[]): (text: string) => readonly number[] {
  const byPlace = new Map<string, Set<number>>();
  for (const [at, files] of clusters.entries()) {
    for (const path of files) {
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
        const place = path.slice(0, end);
        const known = byPlace.get(place);
        if (known) known.add(at);
        else byPlace.set(place, new Set([at]));
      }
    }
  }
  const search = (pattern: WritePattern): readonly number[] => {
    const start = pattern.directory.join('/');
    const isMeant = (path: string): boolean =>
      path.startsWith(start) && patternsMeet(pattern, parseWritePattern(path));
    return [...clusters.keys()].filter((at) => clusters[at]?.some(isMeant));
  };
  return (text) => {
    const pattern = parseWritePattern(text);
    return pattern.isPlain ? [...(byPlace.get(pattern.directory.join('/')) ?? [])] : search(pattern);
  };
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}

/** Importing path → imported paths of one tree. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the tracked files that `touchHints.files` matches, sorted. Patterns of a monorepo are relative to `root`. */
export function hintedFiles(
  hints: readonly string[],
  tracked: readonly string[],
  root: string,
): readonly string[] {
  const patterns = hints.flatMap((hint) => hintPattern(hint, root) ?? []);
  return tracked.filter((path) => patterns.some((matches) => matches(path))).sort();
}

/**
 * Groups files that import each other, directly or through other files of the list. Each cluster is sorted, and
 * clusters are ordered by their first file. Files outside the list do not connect clusters: a file that every file
 * imports would join them all.
 */
export function fileClusters(files: readonly string[], imports: Imports): readonly (readonly string[])[] {
  const sorted = [...new Set(files)].sort();
  const places = new Map(sorted.map((path, at) => [path, at]));
  const sets = disjointSets(sorted.length);
  for (const [at, path] of sorted.entries()) {
    for (const target of imports.get(path) ?? []) {
      const other = places.get(target);
      if (other !== undefined) sets.join(at, other);
    }
  }
  const clusters = new Map<number, string[]>();
  for (const [at, path] of sorted.entries()) {
    const first = sets.of(at);
    const known = clusters.get(first);
    if (known) known.push(path);
    else clusters.set(first, [path]);
  }
  return [...clusters.values()];
}

/** Sets of the numbers below `size` that grow together; near-constant time per step. */
interface DisjointSets {
  join(a: number, b: number): void;
  /** Returns the representative of the set: its lowest member. */
  of(member: number): number;
}

export function disjointSets(size: number): DisjointSets {
  const above = Int32Array.from({ length: size }, (_, index) => index);
  const find = (member: number): number => {
    let at = member;
    for (let next = above[at] ?? at; next !== at; next = above[at] ?? at) {
      const beyond = above[next] ?? next;
      above[at] = beyond;
      at = beyond;
    }
    return at;
  };
  return {
    of: find,
    join(a, b) {
      const [low, high] = [find(a), find(b)].sort((x, y) => x - y) as [number, number];
      above[high] = low;
    },
  };
}
