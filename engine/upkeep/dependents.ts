/* Finds the runs, decisions and commits that depend on a damaged place in the store. */
import { type GitDirectory, maxListBytes, runGit } from '../../workspace/git/git.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { RefFiles } from './check-record.ts';
import { type StoredRef, toStoredRef, travels } from './stored-ref.ts';

export interface Dependents {
  ofRef(ref: string): readonly string[];
  ofRun(runId: string): readonly string[];
  ofLogIndex(index: number): readonly string[];
  /** Every run with a log entry at `index` or later. */
  ofLog(index?: number): readonly string[];
}

interface KnownRun {
  readonly id: string;
  readonly decision: string | undefined;
  readonly commit: string | undefined;
  readonly plans: ReadonlySet<string>;
  readonly specId: string | undefined;
  readonly logIndex: number | undefined;
}

/** `commits`: commits that name a run in their trailers, for runs with an unreadable decision. */
export function findDependents(
  runs: readonly { readonly ref: StoredRef; readonly files: RefFiles }[],
  commits: ReadonlyMap<string, readonly string[]>,
): Dependents {
  const known = runs.map(({ ref, files }): KnownRun => {
    const decision = (files.get('rollback.json') ?? files.get('decision.json'))?.object;
    const plans = [...files].flatMap(([path, { object }]) =>
      object?.type === 'plan' && path.endsWith('plan.json') ? [encodeId(object.id)] : [],
    );
    const named = files.get('run.json')?.object?.names.find(([field]) => field === 'plan')?.[1];
    const specId = files.get('intent.json')?.object?.specId;
    return {
      id: ref.id,
      decision: decision?.id,
      commit: decision?.commit,
      plans: new Set([...plans, ...(named === undefined ? [] : [encodeId(named)])]),
      specId: specId === undefined ? undefined : encodeId(specId),
      logIndex: files.get('transparency-proof.tlog-proof')?.logIndex,
    };
  });
  const byId = new Map(known.map((run) => [run.id, run]));
  const toWords = (id: string): readonly string[] => {
    const run = byId.get(id);
    const made = run?.commit === undefined ? (commits.get(id) ?? []) : [run.commit];
    return [
      `run:${id}`,
      ...(run?.decision === undefined ? [] : [`decision:${run.decision}`]),
      ...made.map((commit) => `commit:${commit}`),
    ];
  };
  const all = (fits: (run: KnownRun) => boolean): readonly string[] =>
    known.filter(fits).flatMap(({ id }) => toWords(id));
  return {
    ofRef(name) {
      const ref = toStoredRef(name, '0'.repeat(40));
      if (!ref) return [];
      if (ref.kind === 'plan') return all(({ plans }) => plans.has(ref.id));
      if (ref.kind === 'intent') return all(({ specId }) => specId === ref.id);
      if (!travels(ref) || ref.kind === 'other') return [];
      return toWords(ref.id);
    },
    ofRun: (runId) => toWords(encodeId(runId)),
    ofLogIndex: (index) => all(({ logIndex }) => logIndex === index),
    ofLog: (from = 0) => all(({ logIndex }) => logIndex !== undefined && logIndex >= from),
  };
}

/**
 * Commits of branches and tags by the run that their trailers name (encoded id); empty if the history cannot be read.
 */
export async function findSealedCommits(
  place: GitDirectory,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const listed = await runGit(
    place,
    [
      'log',
      '--branches',
      '--tags',
      '--remotes',
      '--no-show-signature',
      '--fixed-strings',
      '--grep=Run-Id: ',
      '--format=%H %(trailers:key=Run-Id,valueonly,separator=%x20)',
    ],
    { maxBytes: maxListBytes },
  ).catch(() => Buffer.alloc(0));
  for (const line of listed.toString('utf8').split('\n')) {
    const [commit = '', ...ids] = line.trim().split(' ');
    for (const id of ids) found.set(encodeId(id), [...(found.get(encodeId(id)) ?? []), commit]);
  }
  return found;
}
