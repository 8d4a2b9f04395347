import { X509Certificate } from 'node:crypto';

/** What a Fulcio certificate says of its holder. Unverified until its chain is. */
export interface CertificateClaims {
  /** The only name it was issued to (URI or e-mail address); `undefined` where it has several, or one of another kind. */
  readonly identity: string | undefined;
  /** Who told the authority who the holder is. */
  readonly issuer: string | undefined;
}

/** 1.3.6.1.4.1.57264.1.8 (a UTF8String) and its forerunner .1 (the bare text), DER. */
const issuerV2 = Buffer.from('060a2b0601040183bf300108', 'hex');
const issuerV1 = Buffer.from('060a2b0601040183bf300101', 'hex');

/** Reads names out of a certificate; the issuer is found by a search and only for people to read. What is no certificate claims nothing. */
export function readCertificateClaims(der: Uint8Array): CertificateClaims {
  try {
    const names = new X509Certificate(der).subjectAltName ?? '';
    return { identity: onlyName(names), issuer: issuerOf(Buffer.from(der)) };
  } catch {
    return { identity: undefined, issuer: undefined };
  }
}

/** True for a leaf that may sign code, and certify nobody. */
export function isForSigning({ ca, keyUsage }: X509Certificate): boolean {
  // Node names the extended key usages, by their object identifiers.
  return !ca && (keyUsage ?? []).includes('1.3.6.1.5.5.7.3.3');
}

/** Node writes names that hold a comma or a quote as JSON, so that an unquoted comma stands between two of them. */
function onlyName(names: string): string | undefined {
  const match = /^(?:URI|email):(?:([^",]+)|("(?:[^"\\]|\\.)*"))$/.exec(names);
  if (match?.[2] !== undefined) return String(JSON.parse(match[2]));
  return match?.[1];
}

function issuerOf(der: Buffer): string | undefined {
  for (const [oid, wrapped] of [
    [issuerV2, true],
    [issuerV1, false],
  ] as const) {
    const at = der.indexOf(oid);
    if (at < 0) continue;
    // The same extension twice leaves open which one is meant.
    if (der.indexOf(oid, at + 1) >= 0) return undefined;
    const octets = readShort(der, at + oid.length, 0x04);
    const text = octets && wrapped ? readDerText(octets) : octets;
    return text?.toString('utf8');
  }
  return undefined;
}

/** The octets of a DER UTF8String that nothing follows. */
export function readDerText(der: Buffer): Buffer | undefined {
  const text = readShort(der, 0, 0x0c);
  return text && text.byteOffset + text.length === der.byteOffset + der.length ? text : undefined;
}

/** A DER value of that tag with a length below 65,536, that ends within its container. */
function readShort(der: Buffer, at: number, tag: number): Buffer | undefined {
  if (der[at] !== tag) return undefined;
  const first = der[at + 1] ?? 0xff;
  const [start, length] =
    first < 0x80
      ? [at + 2, first]
      : first === 0x81
        ? [at + 3, der[at + 2] ?? 0]
        : first === 0x82
          ? [at + 4, (der[at + 2] ?? 0) * 256 + (der[at + 3] ?? 0)]
          : [der.length, 1];
  return start + length <= der.length ? der.subarray(start, start + length) : undefined;
}
