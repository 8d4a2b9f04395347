/* Reads the files that a command line names, within their size limit. */
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isWritError, WritError } from '../core/base/errors.ts';

// The ES-module face of node:fs loads its promise API too: a tenth of the whole start-up.
const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');

/** From where files are named, and what `-` is. */
export interface InputSource {
  readonly cwd: string;
  readonly stdin: Readable;
  readonly signal: AbortSignal;
}

const chunkBytes = 64 * 1024;

/**
 * The bytes of a file named on the command line; `-` is stdin. `INPUT_UNREADABLE` for what cannot be read (a directory
 * too), `INPUT_TOO_LARGE` beyond `maxBytes`. A FIFO is read as long as someone writes to it and never waited for.
 */
export async function readInput(
  context: InputSource,
  path: string,
  limit: { readonly maxBytes: number },
): Promise<Buffer> {
  context.signal.throwIfAborted();
  if (path === '-') return readStream(context.stdin, path, limit.maxBytes, context.signal);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(resolve(context.cwd, path), constants.O_RDONLY | constants.O_NONBLOCK);
    const status = fstatSync(descriptor);
    if (status.isDirectory()) throw unreadable(path, 'it is a directory');
    if (status.isFIFO()) {
      const first = readAvailable(descriptor);
      if (first?.length === 0) return first;
      const { Socket } = await import('node:net');
      const pipe = new Socket({ fd: descriptor, readable: true, writable: false });
      descriptor = undefined;
      return await readStream(pipe, path, limit.maxBytes, context.signal, first);
    }
    if (status.isFile() && status.size > limit.maxBytes) throw tooLarge(path, limit.maxBytes);
    return readDescriptor(descriptor, path, limit.maxBytes, status.isFile() ? status.size : 0);
  } catch (cause) {
    if (isWritError(cause) || context.signal.aborted) throw cause;
    throw unreadable(path, reasonOf(cause), cause);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Reads once without blocking. Returns an empty buffer if the pipe has no writer, because polling would wait forever.
 * Returns `undefined` if data is not available yet.
 */
function readAvailable(descriptor: number): Buffer | undefined {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  try {
    return chunk.subarray(0, readSync(descriptor, chunk));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw fault;
  }
}

/** Reads to the end regardless of the reported size: files may grow, and devices report 0. */
function readDescriptor(descriptor: number, path: string, maxBytes: number, expected: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  for (let size = expected + 1; ; size = chunkBytes) {
    const chunk = Buffer.allocUnsafe(size);
    const count = readSync(descriptor, chunk);
    if (count === 0)
      return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, total);
    total += count;
    if (total > maxBytes) throw tooLarge(path, maxBytes);
    chunks.push(chunk.subarray(0, count));
  }
}

async function readStream(
  stream: Readable,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
  first: Buffer = Buffer.alloc(0),
): Promise<Buffer> {
  const stop = (): void => {
    stream.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  };
  signal.addEventListener('abort', stop, { once: true });
  const chunks: Buffer[] = [first];
  let total = first.length;
  try {
    if (total > maxBytes) throw tooLarge(path, maxBytes);
    for await (const chunk of stream) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      total += bytes.length;
      if (total > maxBytes) throw tooLarge(path, maxBytes);
      chunks.push(bytes);
    }
  } catch (cause) {
    if (isWritError(cause)) throw cause;
    throw unreadable(path, reasonOf(cause), cause);
  } finally {
    signal.removeEventListener('abort', stop);
    stream.destroy();
  }
  return Buffer.concat(chunks, total);
}

function unreadable(path: string, reason: string, cause?: unknown): WritError {
  return new WritError('INPUT_UNREADABLE', {
    message: `\`${path}\` cannot be read: ${reason}`,
    detail: { path, expected: 'a readable file, or `-` for stdin', found: reason },
    cause,
  });
}

function tooLarge(path: string, maxBytes: number): WritError {
  return new WritError('INPUT_TOO_LARGE', {
    message: `\`${path}\` is larger than ${maxBytes} bytes`,
    detail: { path, expected: `at most ${maxBytes} bytes`, maxBytes },
  });
}

/** Why a file cannot be read, in our own words. */
export function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a directory',
    ENOTDIR: 'a part of the path is not a directory',
    ELOOP: 'too many symbolic links',
    ENXIO: 'it is a socket or a device without a reader',
    EAGAIN: 'it is a terminal; use `-` to read from it',
    ENAMETOOLONG: 'the name is too long',
  };
  return (
    (code === undefined ? undefined : (reasons[code] ?? code)) ??
    (cause instanceof Error ? cause.message : String(cause))
  );
}
