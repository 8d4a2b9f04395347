const block = 512;
const maxMembers = 100_000;

/** A header with its content, as they follow each other; the end of the archive is one without content. */
export interface TarPart {
  readonly header: Buffer;
  readonly bytes: Buffer;
}

/** Whether bytes begin with a tar header (POSIX, GNU). */
export function isTar(head: string): boolean {
  return head.startsWith('ustar', 257);
}

/** The members of a tar archive, its extended headers among them; `undefined` for what is cut off or malformed. */
export function readTar(bytes: Buffer): readonly TarPart[] | undefined {
  const parts: TarPart[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    if (header.every((byte) => byte === 0))
      return [...parts, { header: bytes.subarray(at), bytes: Buffer.alloc(0) }];
    const written = /^ {0,11}([0-7]{1,11})[\0 ]/.exec(header.toString('latin1', 124, 136))?.[1];
    const size = Number.parseInt(written ?? '', 8);
    if (
      Number.isNaN(size) ||
      header.length < block ||
      checksumOf(header) !== Number.parseInt(header.toString('latin1', 148, 156), 8)
    )
      return undefined;
    const end = at + block + size;
    if (end > bytes.length || parts.length >= maxMembers) return undefined;
    parts.push({ header, bytes: bytes.subarray(at + block, end) });
    at = Math.min(bytes.length, at + block + Math.ceil(size / block) * block);
  }
  return parts;
}

/** The archive of these members, their headers with the sizes that they have now. */
export function writeTar(parts: readonly TarPart[]): Buffer {
  return Buffer.concat(
    parts.flatMap(({ header, bytes }, index) => {
      if (index === parts.length - 1 && bytes.length === 0 && header.every((byte) => byte === 0))
        return [header];
      const changed = Buffer.from(header);
      changed.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
      changed.write(`${checksumOf(changed).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      return [changed, bytes, Buffer.alloc((block - (bytes.length % block)) % block)];
    }),
  );
}

/** Sum of a header's bytes, its own field taken for blanks. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < header.length; at += 1) sum += at >= 148 && at < 156 ? 32 : (header[at] as number);
  return sum;
}
