/* Reads the claims of a Fulcio certificate out of its extensions. */
import { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';

/** Claims of a Fulcio certificate about its holder. Unverified until its chain is verified. */
interface CertificateClaims {
  /**
   * The only name it was issued to (URI, e-mail address, or user name as Fulcio writes it); `undefined` where it has
   * several, or one of another kind.
   */
  readonly identity: string | undefined;
  /** The service that identified the holder to the authority. */
  readonly issuer: string | undefined;
}

/** The authority's claims about the workflow's source. Unverified until the chain is verified. */
export interface CertifiedSource {
  /** `https://github.com/owner/name` */
  readonly repository?: string;
  /** `refs/heads/main` */
  readonly ref?: string;
  /** The commit, hex. */
  readonly digest?: string;
}

/** Extensions of Fulcio (docs/oid-info.md): the issuer as bare text (1) and as UTF8String (8), and a user name (7). */
const fulcio = '1.3.6.1.4.1.57264.1';
const sourceArcs = { repository: 12, digest: 13, ref: 14 } as const;

/** One ASN.1 value as the sigstore library parses it (strict DER). */
type Value = import('@sigstore/core').X509Certificate['tbsCertificate'];

/** Reads names from a certificate (DER). An invalid certificate yields no claims. */
export function readCertificateClaims(der: Uint8Array): CertificateClaims {
  const valuesOf = readExtensions(der);
  const [names, ...more] = valuesOf('2.5.29.17');
  const [wrapped, ...others] = valuesOf(`${fulcio}.8`);
  const bare = valuesOf(`${fulcio}.1`);
  const issuers = [...(wrapped ? [textIn(wrapped)] : []), ...bare.map(({ value }) => toText(value))];
  // Fulcio writes the issuer in both forms; if one occurs twice, or they differ, there is none.
  const isOne = others.length === 0 && bare.length <= 1 && issuers.every((one) => one === issuers[0]);
  return {
    identity: names === undefined || more.length > 0 ? undefined : onlyName(names),
    issuer: isOne ? issuers[0] : undefined,
  };
}

/** Reads where a workflow ran out of a certificate (DER). A duplicate extension yields no name. */
export function readCertifiedSource(der: Uint8Array): CertifiedSource {
  const valuesOf = readExtensions(der);
  const entries = Object.entries(sourceArcs).flatMap(([name, arc]) => {
    const [value, ...more] = valuesOf(`${fulcio}.${arc}`);
    const text = value && more.length === 0 ? textIn(value) : undefined;
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(entries);
}

/** True for a leaf that may sign code and certify no other certificate. */
export function isForSigning({ ca, keyUsage }: X509Certificate): boolean {
  // Node names the extended key usages, by their object identifiers.
  return !ca && (keyUsage ?? []).includes('1.3.6.1.5.5.7.3.3');
}

/**
 * True if a leaf certificate may sign statements (RFC 5280, 4.2.1.3 and 4.2.1.12): each key usage restriction that it
 * contains permits code signing.
 */
export function maySignStatements(der: Uint8Array): boolean {
  try {
    const usages = readExtensions(der)('2.5.29.15');
    if (!usages.every(({ subs }) => subs[0]?.toBitString()[0] === 1)) return false;
    const certificate = new X509Certificate(der);
    return !certificate.ca && (certificate.keyUsage === undefined || isForSigning(certificate));
  } catch {
    return false;
  }
}

/** Returns the values (OCTET STRING) of the extensions with an object identifier; none for an invalid certificate. */
function readExtensions(der: Uint8Array): (oid: string) => readonly Value[] {
  // Loaded on demand: most verifications are by a key.
  const { X509Certificate } = createRequire(import.meta.url)(
    '@sigstore/core',
  ) as typeof import('@sigstore/core');
  try {
    const { extensions } = X509Certificate.parse(Buffer.from(der));
    const pairs = extensions.flatMap(({ subs }) => {
      const [oid, value] = [subs[0]?.toOID(), subs.at(-1)];
      return value?.tag.isOctetString() ? [[oid, value] as const] : [];
    });
    return (oid) => pairs.filter(([id]) => id === oid).map(([, value]) => value);
  } catch {
    return () => [];
  }
}

function onlyName({ subs: [names, ...rest] }: Value): string | undefined {
  const [name, ...more] = names?.subs ?? [];
  if (name === undefined || more.length + rest.length > 0) return undefined;
  const { tag, value, subs } = name;
  if (!tag.constructed && (tag.isContextSpecific(1) || tag.isContextSpecific(6)))
    return value.every((octet) => octet < 0x80) ? toText(value) : undefined;
  const [oid, wrapped, ...others] = subs;
  if (!tag.isContextSpecific(0) || others.length > 0 || !oid?.tag.isOID()) return undefined;
  return wrapped?.tag.isContextSpecific(0) && oid.toOID() === `${fulcio}.7` ? textIn(wrapped) : undefined;
}

/** The text of the one UTF8String in a value. */
function textIn({ subs: [text, ...more] }: Value): string | undefined {
  if (text === undefined || more.length > 0) return undefined;
  const { tag, value } = text;
  return tag.isUniversal() && tag.number === 0x0c && !tag.constructed ? toText(value) : undefined;
}

/** Text that can be shown and compared: UTF-8 without control characters. */
function toText(octets: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
    return text === '' || /\p{Cc}/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
