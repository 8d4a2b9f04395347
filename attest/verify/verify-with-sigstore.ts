import type { KeyObject } from 'node:crypto';
import type { SignedEntity } from '@sigstore/verify';
import type { AnyBundle } from './any-bundle.ts';
import { readDerText } from './certificate-claims.ts';
import { refuted, unavailable } from './report.ts';
import type { TrustedRoot } from './trusted-root.ts';

export interface SigstoreTrust {
  readonly root: TrustedRoot;
  /** The managed key to judge by; absent: the bundle's certificate. */
  readonly key?: KeyObject;
  /** Judges a certificate at this time, which the caller vouches for, instead of at logged ones. Milliseconds since the epoch. */
  readonly atMs?: number;
  /** What a message signature was made over. */
  readonly artifact?: Buffer;
}

/**
 * Has the sigstore library verify a bundle: certificate chain at the signed time, certificate log, transparency log, time stamps, signature. Thresholds
 * are one of each kind that the trusted root names; of the times always one where a certificate signs. Not compared: subjects and identity. Throws
 * refusals for a check list, `detail.at` being `log` where the log is at fault. Gives the issuer that a certificate names.
 */
export async function verifyWithSigstore(
  bundle: AnyBundle,
  trust: SigstoreTrust,
): Promise<{ readonly issuer: string | undefined }> {
  const [{ bundleFromJSON }, { toSignedEntity, toTrustMaterial, Verifier }] = await Promise.all([
    import('@sigstore/bundle'),
    import('@sigstore/verify'),
  ]);
  const { root, key, artifact, atMs } = trust;
  const material = toTrustMaterial(root.root, key && (() => ({ publicKey: key, validFor: () => true })));
  const { tlogs, ctlogs } = root.root;
  const verifier = new Verifier(material, {
    tlogThreshold: tlogs.length > 0 && atMs === undefined ? 1 : 0,
    ctlogThreshold: ctlogs.length > 0 ? 1 : 0,
    timestampThreshold: key ? 0 : 1,
  });
  try {
    const entity = toSignedEntity(bundleFromJSON(bundle.json), artifact);
    const judged = atMs === undefined ? entity : { ...entity, timestamps: [statedTime(atMs)] };
    return { issuer: issuerOf(verifier.verify(judged).identity?.oids ?? []) };
  } catch (fault) {
    throw toRefusal(fault, bundle.entries.length);
  }
}

/** A time in the only form that the library takes: that of a log which promised an entry. */
function statedTime(atMs: number): SignedEntity['timestamps'][number] {
  const octets = Buffer.alloc(0);
  return {
    $case: 'transparency-log',
    tlogEntry: {
      logIndex: '0',
      logId: { keyId: octets },
      kindVersion: { kind: '', version: '' },
      integratedTime: String(Math.floor(atMs / 1000)),
      inclusionPromise: { signedEntryTimestamp: octets },
      inclusionProof: undefined,
      canonicalizedBody: octets,
    },
  };
}

/** Fulcio's issuer extension, a UTF8String, or its forerunner that held the bare text; the same one twice names nobody. */
function issuerOf(
  extensions: readonly {
    readonly oid: { readonly id: readonly number[] } | undefined;
    readonly value: Buffer;
  }[],
): string | undefined {
  const valuesOf = (oid: string): readonly Buffer[] =>
    extensions.filter((extension) => extension.oid?.id.join('.') === oid).map(({ value }) => value);
  const wrapped = valuesOf('1.3.6.1.4.1.57264.1.8');
  const [value, ...more] = wrapped.length > 0 ? wrapped : valuesOf('1.3.6.1.4.1.57264.1.1');
  if (value === undefined || more.length > 0) return undefined;
  return (wrapped.length > 0 ? readDerText(value) : value)?.toString('utf8');
}

/** Whatever the library throws at hostile input, errors of the runtime included, is a refusal. */
function toRefusal(fault: unknown, entries: number): Error {
  const { code, message, cause } = Object(fault) as { code?: unknown; message?: unknown; cause?: unknown };
  const reason = String(message).slice(0, 300);
  const inner = String(Object(cause).message ?? '').slice(0, 300);
  const found = inner === '' ? reason : `${reason}: ${inner}`;
  switch (code) {
    case 'TLOG_ERROR':
      return entries === 0
        ? unavailable('not-logged', { at: 'log' })
        : refuted('mismatch', { at: 'log', found });
    case 'TLOG_MISSING_INCLUSION_ERROR':
      return unavailable('not-logged', { at: 'log', found });
    case 'TLOG_BODY_ERROR':
      return refuted('mismatch', { at: 'log', found });
    case 'TLOG_INCLUSION_PROOF_ERROR':
      return reason === 'invalid checkpoint signature'
        ? refuted('untrusted-log', { at: 'log', found })
        : refuted('mismatch', { at: 'log', found });
    case 'TLOG_INCLUSION_PROMISE_ERROR':
      return refuted('untrusted-log', { at: 'log', found });
    case 'CERTIFICATE_ERROR':
      return found.includes('not valid or expired')
        ? refuted('stale', { found })
        : unavailable('untrusted-signer', { found });
    case 'PUBLIC_KEY_ERROR':
      return unavailable('untrusted-signer', { found });
    case 'TIMESTAMP_ERROR':
      return found.includes('expected 1 timestamps')
        ? unavailable('missing', { expected: 'a signed time', found })
        : refuted('stale', { found });
    case 'SIGNATURE_ERROR':
      return refuted('bad-signature', { found });
    default:
      return refuted('malformed', { found });
  }
}
