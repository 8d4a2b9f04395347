import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomOctets } from '../../core/base/ids.ts';
import type { Scratch } from './scratch.ts';

/** An object before it is written. */
export interface NewObject {
  readonly type: 'blob' | 'tree' | 'commit';
  readonly bytes: Uint8Array;
}

/** The id of an object, as git reckons it. */
function objectIdOf(format: Scratch['objectFormat'], { type, bytes }: NewObject): string {
  return createHash(format).update(headerOf(type, bytes)).update(bytes).digest('hex');
}

/**
 * Writes an object into a scratch as git does, in a file of its own, whole or not at all; answers its id. With
 * `durable` it outlives a power cut from then on.
 */
export async function writeLooseObject(
  scratch: Pick<Scratch, 'objectsDir' | 'objectFormat'>,
  object: NewObject,
  durable: boolean,
): Promise<string> {
  const { type, bytes } = object;
  const id = objectIdOf(scratch.objectFormat, object);
  const dir = join(scratch.objectsDir, id.slice(0, 2));
  const path = join(dir, id.slice(2));
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (isThere) return id;
  // Loaded here: who only reads a repository needs none.
  const { deflate } = await import('node:zlib');
  // As fast as git writes its own: what is kept for long is packed anew.
  const packed = await promisify(deflate)(Buffer.concat([headerOf(type, bytes), bytes]), { level: 1 });
  await mkdir(dir, { recursive: true });
  const draft = join(dir, `tmp_obj_${randomOctets(8).toString('hex')}`);
  try {
    const file = await open(draft, 'wx', 0o444);
    try {
      await file.writeFile(packed);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true });
    throw fault;
  }
  return id;
}

function headerOf(type: string, bytes: Uint8Array): Buffer {
  return Buffer.from(`${type} ${bytes.length}\0`);
}
