import type { FileHandle } from 'node:fs/promises';
import { maxLineBytes } from './read-chain.ts';

const chunkBytes = 256 * 1024;

/**
 * The lines that begin at these octets of a file, in rising order; `undefined` for one that has no end. Lines that
 * stand together are read together, and a line is good until the next one is asked for.
 */
export async function* readLinesAt(
  file: FileHandle,
  places: readonly number[],
): AsyncGenerator<Buffer | undefined> {
  let from = 0;
  let read: Buffer = Buffer.alloc(0);
  const upTo = async (at: number, length: number): Promise<void> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    [from, read] = [at, buffer.subarray(0, bytesRead)];
  };
  for (const at of places) {
    let end = at < from ? -1 : read.indexOf(10, at - from);
    for (let length = chunkBytes; end < 0 && length <= maxLineBytes; length *= 4) {
      await upTo(at, length);
      end = read.indexOf(10);
    }
    yield end < 0 ? undefined : read.subarray(at - from, end);
  }
}
