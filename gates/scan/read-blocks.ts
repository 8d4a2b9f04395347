import { open } from 'node:fs/promises';

const blockBytes = 256 * 1024;

/**
 * A file from its beginning, in blocks that share one memory: each is valid until the next is asked for. Throws what
 * reading throws.
 */
export async function* readBlocks(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  await using file = await open(path, 'r');
  const memory = Buffer.allocUnsafeSlow(blockBytes);
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(memory, 0, blockBytes);
    if (bytesRead === 0) return;
    yield memory.subarray(0, bytesRead);
  }
}
