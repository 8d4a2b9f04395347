import { isWritError } from '../../core/base/errors.ts';
import { sealPaths } from '../store/record/seal-paths.ts';
import { parseObject } from '../store/stored-object.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { readSmall } from '../vcs/read-each.ts';
import { plansOfRuns } from './plans-of-runs.ts';
import type { StoredRef } from './stored-ref.ts';

/** A run that ended against its change. */
export interface HeldRun {
  readonly run_id: string;
  readonly decision: 'abandon' | 'rollback';
}

/** What `push` sends of a run only when it is asked to. */
export interface HeldBack {
  readonly runs: readonly HeldRun[];
  /** Ref → its run. */
  readonly refs: ReadonlyMap<string, HeldRun>;
}

/** A decision is a few kilobytes; what is larger is read as none. */
const maxObjectBytes = 4 * 1024 * 1024;

/**
 * Refused and abandoned runs with everything that is theirs alone: record, content, context, approvals, plans. One that
 * the remote has already (it waited there) is not held: its end is sent, so that no one goes on with it, and what
 * belongs to a record goes with it. A record that cannot be read says no decision.
 */
export async function findHeld(
  place: GitDirectory,
  here: readonly StoredRef[],
  there: ReadonlyMap<string, unknown>,
): Promise<HeldBack> {
  const runs = here.filter(({ kind, ref }) => kind === 'run' && !there.has(ref));
  const ended = new Map<StoredRef, HeldRun>();
  for (const name of [sealPaths.rollback, 'decision.json']) {
    const asked = new Map(runs.map((run) => [`${run.object}:${name}`, run]));
    for (const [id, bytes] of await readSmall(place, asked.keys(), maxObjectBytes)) {
      const run = asked.get(id);
      const decision = run && !ended.has(run) ? decisionOf(bytes) : undefined;
      if (run && decision) ended.set(run, { run_id: run.id, decision });
    }
  }
  const refs = new Map<string, HeldRun>();
  const byRun = new Map([...ended].map(([run, held]) => [`${run.prefix}/${run.id}`, held]));
  for (const { ref, kind, prefix, id } of here) {
    const held = byRun.get(`${prefix}/${id}`);
    if (held && ['run', 'content', 'context', 'approval'].includes(kind)) refs.set(ref, held);
  }
  for (const [ref, run] of await plansOfRuns(place, [...ended.keys()])) {
    const held = ended.get(run);
    if (held) refs.set(ref, held);
  }
  return { runs: [...ended.values()], refs };
}

function decisionOf(bytes: Buffer): HeldRun['decision'] | undefined {
  try {
    const { type } = parseObject('decision', bytes);
    return type === 'abandon' || type === 'rollback' ? type : undefined;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}
