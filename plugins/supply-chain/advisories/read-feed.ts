import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { WritError } from '../../../core/base/errors.ts';
import { splitJson } from '../../../readers/advisories/split-json.ts';
import { zipEntries } from './zip-entries.ts';

const chunkBytes = 1024 * 1024;

/**
 * The records of a file one at a time, in its order: OSV records in JSON (one, a list, one after the other) or a zip
 * archive of such files, as OSV exports one. Told apart by the first bytes. INPUT_UNREADABLE, ADVISORIES_INVALID.
 */
export async function* readFeed(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw unreadable(
        path,
        cause.code === 'ENOENT' ? 'there is no such file' : (cause.code ?? 'it cannot be opened'),
      );
    },
  );
  try {
    if (!(await file.stat()).isFile()) throw unreadable(path, 'it is not a regular file');
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.toString('latin1').startsWith('PK')) {
      for await (const entry of zipEntries(file)) yield* splitJson(once(entry));
    } else yield* splitJson(chunksOf(file));
  } finally {
    await file.close();
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function unreadable(path: string, reason: string): WritError {
  return new WritError('INPUT_UNREADABLE', {
    message: `\`${path}\` cannot be read: ${reason}`,
    detail: { path, reason },
  });
}
