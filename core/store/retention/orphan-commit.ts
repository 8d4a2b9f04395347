import { WritError } from '../../base/errors.ts';
import { adoptObjects } from '../../vcs/adopt-objects.ts';
import { readObjects } from '../../vcs/blobs.ts';
import { gitLine } from '../../vcs/git.ts';
import { readRef } from '../../vcs/refs.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { BlobRetention, RetainedRun } from './blob-retention.ts';
import { commitBlobs } from './commit-blobs.ts';
import { moveRef } from './move-ref.ts';

/**
 * A commit without parents per run and no ref of its own: one ref, `<prefix>orphans`, stands on a commit that has all of them as parents
 * and names their runs in its message. It is made anew for every change, so that what is released is reachable no more.
 */
export const orphanCommit: BlobRetention = {
  merges: true,
  async trees(run) {
    const { orphans } = await readKeeper(run);
    const commit = orphans.get(run.name);
    return commit === undefined
      ? []
      : [await gitLine(run.repository, ['rev-parse', '--verify', `${commit}^{tree}`])];
  },
  async keep(run, { scratch, tree }) {
    const commit = await commitBlobs(run, scratch, tree);
    await adoptObjects(scratch, run.repository);
    const { keeper, orphans } = await readKeeper(run);
    await writeKeeper(run, keeper, new Map([...orphans, [run.name, commit]]));
  },
  async release(run) {
    const { keeper, orphans } = await readKeeper(run);
    if (!orphans.has(run.name)) return;
    await writeKeeper(run, keeper, new Map([...orphans].filter(([name]) => name !== run.name)));
  },
};

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
