import type { SignedEntity, TrustMaterial, Verifier } from '@sigstore/verify';
import type { Root } from '../public/trusted-root.ts';
import { refuted } from './report.ts';

type Timestamps = SignedEntity['timestamps'];
type Rfc3161 = Extract<Timestamps[number], { $case: 'timestamp-authority' }>;

/**
 * The RFC 3161 time stamps that authorities of the root made over this signature, each time of an authority once. One
 * by an authority that the root does not name says nothing and is left aside; one that claims to be of a named
 * authority and is not is a refusal.
 */
export function knownTimestamps(
  { timestamps, signature }: SignedEntity,
  root: Root,
  material: TrustMaterial,
  makeVerifier: (material: TrustMaterial) => Verifier,
): readonly Rfc3161[] {
  const known = new Map<string, Rfc3161>();
  for (const one of timestamps) {
    if (one.$case !== 'timestamp-authority') continue;
    const { timestamp } = one;
    const authority = material.timestampAuthorities.findIndex(
      ({ certChain: [leaf] }) =>
        leaf?.serialNumber.equals(timestamp.signerSerialNumber) && leaf.issuer.equals(timestamp.signerIssuer),
    );
    const { validFor } = root.timestampAuthorities[authority] ?? {};
    if (validFor === undefined) continue;
    // The library knows the hash from the name of an ECDSA signature only; CMS names it beside an RSA key as well.
    if (timestamp.signatureAlgorithm === undefined)
      Object.defineProperty(timestamp, 'signatureAlgorithm', { value: timestamp.signerDigestAlgorithm });
    const time = readTime(timestamp);
    Object.defineProperty(timestamp, 'signingTime', { value: time });
    const found = time.toISOString();
    try {
      // The library judges a time stamp only within a bundle, so one of a signature that always holds.
      makeVerifier(material).verify({
        timestamps: [one],
        tlogEntries: [],
        key: { $case: 'public-key', hint: '' },
        signature: { ...signature, signature: signature.signature, verifySignature: () => true },
      });
    } catch {
      const { start, end = time } = validFor;
      const isOutside = start === undefined || time < start || time > end;
      throw refuted(isOutside ? 'stale' : 'bad-signature', { found: `a time stamp that says ${found}` });
    }
    known.set(`${authority} ${found}`, one);
  }
  return [...known.values()];
}

/**
 * The time to the second. The library takes fractions of three digits only, and RFC 3161 (2.4.2) asks for as many as
 * say something.
 */
function readTime({ tstInfo }: Rfc3161['timestamp']): Date {
  const text = tstInfo.root.subs[4]?.value.toString('latin1') ?? '';
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d{1,9})?Z$/.exec(text) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time.getTime())) throw refuted('malformed', { found: 'a time stamp without a time' });
  return time;
}
