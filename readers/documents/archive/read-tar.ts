import type { ArchiveFault } from './archive-fault.ts';
import { tarChecksum } from './tar-checksum.ts';

const block = 512;
const noNumber = { fault: 'a header holds no octal number where one is due' };

/** A header with its content, as they follow each other; the end of the archive is one without content. */
export interface TarPart {
  readonly header: Buffer;
  readonly bytes: Buffer;
}

export interface TarLimits {
  /** Extended headers count. */
  readonly members: number;
  /**
   * Every header is one of ustar, and two empty blocks end the archive, as what one reader takes for its end another
   * may read past. Else one empty block ends it, or the end of the bytes.
   */
  readonly isStrict: boolean;
}

/** Whether bytes begin with a tar header (POSIX, GNU). */
export function isTar(head: string): boolean {
  return head.startsWith('ustar', 257);
}

/**
 * The members of a tar archive, its extended headers among them; what they are named and whether they are files is not
 * looked at. A fault: a wrong checksum, a size that is not octal (the binary form is for files beyond 8 GiB), what is
 * cut off, too many members.
 */
export function readTar(bytes: Buffer, { members, isStrict }: TarLimits): readonly TarPart[] | ArchiveFault {
  const parts: TarPart[] = [];
  for (let at = 0; at + (isStrict ? block : 1) <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    if (isEmpty(header)) {
      const next = bytes.subarray(at + block, at + 2 * block);
      if (isStrict && !(next.length === block && isEmpty(next)))
        return { fault: 'the archive has no end of two empty blocks' };
      return [...parts, { header: bytes.subarray(at), bytes: Buffer.alloc(0) }];
    }
    if (isStrict && !isTar(header.toString('latin1'))) return { fault: 'expected a ustar archive' };
    if (header.length < block) return { fault: 'the archive is cut off' };
    const sum = octalOf(header.subarray(148, 156));
    if (sum === undefined) return noNumber;
    if (sum !== tarChecksum(header)) return { fault: 'a header has a wrong checksum' };
    const size = octalOf(header.subarray(124, 136));
    if (size === undefined) return noNumber;
    const end = at + block + size;
    if (end > bytes.length) return { fault: 'the archive is cut off' };
    if (parts.length >= members)
      return { fault: `the archive has more than ${members} members`, bound: 'members' };
    parts.push({ header, bytes: bytes.subarray(at + block, end) });
    at += block + Math.ceil(size / block) * block;
  }
  return isStrict ? { fault: 'the archive has no end' } : parts;
}

function octalOf(field: Buffer): number | undefined {
  const digits = /^ *([0-7]{1,11})[ \0]*$/.exec(field.toString('latin1'))?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}

function isEmpty(header: Buffer): boolean {
  return header.every((octet) => octet === 0);
}
