/* Lists the files of many records with few git processes. */
import type { GitDirectory } from '../../workspace/git/git.ts';
import { objectId, parseCommit, parseTree } from '../../workspace/git/git-object.ts';
import { readEach, readHeads } from '../../workspace/git/read-objects.ts';
import { maxRecordEntries } from '../../workspace/git/tree.ts';

/** A commit of ours with every file below it. */
export interface WalkedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  /** Path → blob id, without what could not be read. */
  readonly files: ReadonlyMap<string, string>;
}

/** A git object that is missing, or has content that does not match its id. */
export interface BrokenObject {
  readonly object: string;
  readonly type: 'commit' | 'tree' | 'blob';
}

export interface WalkOptions {
  /** Verifies the id of each object; default false. */
  readonly verify?: boolean;
  /** Reports each tree for one commit only, so that a long history costs what changed; default false. */
  readonly once?: boolean;
  /**
   * Called for a commit with a tree of more than `maxRecordEntries` entries, which a few objects can expand to. It is
   * left out of the result.
   */
  readonly tooLarge?: (commit: string) => void;
  /**
   * Called for a broken object with the commits that need it, and the path below them ('' for the commit or its
   * root).
   */
  readonly broken: (
    found: BrokenObject,
    holders: readonly { readonly commit: string; readonly path: string }[],
  ) => void;
}

interface Place {
  readonly commit: string;
  readonly path: string;
}

const maxPathDepth = 64;

/** Reads commits and trees level by level; blobs are not read. */
export async function walkTrees(
  place: GitDirectory,
  commits: readonly string[],
  options: WalkOptions,
): Promise<ReadonlyMap<string, WalkedCommit>> {
  const walked = new Map<string, WalkedCommit & { readonly files: Map<string, string> }>();
  let level = new Map<string, Place[]>();
  const seen = new Set<string>();
  await readAll(
    place,
    'commit',
    new Map(commits.map((id) => [id, [{ commit: id, path: '' }]])),
    options,
    (id, bytes) => {
      const commit = parseCommit(bytes);
      if (!commit) return false;
      walked.set(id, { id, parents: commit.parents, files: new Map() });
      push(level, commit.tree, { commit: id, path: '' });
      return true;
    },
  );
  const counts = new Map<string, number>();
  const idBytes = place.objectFormat === 'sha1' ? 20 : 32;
  for (let depth = 0; level.size > 0 && depth < maxPathDepth; depth += 1) {
    const next = new Map<string, Place[]>();
    await readAll(place, 'tree', level, options, (id, bytes) => {
      const entries = parseTree(bytes, idBytes);
      if (!entries) return false;
      seen.add(id);
      for (const { commit, path } of (level.get(id) ?? []).slice(0, options.once ? 1 : undefined)) {
        const count = (counts.get(commit) ?? 0) + entries.length;
        counts.set(commit, count);
        if (count > maxRecordEntries) {
          if (walked.delete(commit)) options.tooLarge?.(commit);
          continue;
        }
        for (const entry of entries) {
          const below = path === '' ? entry.name : `${path}/${entry.name}`;
          if (entry.mode === '040000' && options.once && seen.has(entry.object)) continue;
          if (entry.mode === '040000') push(next, entry.object, { commit, path: below });
          else walked.get(commit)?.files.set(below, entry.object);
        }
      }
      return true;
    });
    level = next;
  }
  return walked;
}

function push(map: Map<string, Place[]>, object: string, where: Place): void {
  const places = map.get(object);
  if (places) places.push(where);
  else map.set(object, [where]);
}

/** `take` returns false for bytes that are not an object of `type`. */
async function readAll(
  place: GitDirectory,
  type: BrokenObject['type'],
  wanted: ReadonlyMap<string, readonly Place[]>,
  { verify = false, broken }: WalkOptions,
  take: (id: string, bytes: Buffer) => boolean,
): Promise<void> {
  if (wanted.size === 0) return;
  const heads = await readHeads(place, wanted.keys());
  await readEach(place, wanted.keys(), heads, (id, object) => {
    const fits = object?.type === type && (!verify || isItself(place, id, object.type, object.bytes));
    if (fits && take(id, object.bytes)) return;
    broken({ object: id, type }, wanted.get(id) ?? []);
  });
}

/** git trusts the name of a loose object. */
export function isItself(
  { objectFormat }: Pick<GitDirectory, 'objectFormat'>,
  id: string,
  type: string,
  bytes: Buffer,
): boolean {
  return objectId(objectFormat, type, bytes) === id;
}
