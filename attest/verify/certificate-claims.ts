/* Reads the claims of a Fulcio certificate out of its DER. */
import { X509Certificate } from 'node:crypto';

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

/** Object identifiers, DER content. */
const oids = {
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  /** 1.3.6.1.4.1.57264.1.1 (the bare text) and its successor .8 (a UTF8String). */
  issuerV1: '2b0601040183bf300101',
  issuerV2: '2b0601040183bf300108',
  /** 1.3.6.1.4.1.57264.1.7: a user name that is neither URI nor e-mail address. */
  userName: '2b0601040183bf300107',
} as const;

/** Last arcs below 1.3.6.1.4.1.57264.1 (Fulcio, docs/oid-info.md): each a UTF8String. */
const sourceArcs = { repository: 12, digest: 13, ref: 14 } as const;

/** Reads names from a certificate. An invalid certificate yields no claims. */
export function readCertificateClaims(der: Uint8Array): CertificateClaims {
  const extensions = readExtensions(Buffer.from(der));
  const valuesOf = (oid: string) => extensions.filter(([id]) => id === oid).map(([, value]) => value);
  const [names, ...more] = valuesOf(oids.subjectAltName);
  return {
    identity: names === undefined || more.length > 0 ? undefined : onlyName(names),
    issuer: onlyIssuer(valuesOf(oids.issuerV2), valuesOf(oids.issuerV1)),
  };
}

/** Reads where a workflow ran out of a certificate (DER). */
export function readCertifiedSource(der: Uint8Array): CertifiedSource {
  const extensions = readExtensions(Buffer.from(der));
  return toCertifiedSource((arc) => {
    const oid = `2b0601040183bf3001${arc.toString(16).padStart(2, '0')}`;
    return extensions.filter(([id]) => id === oid).map(([, value]) => value);
  });
}

/** `valuesOf` returns the values of an extension by its last arc. A duplicate extension yields no name. */
export function toCertifiedSource(valuesOf: (arc: number) => readonly Buffer[]): CertifiedSource {
  const entries = Object.entries(sourceArcs).flatMap(([name, arc]) => {
    const [value, ...more] = valuesOf(arc);
    const octets = value === undefined || more.length > 0 ? undefined : readDerText(value);
    const text = octets && toText(octets);
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
  const uses = readExtensions(Buffer.from(der)).filter(([id]) => id === oids.keyUsage);
  if (uses.some(([, value]) => ((readDerValue(value, 0x03)?.[1] ?? 0) & 0x80) === 0)) return false;
  try {
    const certificate = new X509Certificate(der);
    return !certificate.ca && (certificate.keyUsage === undefined || isForSigning(certificate));
  } catch {
    return false;
  }
}

/** The issuer from both forms of Fulcio's extension. `undefined` if one form occurs twice, or if the names differ. */
export function onlyIssuer(wrapped: readonly Buffer[], bare: readonly Buffer[]): string | undefined {
  if (wrapped.length > 1 || bare.length > 1) return undefined;
  const [text] = wrapped;
  const names = [text && readDerText(text), ...bare].filter((name) => name !== undefined).map(toText);
  if (text !== undefined && names.length === bare.length) return undefined;
  return names.every((name) => name === names[0]) ? names[0] : undefined;
}

/** The bytes of a DER UTF8String without trailing data. */
function readDerText(der: Buffer): Buffer | undefined {
  return readDerValue(der, 0x0c);
}

/** Object identifier and value of each extension (RFC 5280, 4.1). */
function readExtensions(der: Buffer): readonly (readonly [oid: string, value: Buffer])[] {
  const [body] = readDerSequence(der) ?? [];
  const fields = body?.tag === 0x30 ? (readDerValues(body.content) ?? []) : [];
  const [holder, ...more] = fields.filter(({ tag }) => tag === 0xa3);
  if (holder === undefined || more.length > 0) return [];
  return (readDerSequence(holder.content) ?? []).flatMap(({ content }) => {
    const parts = readDerValues(content) ?? [];
    const [oid, value] = [parts[0], parts.at(-1)];
    return oid?.tag === 0x06 && value?.tag === 0x04
      ? [[oid.content.toString('hex'), value.content] as const]
      : [];
  });
}

function onlyName(value: Buffer): string | undefined {
  const [name, ...more] = readDerSequence(value) ?? [];
  if (name === undefined || more.length > 0) return undefined;
  if (name.tag === 0x81 || name.tag === 0x86)
    return name.content.every((octet) => octet < 0x80) ? toText(name.content) : undefined;
  if (name.tag !== 0xa0) return undefined;
  const [oid, wrapped, ...rest] = readDerValues(name.content) ?? [];
  if (oid?.tag !== 0x06 || oid.content.toString('hex') !== oids.userName) return undefined;
  const text = wrapped?.tag === 0xa0 && rest.length === 0 ? readDerText(wrapped.content) : undefined;
  return text && toText(text);
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

/** One value of DER: its tag octet, and its content. */
interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
}

const maxChildren = 4096;

/**
 * Parses the consecutive DER values that fill `bytes`: one-octet tags, definite lengths in their shortest form.
 * `undefined` for anything else.
 */
function readDerValues(bytes: Buffer): readonly DerValue[] | undefined {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1];
    if (first === undefined || (tag & 0x1f) === 0x1f || values.length === maxChildren) return undefined;
    const octets = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || octets > 4 || at + 2 + octets > bytes.length) return undefined;
    const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets);
    if (octets > 0 && (length < 0x80 || length < 2 ** (8 * (octets - 1)))) return undefined;
    const start = at + 2 + octets;
    if (start + length > bytes.length) return undefined;
    values.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return values;
}

/** The one value that fills `bytes`, where it has this tag. */
function readDerValue(bytes: Buffer, tag: number): Buffer | undefined {
  const [value, ...more] = readDerValues(bytes) ?? [];
  return value?.tag === tag && more.length === 0 ? value.content : undefined;
}

/** The values in the one SEQUENCE that fills `bytes`. */
export function readDerSequence(bytes: Buffer): readonly DerValue[] | undefined {
  const content = readDerValue(bytes, 0x30);
  return content && readDerValues(content);
}
