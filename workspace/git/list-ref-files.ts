import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitDirectory } from './git.ts';
import { idAtStart, isMissing, readPackedRefs, readText } from './ref-files.ts';
import { isRefName } from './ref-name.ts';

/** A ref and what it names. */
export interface ListedRef {
  readonly ref: string;
  readonly object: string;
}

/** More are listed by git: it is quicker at that than we are. */
const maxEntries = 2_000;
const maxLooseBytes = 4096;

/**
 * Refs that fit `wanted`, in git's order, out of the files that git keeps refs in; only directories of `refs/` that
 * `isRoot` names are looked into. `undefined` where they are many, or anything is not plain (symbolic, damaged, no
 * file, kept in another way): ask git.
 */
export async function listRefFiles(
  place: GitDirectory,
  isRoot: (name: string) => boolean,
  wanted: RegExp,
): Promise<readonly ListedRef[] | undefined> {
  const { refsIn } = place;
  if (refsIn === undefined) return undefined;
  const found = new Map<string, string>();
  let entriesLeft = maxEntries;
  const isPlain = async (ref: string, entry: Dirent): Promise<boolean> => {
    if (entry.isDirectory()) return walk(ref);
    if (!entry.isFile()) return false;
    if (!wanted.test(ref)) return true;
    const text = await readText(join(refsIn, ref), maxLooseBytes);
    const id = text === 'missing' || !isRefName(ref) ? undefined : idAtStart(place, text)?.id;
    if (id !== undefined) found.set(ref, id);
    return id !== undefined;
  };
  const walk = async (directory: string): Promise<boolean> => {
    const entries = await readdir(join(refsIn, directory), { withFileTypes: true }).catch((fault: unknown) =>
      isMissing(fault) ? [] : undefined,
    );
    entriesLeft -= entries?.length ?? 0;
    if (entries === undefined || entriesLeft < 0) return false;
    // git passes over what it keeps beside refs itself.
    const kept = entries.filter(({ name }) => !name.startsWith('.') && !name.endsWith('.lock'));
    const chosen = directory === 'refs' ? kept.filter(({ name }) => isRoot(name)) : kept;
    const plain = await Promise.all(chosen.map((entry) => isPlain(`${directory}/${entry.name}`, entry)));
    return !plain.includes(false);
  };
  // First the files of single refs: what is packed meanwhile is found afterwards.
  if (!(await walk('refs'))) return undefined;
  const packed = await readPackedRefs(place, refsIn);
  if (packed === undefined) return undefined;
  for (const { ref, object } of packed) {
    if (!wanted.test(ref) || found.has(ref)) continue;
    if (!isRefName(ref)) return undefined;
    found.set(ref, object);
  }
  return [...found]
    .map(([ref, object]) => ({ ref, object }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
}
