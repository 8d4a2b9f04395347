import { objectHash } from '../../workspace/git/git-object.ts';
import { coAuthorsIn, formatIdentity } from '../../workspace/git/identity.ts';

/** A commit as its own bytes describe it. */
export interface GitCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /**
   * `Name <mail>` of its author and of everybody whom a `Co-authored-by:` names. Who committed it made nothing of it.
   */
  readonly authors: readonly string[];
  /** Value of each trailer in the last paragraph of the message; a key given twice has several. */
  trailer(key: string): readonly string[];
}

/** Git object id of a commit with that content, in the hash that an id of `like`'s length is made with. */
export function commitIdOf(raw: Uint8Array, like: string): string {
  const format = like.length === 64 ? 'sha256' : 'sha1';
  return objectHash(format, 'commit', raw.length).update(raw).digest('hex');
}

/** Reads tree, parents and trailers of a commit object; `undefined` where it does not begin with a tree. */
export function parseCommit(raw: Uint8Array): GitCommit | undefined {
  const text = Buffer.from(raw).toString('utf8');
  const tree = /^tree ([0-9a-f]{40}|[0-9a-f]{64})\n/.exec(text)?.[1];
  const split = text.indexOf('\n\n');
  if (tree === undefined || split < 0) return undefined;
  const message = text.slice(split + 2).trimEnd();
  const last = message.slice(message.lastIndexOf('\n\n') + 1);
  const trailers = last.split('\n').map((line) => /^([A-Za-z][A-Za-z0-9-]*): (.*)$/.exec(line));
  const parents = /^tree [0-9a-f]+\n((?:parent [0-9a-f]+\n)*)/.exec(text)?.[1] ?? '';
  const author = /^author ([^\n]*<[^\n>]*>)/m.exec(text.slice(0, split))?.[1];
  return {
    tree,
    parents: parents.split('\n').flatMap((line) => (line === '' ? [] : [line.slice('parent '.length)])),
    authors: [...(author === undefined ? [] : [author]), ...coAuthorsIn(message).map(formatIdentity)],
    trailer: (key) => trailers.filter((match) => match?.[1] === key).map((match) => match?.[2] ?? ''),
  };
}
