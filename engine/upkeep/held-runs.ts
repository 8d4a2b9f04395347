import { isWritError } from '../../core/base/errors.ts';
import { sealPaths } from '../store/record/seal-paths.ts';
import { parseObject } from '../store/stored-object.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { readSmall } from '../vcs/read-each.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { StoredRef } from './stored-ref.ts';
import { walkTrees } from './walk-trees.ts';

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

/** A decision or a plan is a few kilobytes; what is larger is read as none. */
const maxObjectBytes = 4 * 1024 * 1024;
const ofPlan = /^(?:plans\/\d+\/)?plan\.json$/;

/**
 * Refused and abandoned runs with everything that is theirs alone: record, content, context, approvals, plans. Of one
 * that the remote has already (it waited there) the end is sent, so that nobody goes on with it, and content is held. A
 * record that cannot be read says no decision.
 */
export async function findHeld(
  place: GitDirectory,
  here: readonly StoredRef[],
  there: ReadonlyMap<string, unknown>,
): Promise<HeldBack> {
  const runs = here.filter(({ kind }) => kind === 'run');
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
  const byRun = new Map([...ended].map(([run, held]) => [`${run.prefix}/${run.id}`, { run, held }]));
  for (const { ref, kind, prefix, id } of here) {
    const found = byRun.get(`${prefix}/${id}`);
    if (!found || !['run', 'content', 'context', 'approval'].includes(kind)) continue;
    const isKnown = there.has(found.run.ref);
    if (!isKnown || kind === 'content' || kind === 'context') refs.set(ref, found.held);
  }
  const unknown = [...ended.keys()].filter(({ ref }) => !there.has(ref));
  for (const [ref, held] of await plansOf(place, unknown, ended)) refs.set(ref, held);
  const named = new Set([...refs.values()]);
  return { runs: [...ended.values()].filter((held) => named.has(held)), refs };
}

async function plansOf(
  place: GitDirectory,
  runs: readonly StoredRef[],
  ended: ReadonlyMap<StoredRef, HeldRun>,
): Promise<ReadonlyMap<string, HeldRun>> {
  const found = new Map<string, HeldRun>();
  const walked = await walkTrees(place, [...new Set(runs.map(({ object }) => object))], { broken: () => {} });
  const blobs = new Map<string, StoredRef>();
  for (const run of runs) {
    for (const [path, blob] of walked.get(run.object)?.files ?? [])
      if (ofPlan.test(path)) blobs.set(blob, run);
  }
  for (const [id, bytes] of await readSmall(place, blobs.keys(), maxObjectBytes)) {
    const run = blobs.get(id);
    const held = run && ended.get(run);
    const plan = planOf(bytes);
    if (run && held && plan !== undefined) found.set(`${run.prefix}/plans/${encodeId(plan)}`, held);
  }
  return found;
}

function decisionOf(bytes: Buffer): HeldRun['decision'] | undefined {
  const type = parsed(() => parseObject('decision', bytes).type);
  return type === 'abandon' || type === 'rollback' ? type : undefined;
}

function planOf(bytes: Buffer): string | undefined {
  return parsed(() => parseObject('plan', bytes).object_id);
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}
