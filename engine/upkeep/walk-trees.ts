import { createHash } from 'node:crypto';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readEach, readHeads } from '../../workspace/git/read-each.ts';
import { maxRecordEntries } from '../../workspace/git/tree.ts';
import { parseTree } from '../../workspace/git/tree-object.ts';

/** A commit of ours with every file under it, read without a process per object. */
export interface WalkedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  /** Path → blob id; what could not be read is not in it. */
  readonly files: ReadonlyMap<string, string>;
}

/** A required git object that is missing or does not match its id. */
export interface BrokenObject {
  readonly object: string;
  readonly type: 'commit' | 'tree' | 'blob';
}

export interface WalkOptions {
  /** Verify the hash of each object; default false. */
  readonly verify?: boolean;
  /** Report each tree for one commit only, so that a long history costs only its changes; default false. */
  readonly once?: boolean;
  /**
   * Called for a commit with more than `maxRecordEntries` tree entries, because a few objects can expand to any
   * number of paths. Its walk stops and it is not in the result.
   */
  readonly tooLarge?: (commit: string) => void;
  /** Of a broken object: the commits walked that need it, and the path under them ('' for the commit or its root). */
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

/** Walks commits down to their blobs, level by level; a blob is not read. */
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
      const commit = parseHead(bytes);
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

/** `take` returns false if the bytes are not a valid object of this type. */
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

/** Git trusts a loose object's name; we do not. */
export function isItself(
  { objectFormat }: Pick<GitDirectory, 'objectFormat'>,
  id: string,
  type: string,
  bytes: Buffer,
): boolean {
  return createHash(objectFormat).update(`${type} ${bytes.length}\0`).update(bytes).digest('hex') === id;
}

function parseHead(
  bytes: Buffer,
): { readonly tree: string; readonly parents: readonly string[] } | undefined {
  const end = bytes.indexOf('\n\n');
  const lines = bytes.toString('latin1', 0, end < 0 ? bytes.length : end).split('\n');
  const tree = /^tree ([0-9a-f]{40,64})$/.exec(lines[0] ?? '')?.[1];
  if (tree === undefined) return undefined;
  const parents = lines.flatMap((line) => /^parent ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? []);
  return { tree, parents };
}
