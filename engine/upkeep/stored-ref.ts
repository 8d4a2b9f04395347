/* The kinds of refs that writ writes, the plans that belong to runs, and how two versions of a ref relate. */
import { isWritError } from '../../core/base/errors.ts';
import { parseObject } from '../../store/stored-object.ts';
import { type GitDirectory, maxListBytes, runGit } from '../../workspace/git/git.ts';
import { presentCommits, readSmall } from '../../workspace/git/read-objects.ts';
import { encodeId, isRefName } from '../../workspace/git/ref-name.ts';
import { matchRefs } from '../../workspace/git/refs.ts';
import { isObjectId } from '../../workspace/git/repository.ts';
import { walkTrees } from './walk-trees.ts';

/**
 * `context` keeps context blobs from `git gc` (by ref-anchoring, or one of many by orphan-commit). `fetched` is a
 * record of a remote, kept beside ours. `other` is below our prefixes, but of no kind that writ writes.
 */
type RefKind = 'run' | 'intent' | 'plan' | 'content' | 'approval' | 'context' | 'fetched' | 'other';

/** A ref below a prefix that a spec may use as `aiRefPrefix`. */
export interface StoredRef {
  readonly ref: string;
  readonly object: string;
  readonly kind: RefKind;
  /** Without its final slash: `refs/ai`. */
  readonly prefix: string;
  /** Encoded id: of the run for a run, its content, context and approvals, else of the intent or plan. */
  readonly id: string;
}

/** Key of the run, intent or plan that a ref belongs to. */
export function ownerKey({ prefix, id }: Pick<StoredRef, 'prefix' | 'id'>): string {
  return `${prefix}/${id}`;
}

/** False for refs that are neither pushed nor fetched. */
export function travels({ kind }: Pick<StoredRef, 'kind'>): boolean {
  return kind !== 'fetched';
}

/** True for refs that may be replaced and deleted, because their content expires. */
export function isDeletable({ kind }: Pick<StoredRef, 'kind'>): boolean {
  return kind === 'content' || kind === 'context';
}

const kinds: Readonly<Record<string, RefKind>> = {
  runs: 'run',
  intents: 'intent',
  plans: 'plan',
  content: 'content',
  context: 'context',
};

/** Refs that may be pushed, fetched and checked. */
export const storedPatterns = ['refs/ai/**', 'refs/x-*/**'] as const;

export async function listStoredRefs(place: GitDirectory): Promise<readonly StoredRef[]> {
  return (await matchRefs(place, storedPatterns)).flatMap(
    ({ ref, object }) => toStoredRef(ref, object) ?? [],
  );
}

/** Reads `<object><separator><ref>` lines and skips other refs. */
export function parseRefLines(text: string, separator: string): readonly StoredRef[] {
  const refs: StoredRef[] = [];
  for (const line of text.split('\n')) {
    const at = line.indexOf(separator);
    const found = at < 0 ? undefined : toStoredRef(line.slice(at + 1), line.slice(0, at));
    if (found) refs.push(found);
  }
  return refs;
}

/** `undefined` for an invalid name, or one outside our prefixes. */
export function toStoredRef(ref: string, object: string): StoredRef | undefined {
  if (!/^refs\/(?:ai|x-[^/]*)\/./.test(ref) || !isRefName(ref)) return undefined;
  if (!isObjectId(object)) return undefined;
  const parts = ref.split('/');
  const kind = kinds[parts.at(-2) ?? ''];
  if (kind !== undefined && parts.length >= 4)
    return { ref, object, kind, prefix: parts.slice(0, -2).join('/'), id: parts.at(-1) ?? '' };
  if (parts.at(-3) === 'approvals' && parts.length >= 5)
    return { ref, object, kind: 'approval', prefix: parts.slice(0, -3).join('/'), id: parts.at(-2) ?? '' };
  if (parts.at(-3) === 'orphan-commits' && parts.length >= 5)
    return { ref, object, kind: 'context', prefix: parts.slice(0, -3).join('/'), id: parts.at(-2) ?? '' };
  if (parts.at(-3) === 'fetched' && parts.at(-2)?.startsWith('of-') && parts.length >= 5)
    return {
      ref,
      object,
      kind: 'fetched',
      prefix: parts.slice(0, -3).join('/'),
      id: (parts.at(-2) ?? '').slice(3),
    };
  return { ref, object, kind: 'other', prefix: parts.slice(0, 2).join('/'), id: parts.slice(2).join('/') };
}

