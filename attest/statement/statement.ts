/* The in-toto Statement v1 that every attestation signs, and the digests of its subjects. */
import { WritError } from '../../core/base/errors.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import { expectObject, expectText } from '../encoding/expect-json.ts';

/** Algorithm → lower-case hex, e.g. `sha256`, `gitCommit`, `gitTree` (in-toto DigestSet). */
export type DigestSet = Readonly<Record<string, string>>;

/** The members of an in-toto v1 ResourceDescriptor that writ writes. */
export interface ResourceDescriptor {
  readonly name: string;
  readonly uri?: string;
  readonly digest: DigestSet;
  readonly mediaType?: string;
  readonly annotations?: Readonly<Record<string, readonly string[]>>;
}

/** in-toto Statement v1 around one kind of predicate. */
export interface Statement<Predicate = unknown> {
  readonly _type: typeof statementType;
  readonly subject: readonly ResourceDescriptor[];
  readonly predicateType: string;
  readonly predicate: Predicate;
}

export const statementType = 'https://in-toto.io/Statement/v1';

/** The digests that identify a sealed change. */
export type SealedChange = Pick<AttestRequest, 'commit' | 'tree' | 'patchDigest'>;

/** A statement about a sealed change. */
export function statementAbout<Predicate>(
  change: SealedChange,
  predicateType: string,
  predicate: Predicate,
): Statement<Predicate> {
  return { _type: statementType, subject: subjectsOf(change), predicateType, predicate };
}

/** Exactly these three subjects, in this order. */
export function subjectsOf({ commit, tree, patchDigest }: SealedChange): readonly ResourceDescriptor[] {
  return [
    toDescriptor({ name: 'commit', digest: { gitCommit: commit } }),
    toDescriptor({ name: 'tree', digest: { gitTree: tree } }),
    toDescriptor({ name: 'patchset.diff', digest: { sha256: patchDigest } }),
  ];
}

/** Copies the known members in a fixed order. An ill-formed name or digest is INTERNAL: writ never signs nonsense. */
export function toDescriptor(thing: AttestRequest['byproducts'][number]): ResourceDescriptor {
  const { name, uri, mediaType, annotations } = thing;
  requireForm('name', name, /^[^\p{Cc}]{1,4096}$/u);
  const digests = Object.entries(thing.digest);
  if (digests.length === 0) throw nonsense(name, 'no digest');
  for (const [algorithm, hex] of digests)
    requireForm(
      `${name} ${algorithm}`,
      hex,
      writtenDigests.includes(algorithm) ? digestForm(algorithm) : /^(?!)/,
    );
  for (const word of Object.entries(annotations ?? {}).flat(2))
    requireForm(`${name} annotations`, word, /^[^\p{Cc}]{1,512}$/u);
  return {
    name,
    ...(uri === undefined ? {} : { uri }),
    digest: { ...thing.digest },
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(annotations === undefined ? {} : { annotations: structuredClone(annotations) }),
  };
}

export function requireForm(what: string, text: string, form: RegExp): void {
  if (!form.test(text)) throw nonsense(what, `\`${text.slice(0, 80)}\``);
}

export function nonsense(what: string, found: string): WritError {
  return new WritError('INTERNAL', {
    message: `a provenance statement cannot say this of ${what}: found ${found}`,
    detail: { what },
  });
}

/** Lower-case hex of a SHA-256. */
export const sha256Form = /^[0-9a-f]{64}$/;
/** A git object id, SHA-1 or SHA-256. */
export const gitIdForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const writtenDigests: readonly string[] = ['sha256', 'sha512', 'gitCommit', 'gitTree', 'gitBlob'];

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

/** Algorithms for which an attacker can make two texts of one digest. */
export const weakDigests: readonly string[] = ['md5', 'sha1', 'ripemd160', 'gost'];

/** The form of a digest; any visible text for an algorithm that is not known. */
function digestForm(algorithm: string): RegExp {
  const lengths = Object.hasOwn(digestLengths, algorithm) ? digestLengths[algorithm] : undefined;
  if (lengths === undefined) return /^[!-~]{1,512}$/;
  return new RegExp(`^(?:${lengths.map((length) => `[0-9a-f]{${length}}`).join('|')})$`);
}

/** Folds names that a careless reader would confuse into one spelling. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_/]/g, '');
}

const folded = new Map(Object.keys(digestLengths).map((name) => [fold(name), name]));

/**
 * Reads a DigestSet: a digest of a known algorithm is lower-case hex of its length, a near miss of a known name
 * (`SHA256`, `sha-256`) is refused, and digests of other algorithms are kept as text. May be empty.
 * ATTESTATION_MALFORMED.
 */
export function readDigestSet(value: unknown, at: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(expectObject(value, at)).map(([name, digest]) => {
      expectText(name, `${at}/${name.slice(0, 64)}`, /^[A-Za-z][A-Za-z0-9_.:/-]{0,63}$/);
      const meant = folded.get(fold(name));
      if (meant !== undefined) expectText(name, `${at}/${name}`, new RegExp(`^${meant}$`));
      return [name, expectText(digest, `${at}/${name}`, digestForm(name))] as const;
    }),
  );
}
