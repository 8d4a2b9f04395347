import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { askGit, gitLine } from '../../workspace/git/git.ts';
import { readHeads } from '../../workspace/git/read-each.ts';
import { updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { ContentExpiry } from './content-expiry.ts';
import type { Removed } from './removed.ts';
import { localStateOf } from './run-states.ts';
import type { StoredRef } from './stored-ref.ts';
import { walkTrees } from './walk-trees.ts';

const refsAtOnce = 200;
const writ = { name: 'writ', email: 'writ@localhost' };

interface Over {
  readonly content: StoredRef;
  readonly keep: number;
  readonly paths: readonly string[];
  readonly bytes: number;
}

/**
 * Removes expired artifact content by compare-and-swap. If all of a ref's content has expired, deletes the ref;
 * otherwise moves it to a new parentless commit with the rest. Keeps content of a run that waits, works or can be
 * resumed here. Digests stay in the run's record.
 */
export async function expireContent(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  clock: Clock,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const runs = new Map(refs.filter(({ kind }) => kind === 'run').map((run) => [keyOf(run), run]));
  const owned = refs.filter((ref) => ref.kind === 'content' && runs.has(keyOf(ref)));
  const removed: Removed[] = [];
  for (let at = 0; at < owned.length; at += refsAtOnce) {
    const chunk = owned.slice(at, at + refsAtOnce);
    const settled: StoredRef[] = [];
    for (const one of chunk) if ((await localStateOf(repository, one.id)) === 'over') settled.push(one);
    const expiryOf = (one: StoredRef): ContentExpiry | undefined =>
      expiries.get(runs.get(keyOf(one))?.ref ?? '');
    const over = await findOver(repository, settled, expiryOf, clock.now());
    removed.push(...(await removeOver(repository, over, clock, dryRun)));
  }
  return removed;
}

function keyOf({ prefix, id }: StoredRef): string {
  return `${prefix}/${id}`;
}

async function findOver(
  repository: Repository,
  refs: readonly StoredRef[],
  expiryOf: (one: StoredRef) => ContentExpiry | undefined,
  nowMs: number,
): Promise<readonly Over[]> {
  const candidates = refs.filter((one) => expiryOf(one) !== undefined);
  const walked = await walkTrees(
    repository,
    candidates.map(({ object }) => object),
    { broken: () => {} },
  );
  const found = candidates.flatMap((content) => {
    // What cannot be walked is not known to be over.
    const commit = walked.get(content.object);
    if (commit === undefined) return [];
    const files = [...commit.files];
    const expiry = expiryOf(content);
    const gone = files.filter(([path]) => nowMs >= (expiry?.expiresAtMs(path) ?? Number.POSITIVE_INFINITY));
    const isEmpty = files.length === 0 && nowMs >= (expiry?.lastMs ?? Number.POSITIVE_INFINITY);
    return gone.length > 0 || isEmpty ? [{ content, keep: files.length - gone.length, gone }] : [];
  });
  const heads = await readHeads(
    repository,
    found.flatMap(({ gone }) => gone.map(([, object]) => object)),
  );
  return found.map(({ content, keep, gone }) => ({
    content,
    keep,
    paths: gone.map(([path]) => path),
    bytes: gone.reduce((sum, [, object]) => sum + (heads.get(object)?.sizeBytes ?? 0), 0),
  }));
}

async function removeOver(
  repository: Repository,
  over: readonly Over[],
  clock: Clock,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const removed: Removed[] = [];
  const moves: { readonly one: Over; readonly to: string | undefined }[] = [];
  for (const one of over) {
    const rest = one.keep > 0 && !dryRun ? await commitRest(repository, one, clock.now()) : undefined;
    moves.push({ one, to: rest });
  }
  const stale = dryRun ? new Set<string>() : await moveAll(repository, moves);
  for (const { content, keep, paths, bytes } of over) {
    // Another process wrote the ref meanwhile; the next collection handles it.
    if (stale.has(content.ref)) continue;
    removed.push({
      kind: 'content',
      where: content.ref,
      runId: content.id,
      ...(keep > 0 ? { files: paths.length } : {}),
      bytes,
    });
  }
  return removed;
}

/** Answers the refs that somebody else moved first. */
async function moveAll(
  repository: Repository,
  moves: readonly { readonly one: Over; readonly to: string | undefined }[],
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>();
  for (let rest = moves; rest.length > 0; ) {
    const outcome = await updateRefs(
      repository,
      rest.map(({ one, to }) => ({ ref: one.content.ref, old: one.content.object, new: to })),
      'writ: retention is over',
    );
    if (outcome.moved) {
      await forgetReflogs(
        repository,
        rest.filter(({ to }) => to !== undefined).map(({ one }) => one.content.ref),
      );
      break;
    }
    for (const { ref } of outcome.stale) stale.add(ref);
    rest = rest.filter(({ one }) => !stale.has(one.content.ref));
  }
  return stale;
}

/** With `core.logAllRefUpdates = always` the old version would stay reachable. */
async function forgetReflogs(repository: Repository, refs: readonly string[]): Promise<void> {
  const logged: string[] = [];
  for (const ref of refs)
    if ((await askGit(repository, ['reflog', 'exists', '--end-of-options', ref])).code === 0)
      logged.push(ref);
  if (logged.length > 0)
    await askGit(repository, ['reflog', 'expire', '--expire=all', '--expire-unreachable=all', ...logged]);
}

async function commitRest(repository: Repository, { content, paths }: Over, nowMs: number): Promise<string> {
  const dir = await makeTemporary(repository);
  try {
    const place = { ...repository, env: { ...repository.env, GIT_INDEX_FILE: join(dir, 'index') } };
    await gitLine(place, ['read-tree', `${content.object}^{tree}`]);
    const input = paths.map((path) => `${path}\0`).join('');
    await gitLine(place, ['update-index', '-z', '--force-remove', '--stdin'], { input });
    return await createCommit(place, {
      tree: await gitLine(place, ['write-tree']),
      parents: [],
      message: `writ: content of run ${content.id} without what expired\n`,
      author: writ,
      committer: writ,
      authoredAtMs: nowMs,
      committedAtMs: nowMs,
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
