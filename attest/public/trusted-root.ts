/* Sigstore trusted roots: reads them and the logs in them, and writes one that names ledgers. */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { toTrustMaterial } from '@sigstore/verify';
import { isWritError, WritError } from '../../core/base/errors.ts';
import {
  expectAnyBase64,
  expectArray,
  expectObject,
  expectText,
  malformedAt,
  readProtoJson,
} from '../encoding/expect-json.ts';
import { algorithmOf, toSpki } from '../encoding/public-key.ts';
import { type LedgerKey, ledgerKeyFor } from '../log/note.ts';

export type Root = Parameters<typeof toTrustMaterial>[0];
type Log = Root['tlogs'][number];
type Authority = Root['certificateAuthorities'][number];

/** The authorities and logs that a `trusted_root.json`, or the lines of a `trusted_root.jsonl`, trust. */
export interface TrustedRoot {
  /** Of its logs those that sign notes with Ed25519, as our own code checks them. */
  readonly ledgers: readonly LedgerKey[];
  /** All logs and authorities, in the form of the sigstore library. */
  readonly root: Root;
  /**
   * The separate roots. A certificate is verified under exactly one of them. The root of its authority decides which
   * logs and time stamps are required: GitHub's root requires different ones than the public root.
   */
  readonly members: readonly Root[];
}

/** Octets of the largest file that is read. */
export const maxTrustedRootBytes = 4 * 1024 * 1024;
const maxRoots = 16;

/**
 * Reads a sigstore trusted root 0.1 or 0.2 (protobuf JSON, `null` being unset) strictly, or up to 16 of them, one on a
 * line, as `gh attestation trusted-root` prints them. A log or authority without a start of its validity is refused, as
 * the sigstore clients' conformance suite demands; so is a root without logs and authorities. ATTESTATION_MALFORMED.
 */
