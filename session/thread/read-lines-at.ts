import type { FileHandle } from 'node:fs/promises';
import { maxLineBytes, parseLine } from './read-chain.ts';

const chunkBytes = 256 * 1024;

/**
 * The lines that begin at these octets of a file, in rising order, each as the object that it is; `undefined` for one
 * that is none. Lines that stand together are read together.
 */
export async function* readLinesAt(
  file: FileHandle,
  places: readonly number[],
): AsyncGenerator<Readonly<Record<string, unknown>> | undefined> {
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
    yield end < 0 ? undefined : parseLine(read.subarray(at - from, end));
  }
}
