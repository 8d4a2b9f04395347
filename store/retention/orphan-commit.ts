import { WritError } from '../../core/base/errors.ts';
import { adoptObjects } from '../../workspace/git/adopt-objects.ts';
import { readObjects } from '../../workspace/git/blobs.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { readRef } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { BlobRetention, RetainedRun } from './blob-retention.ts';
import { commitBlobs } from './commit-blobs.ts';
import { moveRef } from './move-ref.ts';

/**
 * Commits without parents, each on `<prefix>orphan-commits/<run>/<its id>`: no two machines ever write different things
 * under one name, so what each of them keeps is carried to the others and adds up. An older version kept all runs on
 * the one ref `<prefix>orphans`, which is still read and released.
 */
export const orphanCommit: BlobRetention = {
  merges: false,
  async trees(run) {
    const kept = await listRefs(run.repository, folderOf(run));
    const old = (await readKeeper(run)).orphans.get(run.name);
    const commits = [...kept.map(({ object }) => object), ...(old === undefined ? [] : [old])];
    return Promise.all(
      [...new Set(commits)].map((id) => gitLine(run.repository, ['rev-parse', '--verify', `${id}^{tree}`])),
    );
  },
  async keep(run, { scratch, tree }) {
    const commit = await commitBlobs(run, scratch, tree);
    await adoptObjects(scratch, run.repository);
    const ref = `${folderOf(run)}${commit}`;
    await moveRef(run.repository, ref, await readRef(run.repository, ref), commit);
  },
  async release(run) {
    for (const { ref, object } of await listRefs(run.repository, folderOf(run)))
      await moveRef(run.repository, ref, object, undefined);
    const { keeper, orphans } = await readKeeper(run);
    if (!orphans.has(run.name)) return;
    await writeKeeper(run, keeper, new Map([...orphans].filter(([name]) => name !== run.name)));
  },
};

function folderOf({ refStem, name }: RetainedRun): string {
  return `${refStem}/orphan-commits/${name}/`;
}

async function listRefs(
  repo: Repository,
  folder: string,
): Promise<readonly { readonly ref: string; readonly object: string }[]> {
  const listed = await gitLine(repo, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    '--end-of-options',
    folder,
  ]);
  return listed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ object: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
}

interface Keeper {
  readonly keeper: string | undefined;
  /** Run → commit. */
  readonly orphans: ReadonlyMap<string, string>;
}

function refOf({ refStem }: RetainedRun): string {
  return `${refStem}/orphans`;
}

async function readKeeper(run: RetainedRun): Promise<Keeper> {
  const keeper = await readRef(run.repository, refOf(run));
  if (keeper === undefined) return { keeper, orphans: new Map() };
  const [found] = await readObjects(run.repository, [keeper]);
  const text = found?.bytes.toString('utf8') ?? '';
  const body = text.slice(text.indexOf('\n\n') + 2);
  const parents = new Set(
    [...text.slice(0, text.indexOf('\n\n')).matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id]) => id),
  );
  const orphans = new Map(
    [...body.matchAll(/^(\S+) ([0-9a-f]{40,64})$/gm)].map(([, name = '', id = '']) => [name, id]),
  );
  // A commit that somebody else put there would be thrown away with all that it holds.
  if (
    found?.type !== 'commit' ||
    parents.size !== new Set(orphans.values()).size ||
    [...orphans.values()].some((id) => !parents.has(id))
  ) {
    throw new WritError('OBJECT_CORRUPT', {
      message: `\`${refOf(run)}\` does not name the commits that it keeps`,
      detail: { ref: refOf(run), object: keeper },
    });
  }
  return { keeper, orphans };
}

async function writeKeeper(
  run: RetainedRun,
  old: string | undefined,
  orphans: ReadonlyMap<string, string>,
): Promise<void> {
  const { repository } = run;
  await moveRef(
    repository,
    refOf(run),
    old,
    orphans.size === 0 ? undefined : await commitKeeper(repository, orphans),
  );
}

/** Written raw: thousands of parents do not fit into an argument list. */
async function commitKeeper(repo: Repository, orphans: ReadonlyMap<string, string>): Promise<string> {
  const tree = await gitLine(repo, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });
  const sorted = [...orphans].sort(([a], [b]) => (a < b ? -1 : 1));
  const parents = [...new Set(sorted.map(([, id]) => id))];
  const who = 'writ <writ@localhost> 0 +0000';
  const lines = [
    `tree ${tree}`,
    ...parents.map((id) => `parent ${id}`),
    `author ${who}`,
    `committer ${who}`,
    '',
    'context of runs',
    '',
    ...sorted.map(([name, id]) => `${name} ${id}`),
    '',
  ];
  return gitLine(repo, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: lines.join('\n') });
}
