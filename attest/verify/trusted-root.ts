import { createPublicKey, type KeyObject } from 'node:crypto';
import type { toTrustMaterial } from '@sigstore/verify';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { expectArray, expectBase64, expectObject, expectText, parseJsonObject } from '../expect-json.ts';
import { type LedgerKey, ledgerKeyFor } from '../log/ledger-key.ts';

type Root = Parameters<typeof toTrustMaterial>[0];
type Log = Root['tlogs'][number];
type Authority = Root['certificateAuthorities'][number];

/** Whom a `trusted_root.json` believes. */
export interface TrustedRoot {
  /** Of its logs those that sign notes with Ed25519, as our own code checks them. */
  readonly ledgers: readonly LedgerKey[];
  /** In the form that the sigstore library takes. */
  readonly root: Root;
}

const maxBytes = 4 * 1024 * 1024;

/**
 * Reads a sigstore trusted root 0.1 or 0.2 (protobuf JSON) strictly. A log or authority without a start of its validity is refused, as the sigstore
 * clients' conformance suite demands; so is a root that names nobody. ATTESTATION_MALFORMED.
 */
export function parseTrustedRoot(bytes: Uint8Array): TrustedRoot {
  const json = parseJsonObject(bytes, maxBytes);
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
  if (root.tlogs.length + root.certificateAuthorities.length === 0)
    throw new WritError('ATTESTATION_MALFORMED', {
      message: 'the trusted root names neither a log nor a certificate authority',
      detail: { what: 'trusted-root' },
    });
  return { root, ledgers: root.tlogs.flatMap(toLedger) };
}

/** A log that signs checkpoints under the host of its address, where the id that it is listed under says so. */
function toLedger({ baseUrl, publicKey, logId }: Log): readonly LedgerKey[] {
  const name = baseUrl.replace(/^https?:\/\//, '').replace(/\/$/, '');
  try {
    const spki: KeyObject = createPublicKey({
      key: publicKey?.rawBytes ?? Buffer.alloc(0),
      format: 'der',
      type: 'spki',
    });
    if (spki.asymmetricKeyType !== 'ed25519') return [];
    const key = ledgerKeyFor(name, spki);
    return logId && key.keyId.equals(logId.keyId) ? [key] : [];
  } catch (fault) {
    if (isWritError(fault)) return [];
    throw new WritError('ATTESTATION_MALFORMED', {
      message: `the key of the log \`${name}\` cannot be read`,
      detail: { what: 'trusted-root', name },
      cause: fault,
    });
  }
}

function readLog(value: unknown, at: string): Log {
  const log = expectObject(value, at);
  const key = expectObject(log.publicKey, `${at}/publicKey`);
  return {
    baseUrl: expectText(log.baseUrl, `${at}/baseUrl`, /^[!-~]{1,1024}$/),
    hashAlgorithm: 1,
    publicKey: {
      rawBytes: expectBase64(key.rawBytes, `${at}/publicKey/rawBytes`),
      keyDetails: keyDetailsOf(key.keyDetails, `${at}/publicKey/keyDetails`),
      validFor: readValidity(key.validFor, `${at}/publicKey/validFor`),
    },
    logId: readLogId(log.logId, `${at}/logId`),
    checkpointKeyId:
      log.checkpointKeyId === undefined ? undefined : readLogId(log.checkpointKeyId, `${at}/checkpointKeyId`),
    operator: '',
  };
}

function readLogId(value: unknown, at: string): { readonly keyId: Buffer } {
  return { keyId: expectBase64(expectObject(value, at).keyId, `${at}/keyId`) };
}

/** The library tells RSA in PKCS#1 from everything in SPKI by this number alone. */
function keyDetailsOf(value: unknown, at: string): number {
  const name = expectText(value, at, /^(?:PKIX|PKCS1)_[A-Z0-9_]{1,40}$/);
  return name.includes('RSA') ? 9 : name === 'PKIX_ED25519' ? 7 : 5;
}

function readAuthority(value: unknown, at: string): Authority {
  const authority = expectObject(value, at);
  const chain = expectObject(authority.certChain, `${at}/certChain`);
  const certificates = expectArray(chain.certificates, `${at}/certChain/certificates`, 16).map((one, n) => {
    const path = `${at}/certChain/certificates/${n}`;
    return { rawBytes: expectBase64(expectObject(one, path).rawBytes, `${path}/rawBytes`) };
  });
  return {
    subject: undefined,
    uri: '',
    certChain: { certificates },
    validFor: readValidity(authority.validFor, `${at}/validFor`),
    operator: '',
  };
}

function readValidity(value: unknown, at: string): { readonly start: Date; readonly end?: Date } {
  const { start, end } = expectObject(value, at);
  return {
    start: readMoment(start, `${at}/start`),
    ...(end === undefined ? {} : { end: readMoment(end, `${at}/end`) }),
  };
}

function readMoment(value: unknown, at: string): Date {
  const moment = new Date(expectText(value, at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/));
  if (Number.isFinite(moment.getTime())) return moment;
  throw new WritError('ATTESTATION_MALFORMED', {
    message: `expected a time that the calendar has at \`${at}\``,
    detail: { path: at },
  });
}
