import { describeObjects } from './blobs.ts';
import { askGit, type GitDirectory, isGitFault, runGit } from './git.ts';
import { isObjectId } from './repository.ts';
import { isRevision } from './resolve-commit.ts';

/** One commit that a name may mean, and what is called so: a full ref, an abbreviated id, or the expression itself. */
export interface NamedCommit {
  readonly commit: string;
  readonly as: string;
}

/** Of the places where git looks for a short name; git takes the first and only warns that there are others. */
const places = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];
const maxIds = 16;

/**
 * Every commit that a name may mean, each once: the tag, the branch and the remote branch of that name, an id that
 * begins with it, and what git itself takes it for. `HEAD` and `@` mean one thing always. Empty where there is none.
 * `name` is one that `resolveCommit` would take.
 */
export async function commitsNamed(place: GitDirectory, name: string): Promise<readonly NamedCommit[]> {
  const cut = /[~^:]|@\{/.exec(name)?.index ?? name.length;
  const [base, suffix] = [name.slice(0, cut), name.slice(cut)];
  const own = await resolved(place, name);
  const isFixed = base === '' || base === '@' || base === 'HEAD';
  const isFull = base.startsWith('refs/') && (await refsCalled(place, [base])).length > 0;
  if (isFixed || isFull) return own;
  const refs = await refsCalled(place, [...places.map((at) => at + base), `refs/remotes/${base}/HEAD`]);
  const candidates = [
    ...refs.map(({ ref, id }) => ({
      as: `${ref}${suffix}`,
      // Upstreams and reflogs are those of a name, everything else is of an object.
      ask: `${suffix.startsWith('@{') ? ref : id}${suffix}^{commit}`,
    })),
    ...(await idsLike(place, base)).map((id) => ({ as: `${id}${suffix}`, ask: `${id}${suffix}^{commit}` })),
  ];
  const heads = await describeObjects(
    place,
    candidates.map(({ ask }) => ask),
  );
  const found = new Map<string, NamedCommit>();
  for (const [n, { as }] of candidates.entries()) {
    const head = heads[n];
    if (head?.type === 'commit' && !found.has(head.id)) found.set(head.id, { commit: head.id, as });
  }
  for (const one of own) if (!found.has(one.commit)) found.set(one.commit, one);
  return [...found.values()];
}

async function resolved(place: GitDirectory, name: string): Promise<readonly NamedCommit[]> {
  try {
    const [head] = await describeObjects(place, [`${name}^{commit}`]);
    return head?.type === 'commit' ? [{ commit: head.id, as: name }] : [];
  } catch (fault) {
    // Of a damaged object git says nothing more, and one that is asked for a name alone says that it has none.
    if (!isGitFault(fault)) throw fault;
  }
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await askGit(place, args);
  const commit = stdout.toString('utf8').trim();
  return code === 0 && isObjectId(commit) ? [{ commit, as: name }] : [];
}

/**
 * The id that a name stands for where an object of that id says it is a commit and git cannot take it for one: its
 * bytes may be others.
 */
export async function damagedCommit(place: GitDirectory, name: string): Promise<string | undefined> {
  if (!isRevision(name)) return undefined;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', name];
  const { code, stdout } = await askGit(place, args);
  const id = stdout.toString('utf8').trim();
  if (code !== 0 || !isObjectId(id)) return undefined;
  const [head] = await describeObjects(place, [id]);
  return head?.type === 'commit' ? id : undefined;
}

async function refsCalled(
  place: GitDirectory,
  names: readonly string[],
): Promise<readonly { readonly ref: string; readonly id: string }[]> {
  const listed = await runGit(place, ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...names]);
  return listed
    .toString('utf8')
    .split('\n')
    .map((line) => ({ id: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }))
    .filter(({ ref }) => names.includes(ref));
}

/** Commits and tags whose ids begin like a name, or like the end of one that `git describe` makes. */
async function idsLike(place: GitDirectory, base: string): Promise<readonly string[]> {
  const prefix = /^(?:.+-\d+-g)?([0-9a-f]{4,64})$/i.exec(base)?.[1];
  if (prefix === undefined) return [];
  const { code, stdout } = await askGit(place, ['rev-parse', `--disambiguate=${prefix.toLowerCase()}`]);
  if (code !== 0) return [];
  const ids = stdout.toString('utf8').split('\n').filter(isObjectId);
  const heads = await describeObjects(place, ids.slice(0, 1000));
  return heads
    .flatMap((head) => (head?.type === 'commit' || head?.type === 'tag' ? [head.id] : []))
    .slice(0, maxIds);
}
