import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { quotePath } from '../../readers/diff/read-sections.ts';
import { type GitDirectory, runGit } from './git.ts';
import type { Scratch } from './scratch.ts';

/** As `receive.unpackLimit`: fewer objects become loose files, more become one pack. */
const looseLimit = 100;
const looseMaxBytes = 32 * 1024 * 1024;
/** Where a pack says how many objects it has (gitformat-pack). */
const packCountAt = 8;

/** Trees whose objects are wanted: what the candidate needs and the base has not. */
export interface WantedTrees {
  readonly candidateTree: string;
  readonly baseTree: string;
}

/**
 * Copies every object that a scratch made itself, or those that `wanted` needs, into `target`, durable as the user's
 * git config says. An attempt that was refused leaves objects that must not be kept; git itself follows `wanted`, so
 * that they are left out. Objects are content-addressed: doing it twice, or half and then again, is harmless.
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
    // `--local`: not what the scratch only borrows from the target.
    const pack = await runGit(scratch, ['pack-objects', '--quiet', ...chosen, '--local', '--stdout'], {
      input,
      maxBytes: 4 * looseMaxBytes,
    });
    // Not with the scratch as alternate: git does not write what it can already read.
    if (pack.readUInt32BE(packCountAt) > 0)
      await runGit(target, ['unpack-objects', '-q', '--strict'], { input: pack });
    return;
  }
  const place = join(target.objectsDir, 'pack', 'pack');
  await runGit(target, ['pack-objects', '--quiet', ...chosen, '--non-empty', place], {
    input,
    // `:` separates directories there; git reads a C-quoted entry whole.
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(scratch.objectsDir, /:/) },
  });
}

function toLines(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join('');
}

/**
 * Copies every object below `objectsDir` into a scratch, under the id that its content has, whatever name it lies there
 * under. Links between them are not followed: what is missing is found missing by whoever needs it.
 */
export async function importRehashed(objectsDir: string, scratch: Scratch): Promise<void> {
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
