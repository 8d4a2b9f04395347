import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';

/**
 * Creates a file with these bytes and returns its absolute path. `OUTPUT_EXISTS` where anything stands there, a symlink
 * too; a half-written file is removed.
 */
export function writeOutput(cwd: string, path: string, bytes: string | Uint8Array): string {
  const target = resolve(cwd, path);
  let descriptor: number;
  try {
    descriptor = openSync(target, 'wx');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new WritError('OUTPUT_EXISTS', {
        message: `\`${path}\` exists already`,
        detail: { path },
        cause,
      });
    }
    throw failed(path, cause);
  }
  try {
    const content = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written);
  } catch (cause) {
    unlinkSync(target);
    throw failed(path, cause);
  } finally {
    closeSync(descriptor);
  }
  return target;
}

function failed(path: string, cause: unknown): WritError {
  return new WritError('OUTPUT_FAILED', {
    message: `\`${path}\` cannot be written: ${messageOf(cause)}`,
    detail: { path },
    cause,
  });
}
