import { type GitDirectory, runGit } from '../../workspace/git/git.ts';
import type { FetchConnection } from './fetch-connection.ts';
import { askRemote, remoteFailed } from './network-git.ts';
import { type StoredRef, toStoredRef } from './stored-ref.ts';

/** Up to this number, refs are passed to git by name; above it, by pattern. */
const maxNamed = 500;
/** Refs that may spoil a fetch before it is given up; each costs a handful of connections. */
const maxFailures = 200;
const maxListBytes = 256 * 1024 * 1024;
/** Prefix of fetched refs in the view. */
const arrived = 'refs/in/';

/**
 * Fetches into the view and returns the refs that arrived, which may be newer than listed. If the remote cannot send
 * a ref's objects, or sends wrong ones, git refuses the whole fetch. Halving the list then isolates that ref, and
 * `refuse` is called for it.
 */
export async function receiveRefs(
  connection: FetchConnection,
  view: GitDirectory,
  wanted: readonly StoredRef[],
  refuse: (ref: string, reason: string) => void,
): Promise<readonly StoredRef[]> {
  const { remote } = connection;
  let failures = 0;
  const attempt = async (part: readonly StoredRef[]): Promise<void> => {
    let answer = await ask(connection, view, part);
    // The remote sent differences from objects that a partial clone left out: it shall assume that we have nothing.
    if (/could not fetch [0-9a-f]{40,64} from promisor remote/.test(answer.stderr))
      answer = await ask(connection, view, part, ['--refetch']);
    if (answer.code === 0) return;
    failures += 1;
    if (failures > maxFailures) throw remoteFailed(remote, answer);
    const [only] = part;
    if (part.length === 1 && only) return refuse(only.ref, remoteFailed(remote, answer).message);
    // By name from here on: a pattern would fetch the same refs again.
    const size = Math.min(maxNamed, Math.ceil(part.length / 2));
    for (let at = 0; at < part.length; at += size) await attempt(part.slice(at, at + size));
  };
  await attempt(wanted);
  const names = new Set(wanted.map(({ ref }) => ref));
  const listed = await runGit(view, ['for-each-ref', '--format=%(objectname) %(refname)', arrived], {
    maxBytes: maxListBytes,
  });
  return listed
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const at = line.indexOf(' ');
      const ref = `refs/${line.slice(at + 1 + arrived.length)}`;
      return at > 0 && names.has(ref) ? (toStoredRef(ref, line.slice(0, at)) ?? []) : [];
    });
}

function ask(
  { remote, signal }: FetchConnection,
  view: GitDirectory,
  wanted: readonly StoredRef[],
  more: readonly string[] = [],
): ReturnType<typeof askRemote> {
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-prune',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--no-show-forced-updates',
    '--no-filter',
    '--refmap=',
    '--upload-pack=git-upload-pack',
    ...more,
    '--stdin',
    '--end-of-options',
    remote.address,
  ];
  const input = refspecsOf(wanted)
    .map((refspec) => `${refspec}\n`)
    .join('');
  return askRemote(view, args, { input, signal });
}

function refspecsOf(wanted: readonly StoredRef[]): readonly string[] {
  if (wanted.length <= maxNamed)
    return wanted.map(({ ref }) => `+${ref}:${arrived}${ref.slice('refs/'.length)}`);
  const folders = new Set(wanted.map(({ ref }) => ref.slice('refs/'.length, ref.lastIndexOf('/'))));
  return [...folders].map((folder) => `+refs/${folder}/*:${arrived}${folder}/*`);
}