/** A larger plan is not read. */
const maxPlanBytes = 4 * 1024 * 1024;
const ofPlan = /^(?:plans\/\d+\/)?plan\.json$/;

/**
 * The refs of all plans in these records, each with its record; the plans move together with it. Unreadable plans are
 * skipped.
 */
export async function plansOfRuns<Run extends Pick<StoredRef, 'object' | 'prefix'>>(
  place: GitDirectory,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, Run>> {
  const objects = [...new Set(runs.map(({ object }) => object))];
  const walked = await walkTrees(place, objects, { broken: () => {} });
  const blobs = new Map<string, Run>();
  for (const run of runs)
    for (const [path, blob] of walked.get(run.object)?.files ?? [])
      if (ofPlan.test(path)) blobs.set(blob, run);
  const found = new Map<string, Run>();
  for (const [id, bytes] of await readSmall(place, blobs.keys(), maxPlanBytes)) {
    const run = blobs.get(id);
    const plan = planOf(bytes);
    if (run && plan !== undefined) found.set(`${run.prefix}/plans/${encodeId(plan)}`, run);
  }
  return found;
}

function planOf(bytes: Buffer): string | undefined {
  try {
    return parseObject('plan', bytes).object_id;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

/**
 * `here` relative to `there`. For diverged versions: whether `here` was committed later, earlier or in the same
 * second.
 */
export type Relation =
  | 'same'
  | 'ahead'
  | 'behind'
  | 'diverged-later'
  | 'diverged-earlier'
  | 'diverged-tie'
  | 'unknown';

interface VersionPair {
  readonly here: string;
  readonly there: string;
}

/**
 * Compares many pairs with two processes, along first parents: the versions of every ref form such a line. `unknown`
 * if `there` is not in this repository.
 */
export async function compareVersions(
  place: GitDirectory,
  pairs: readonly VersionPair[],
): Promise<readonly Relation[]> {
  const differing = pairs.filter(({ here, there }) => here !== there);
  const present = await presentCommits(
    place,
    differing.flatMap(({ here, there }) => [here, there]),
  );
  const lines = await readLines(place, [...present]);
  return pairs.map(({ here, there }): Relation => {
    if (here === there) return 'same';
    if (!present.has(here) || !present.has(there)) return 'unknown';
    if (isAncestor(lines, there, here)) return 'ahead';
    if (isAncestor(lines, here, there)) return 'behind';
    const [mine, theirs] = [lines.get(here)?.seconds ?? 0, lines.get(there)?.seconds ?? 0];
    return mine > theirs ? 'diverged-later' : mine < theirs ? 'diverged-earlier' : 'diverged-tie';
  });
}

interface Step {
  readonly parent: string | undefined;
  readonly seconds: number;
}

async function readLines(place: GitDirectory, tips: readonly string[]): Promise<ReadonlyMap<string, Step>> {
  if (tips.length === 0) return new Map();
  const walked = await runGit(
    place,
    [
      'rev-list',
      '--first-parent',
      '--parents',
      '--timestamp',
      '--no-commit-header',
      // A content commit has the user's commit as a parent. That commit's history is not part of the line.
      '--not',
      '--branches',
      '--tags',
      '--remotes',
      '--not',
      '--stdin',
    ],
    { input: tips.map((tip) => `${tip}\n`).join(''), maxBytes: maxListBytes },
  );
  const lines = new Map<string, Step>();
  for (const line of walked.toString('utf8').split('\n')) {
    const [seconds = '', id = '', parent] = line.split(' ');
    if (id !== '') lines.set(id, { parent, seconds: Number(seconds) });
  }
  return lines;
}

function isAncestor(lines: ReadonlyMap<string, Step>, wanted: string, from: string): boolean {
  for (let at: string | undefined = from; at !== undefined; at = lines.get(at)?.parent)
    if (at === wanted) return true;
  return false;
}
