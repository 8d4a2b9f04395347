import { expectObject, expectText } from '../encoding/expect-json.ts';

/** Hex digits of a digest by the name that in-toto gives its algorithm (`digest_set.md`). */
export const digestLengths: Readonly<Record<string, readonly number[]>> = {
  md5: [32],
  sha1: [40],
  ripemd160: [40],
  sha224: [56],
  sha512_224: [56],
  sha3_224: [56],
  sha256: [64],
  sha512_256: [64],
  sha3_256: [64],
  blake2s: [64],
  sm3: [64],
  gost: [64],
  dirHash: [64],
  sha384: [96],
  sha3_384: [96],
  sha512: [128],
  sha3_512: [128],
  blake2b: [128],
  gitCommit: [40, 64],
  gitTree: [40, 64],
  gitBlob: [40, 64],
  gitTag: [40, 64],
};

/** Those for which somebody can make two texts of one digest. */
export const weakDigests: readonly string[] = ['md5', 'sha1', 'ripemd160', 'gost'];

/** One spelling for names that a careless reader would take for each other. */
const folded = new Map(Object.keys(digestLengths).map((name) => [fold(name), name]));

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_/]/g, '');
}

/**
 * Reads a DigestSet: digests of known algorithms are lower-case hex of their length, a name that is only nearly one of
 * theirs (`SHA256`, `sha-256`) is refused, others are kept as text that nothing compares. Empty is empty.
 * ATTESTATION_MALFORMED.
 */
export function readDigestSet(value: unknown, at: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(expectObject(value, at)).map(([name, digest]) => {
      expectText(name, `${at}/${name.slice(0, 64)}`, /^[A-Za-z][A-Za-z0-9_.:/-]{0,63}$/);
      const lengths = Object.hasOwn(digestLengths, name) ? digestLengths[name] : undefined;
      const meant = folded.get(fold(name));
      if (lengths === undefined && meant !== undefined)
        expectText(name, `${at}/${name}`, new RegExp(`^${meant}$`));
      const form = lengths
        ? new RegExp(`^(?:${lengths.map((length) => `[0-9a-f]{${length}}`).join('|')})$`)
        : /^[!-~]{1,512}$/;
      return [name, expectText(digest, `${at}/${name}`, form)] as const;
    }),
  );
}
