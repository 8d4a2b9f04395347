import type { FileHandle } from 'node:fs/promises';
import { WritError } from '../../../core/base/errors.ts';
import { maxRecordBytes } from '../../../readers/advisories/split-json.ts';
import type { ArchiveFault } from '../../../readers/documents/archive/archive-fault.ts';
import { zipMembers } from '../../../readers/documents/archive/read-zip.ts';

const limits = {
  members: 4_000_000,
  bytes: 64 * 1024 ** 3,
  memberBytes: maxRecordBytes,
  isPlain: false,
  isWanted: (name: string) => name.toLowerCase().endsWith('.json'),
};

/**
 * Contents of the `.json` files in a zip archive (zip64 too), one at a time, in the order of its directory. What the
 * reader of archives refuses and anything beyond the bounds is ADVISORIES_INVALID. Names are never used as paths.
 */
export async function* zipEntries(file: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await file.stat();
  const steps = zipMembers(size, limits);
  let step = steps.next();
  while (!step.done) {
    const asked = step.value;
    if ('name' in asked) {
      yield asked.bytes;
      step = steps.next(asked.bytes);
    } else step = steps.next(await readAt(file, asked.at, asked.length));
  }
  if (step.value) throw invalid(step.value);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
  return bytes.subarray(0, bytesRead);
}

function invalid({ fault, bound, cause }: ArchiveFault): WritError {
  const reason = bound === 'memberBytes' ? `a record has more than ${maxRecordBytes} bytes` : fault;
  return new WritError('ADVISORIES_INVALID', { message: `the archive cannot be read: ${reason}`, cause });
}
