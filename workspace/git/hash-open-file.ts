import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** Takes what is left of an open file into `hash`, a chunk at a time, and answers the digest in hexadecimal. */
export async function hashOpenFile(file: FileHandle, hash: Hash, chunk: Buffer): Promise<string> {
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, bytesRead));
  }
}