export function parseTrustedRoot(bytes: Uint8Array): TrustedRoot {
  const members = splitLines(bytes).map(({ line, text }) => {
    try {
      return parseRoot(text);
    } catch (fault) {
      if (line === undefined || !isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
      throw new WritError('ATTESTATION_MALFORMED', {
        message: `line ${line}: ${fault.message}`,
        detail: { ...fault.detail, line },
        cause: fault,
      });
    }
  });
  const [first, ...more] = members;
  if (first === undefined || more.length >= maxRoots)
    throw new WritError('ATTESTATION_MALFORMED', {
      message: `expected at most ${maxRoots} trusted roots, found ${members.length}`,
      detail: { what: 'trusted-root', expected: maxRoots, found: members.length },
    });
  const root: Root = {
    ...first,
    tlogs: members.flatMap(({ tlogs }) => tlogs),
    ctlogs: members.flatMap(({ ctlogs }) => ctlogs),
    certificateAuthorities: members.flatMap(({ certificateAuthorities }) => certificateAuthorities),
    timestampAuthorities: members.flatMap(({ timestampAuthorities }) => timestampAuthorities),
  };
  return { root, members, ledgers: root.tlogs.flatMap(toLedger) };
}

/** The lines of a file in which each line that is not blank begins an object; any other file is one document. */
function splitLines(bytes: Uint8Array): readonly { readonly line?: number; readonly text: Uint8Array }[] {
  if (bytes.length > maxTrustedRootBytes) return [{ text: bytes }];
  const lines = Buffer.from(bytes)
    .toString('latin1')
    .split('\n')
    .map((text, n) => ({ line: n + 1, text }))
    .filter(({ text }) => /[^ \t\r]/.test(text));
  const isLines = lines.length > 1 && lines.every(({ text }) => /^[ \t]*\{/.test(text));
  if (!isLines) return [{ text: bytes }];
  return lines.map(({ line, text }) => ({ line, text: Buffer.from(text, 'latin1') }));
}

function parseRoot(bytes: Uint8Array): Root {
  const json = readProtoJson(bytes, maxTrustedRootBytes);
  const mediaType = expectText(
    json.mediaType,
    '/mediaType',
    /^application\/vnd\.dev\.sigstore\.trustedroot(?:\+json;version=0\.[12]|\.v0\.[12]\+json)$/,
  );
  const read = <T>(name: string, item: (value: unknown, at: string) => T): T[] =>
    expectArray(json[name] ?? [], `/${name}`, 256).map((value, n) => item(value, `/${name}/${n}`));
  const root: Root = {
    mediaType,
    tlogs: read('tlogs', readLog),
    ctlogs: read('ctlogs', readLog),
    certificateAuthorities: read('certificateAuthorities', readAuthority),
    timestampAuthorities: read('timestampAuthorities', readAuthority),
  };
  if (root.tlogs.length + root.certificateAuthorities.length + root.timestampAuthorities.length === 0)
    throw new WritError('ATTESTATION_MALFORMED', {
      message: 'the trusted root names neither a log nor an authority',
      detail: { what: 'trusted-root' },
    });
  return root;
}

/** Returns the log as a checkpoint signer under its URL's host, if its listed id matches that name. */
function toLedger({ baseUrl, publicKey, logId }: Log): readonly LedgerKey[] {
  const name = baseUrl.replace(/^https?:\/\//, '').replace(/\/$/, '');
  try {
    const spki = createPublicKey({
      key: publicKey?.rawBytes ?? Buffer.alloc(0),
      format: 'der',
      type: 'spki',
    });
    if (spki.asymmetricKeyType !== 'ed25519') return [];
    const key = ledgerKeyFor(name, spki);
    return logId && key.keyId.equals(logId.keyId) ? [key] : [];
  } catch (fault) {
    if (isWritError(fault)) return [];
    throw fault;
  }
}

function readLog(value: unknown, at: string): Log {
  const log = expectObject(value, at);
  const key = expectObject(log.publicKey, `${at}/publicKey`);
  return {
    baseUrl: expectText(log.baseUrl, `${at}/baseUrl`, /^[!-~]{1,1024}$/),
    hashAlgorithm: 1,
    publicKey: {
      rawBytes: readLogKey(
        expectAnyBase64(key.rawBytes, `${at}/publicKey/rawBytes`),
        `${at}/publicKey/rawBytes`,
      ),
      // The library uses it only to learn that the key is SubjectPublicKeyInfo, which is always true here.
      keyDetails: 5,
      validFor: readValidity(key.validFor, `${at}/publicKey/validFor`),
    },
    logId: readLogId(log.logId, `${at}/logId`),
    checkpointKeyId:
      log.checkpointKeyId === undefined ? undefined : readLogId(log.checkpointKeyId, `${at}/checkpointKeyId`),
    operator: '',
  };
}

/** The key of a log as SubjectPublicKeyInfo; older roots hold RSA in PKCS #1. */
function readLogKey(der: Buffer, at: string): Buffer {
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      const key: KeyObject = createPublicKey({ key: der, format: 'der', type });
      return toSpki(key);
    } catch {
      // The refusal below covers keys in neither form.
    }
  }
  throw malformedAt(at, 'a public key');
}

function readLogId(value: unknown, at: string): { readonly keyId: Buffer } {
  return { keyId: expectAnyBase64(expectObject(value, at).keyId, `${at}/keyId`) };
}

function readAuthority(value: unknown, at: string): Authority {
  const authority = expectObject(value, at);
  const chain = expectObject(authority.certChain, `${at}/certChain`);
  const certificates = expectArray(chain.certificates, `${at}/certChain/certificates`, 16).map((one, n) => {
    const path = `${at}/certChain/certificates/${n}`;
    return { rawBytes: readCertificate(expectObject(one, path).rawBytes, `${path}/rawBytes`) };
  });
  return {
    subject: undefined,
    uri: '',
    certChain: { certificates },
    validFor: readValidity(authority.validFor, `${at}/validFor`),
    operator: '',
  };
}

function readCertificate(value: unknown, at: string): Buffer {
  const der = expectAnyBase64(value, at);
  try {
    if (new X509Certificate(der).raw.equals(der)) return der;
  } catch {
    // The refusal below names the fault.
  }
  throw malformedAt(at, 'a certificate');
}

/** A time range as protobuf JSON has it. Throws ATTESTATION_MALFORMED. */
export function readValidity(value: unknown, at: string): { readonly start: Date; readonly end?: Date } {
  const { start, end } = expectObject(value, at);
  return {
    start: readMoment(start, `${at}/start`),
    ...(end === undefined ? {} : { end: readMoment(end, `${at}/end`) }),
  };
}

function readMoment(value: unknown, at: string): Date {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
  const moment = new Date(expectText(value, at, form));
  if (Number.isFinite(moment.getTime())) return moment;
  throw malformedAt(at, 'a time that the calendar has');
}

/** A public log as a trusted root names it. */
export interface PublicLogKey {
  /** Its address without scheme: what it signs checkpoints by. */
  readonly name: string;
  /** 32 octets; the first four are the key hint in checkpoints. */
  readonly logId: Buffer;
  readonly key: KeyObject;
  /** Both ends included, milliseconds since the epoch. */
  readonly validFor: { readonly startMs: number; readonly endMs: number };
}

/** The logs of a trusted root with supported keys (Ed25519, ECDSA P-256); others are omitted. */
export function publicLogsOf({ root }: TrustedRoot): readonly PublicLogKey[] {
  return root.tlogs.flatMap(({ baseUrl, publicKey, logId, checkpointKeyId }) => {
    const name = baseUrl.replace(/^https?:\/\//, '').replace(/\/+$/, '');
    const id = Buffer.from((checkpointKeyId ?? logId)?.keyId ?? '');
    const key = readPublicKey(publicKey?.rawBytes);
    if (key === undefined || id.length !== 32) return [];
    const { start, end } = publicKey?.validFor ?? {};
    return [
      {
        name,
        logId: id,
        key,
        validFor: {
          // Without a start, no time is within the validity. The reader of the file already refuses such a root.
          startMs: start?.getTime() ?? Number.POSITIVE_INFINITY,
          endMs: end?.getTime() ?? Number.POSITIVE_INFINITY,
        },
      },
    ];
  });
}

function readPublicKey(der: Uint8Array | undefined): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der ?? ''), format: 'der', type: 'spki' });
    algorithmOf(key);
    return key;
  } catch {
    // RSA keys of old logs, listed as PKCS#1, and curves that we do not check.
    return undefined;
  }
}

/**
 * Formats a sigstore `trusted_root.json` (protobuf JSON) that lists only these logs, so that stock clients verify
 * writ's proofs. A ledger key has no date, so it is valid from the epoch on.
 */
export function formatTrustedRoot(keys: readonly LedgerKey[]): string {
  const root = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: keys.map((key) => ({
      baseUrl: `https://${key.name}`,
      hashAlgorithm: 'SHA2_256',
      publicKey: {
        rawBytes: toSpki(key.key).toString('base64'),
        keyDetails: 'PKIX_ED25519',
        validFor: { start: '1970-01-01T00:00:00.000Z' },
      },
      logId: { keyId: key.keyId.toString('base64') },
    })),
  };
  return `${JSON.stringify(root, null, 2)}\n`;
}
