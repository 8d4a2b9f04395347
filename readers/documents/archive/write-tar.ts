import type { TarPart } from './read-tar.ts';
import { tarChecksum } from './tar-checksum.ts';

const block = 512;

/** The archive of these members, their headers with the sizes that they have now. */
export function writeTar(parts: readonly TarPart[]): Buffer {
  return Buffer.concat(
    parts.flatMap(({ header, bytes }, index) => {
      if (index === parts.length - 1 && bytes.length === 0 && header.every((octet) => octet === 0))
        return [header];
      const changed = Buffer.from(header);
      changed.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
      changed.write(`${tarChecksum(changed).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      return [changed, bytes, Buffer.alloc((block - (bytes.length % block)) % block)];
    }),
  );
}
