/* Moves or copies objects from a scratch directory into a repository. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { quotePath } from '../../readers/diff/read-sections.ts';
import { type GitDirectory, runGit } from './git.ts';
import { type Borrowable, createScratch, type Scratch } from './scratch.ts';
import { makeLikeParent } from './write-tree.ts';

/** As `receive.unpackLimit`: fewer objects become loose files, more become one pack. */
const looseLimit = 100;
const looseMaxBytes = 32 * 1024 * 1024;
/** Offset of the object count in a pack (gitformat-pack). */
const packCountAt = 8;

/** Selects the objects that the candidate needs and the base does not have. */
interface WantedTrees {
  readonly candidateTree: string;
  readonly baseTree: string;
}

/**
 * Copies every object that a scratch created, or those that `wanted` selects, into `target`, as durable as the user's
 * git config says. A refused attempt leaves objects in the scratch that must not be kept. Copying twice, or half and
 * then again, is harmless.
 */
export async function importObjects(
  scratch: Scratch,
  target: GitDirectory & { readonly objectsDir: string },
  wanted?: WantedTrees,
): Promise<void> {
  const { ids, bytes } = await ownObjects(scratch);
  if (ids.length === 0) return;
  const input = toLines(wanted ? [wanted.candidateTree, `^${wanted.baseTree}`] : ids);
  const chosen = wanted ? ['--revs'] : [];
  if (ids.length < looseLimit && bytes < looseMaxBytes) {
    // `--local` leaves out what the scratch only borrows from the target.
    const pack = await runGit(scratch, ['pack-objects', '--quiet', ...chosen, '--local', '--stdout'], {
      input,
      maxBytes: 4 * looseMaxBytes,
    });
    // Without the scratch as an alternate: git does not write what it can already read.
    if (pack.readUInt32BE(packCountAt) > 0)
      await runGit(target, ['unpack-objects', '-q', '--strict'], { input: pack });
    return;
  }
  const place = join(target.objectsDir, 'pack', 'pack');
  await runGit(target, ['pack-objects', '--quiet', ...chosen, '--non-empty', place], {
    input,
    // `:` separates directories in this variable; git accepts a C-quoted entry.
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(scratch.objectsDir, /:/) },
  });
}

function toLines(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join('');
}

/**
 * Copies every object below `objectsDir` into a scratch, under the id of its content, whatever its name there.
 * References between them are not followed.
 */
async function importRehashed(objectsDir: string, scratch: Scratch): Promise<void> {
  const { ids, bytes } = await ownObjects({ ...scratch, objectsDir });
  if (ids.length === 0) return;
  const input = toLines(ids);
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(objectsDir, /:/) };
  if (ids.length < looseLimit && bytes < looseMaxBytes) {
    const maxBytes = 4 * looseMaxBytes;
    const pack = await runGit(scratch, ['pack-objects', '--quiet', '--stdout'], { input, env, maxBytes });
    await runGit(scratch, ['unpack-objects', '-q'], { input: pack });
    return;
  }
  const place = join(scratch.objectsDir, 'pack', 'pack');
  const made = await runGit(scratch, ['pack-objects', '--quiet', place], { input, env });
  for (const name of made.toString('latin1').trim().split('\n'))
    await runGit(scratch, ['index-pack', '--verify', `${place}-${name}.pack`]);
}

async function ownObjects(scratch: Scratch): Promise<{ ids: readonly string[]; bytes: number }> {
  const ids: string[] = [];
  let bytes = 0;
  const digits = scratch.objectFormat === 'sha1' ? 40 : 64;
  for (const fan of await readdir(scratch.objectsDir)) {
    if (!/^[0-9a-f]{2}$/.test(fan)) continue;
    for (const rest of await readdir(join(scratch.objectsDir, fan))) {
      if (rest.length !== digits - 2 || !/^[0-9a-f]+$/.test(rest)) continue;
      ids.push(fan + rest);
      if (ids.length < looseLimit) bytes += (await stat(join(scratch.objectsDir, fan, rest))).size;
    }
  }
  for (const name of await readdir(join(scratch.objectsDir, 'pack'))) {
    if (!name.endsWith('.idx')) continue;
    const listed = await runGit(scratch, ['show-index', `--object-format=${scratch.objectFormat}`], {
      input: await readFile(join(scratch.objectsDir, 'pack', name)),
    });
    for (const line of listed.toString('latin1').split('\n'))
      if (line !== '') ids.push(line.split(' ')[1] ?? '');
    bytes = looseMaxBytes;
  }
  return { ids: ids.sort(), bytes };
}

/**
 * Moves every object that a scratch created into `target` by renaming files, as git does with pushed objects: no
 * extra space, and no leftover after a kill. Across file systems it copies. The scratch is unusable afterwards.
 */
export async function adoptObjects(
  scratch: Scratch,
  target: GitDirectory & { readonly objectsDir: string },
): Promise<void> {
  try {
    for (const fan of await readdir(scratch.objectsDir)) {
      if (!/^[0-9a-f]{2}$/.test(fan)) continue;
      const from = join(scratch.objectsDir, fan);
      const names = (await readdir(from)).filter((name) => /^[0-9a-f]{38,62}$/.test(name));
      await moveAll(names, from, join(target.objectsDir, fan));
    }
    const from = join(scratch.objectsDir, 'pack');
    const names = (await readdir(from)).filter((name) => name.startsWith('pack-'));
    // git uses a pack as soon as its index exists, so the index comes last.
    const isIndex = (name: string): boolean => name.endsWith('.idx');
    await moveAll(
      [...names.filter((name) => !isIndex(name)), ...names.filter(isIndex)],
      from,
      join(target.objectsDir, 'pack'),
    );
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EXDEV')) throw fault;
    await importObjects(scratch, target);
  }
}

async function moveAll(names: readonly string[], from: string, to: string): Promise<void> {
  if (names.length === 0) return;
  await makeLikeParent(to);
  for (const name of names) {
    if (!existsSync(join(to, name))) await rename(join(from, name), join(to, name));
  }
}

/**
 * Creates a scratch at `dir` with the objects that an earlier process left there. Each object gets the id of its
 * content, so a changed object is missing. All other files, especially config and hooks, are dropped. OBJECT_CORRUPT
 * if git cannot read the objects.
 */
export async function takeUpScratch(dir: string, over: Borrowable): Promise<Scratch> {
  const before = `${dir}-before`;
  // If the earlier directory exists, `dir` is an incomplete copy of it.
  if (existsSync(before)) await rm(dir, { recursive: true, force: true });
  else if (existsSync(dir)) await rename(dir, before);
  const scratch = await createScratch(dir, over);
  if (!existsSync(before)) return scratch;
  try {
    await importRehashed(join(before, 'objects'), scratch);
  } catch (cause) {
    throw new WritError('OBJECT_CORRUPT', {
      message: 'what the run kept of its candidates cannot be read',
      detail: { path: before },
      cause,
    });
  }
  await rm(before, { recursive: true, force: true });
  return scratch;
}
