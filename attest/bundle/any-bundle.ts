/* Reads any sigstore bundle or DSSE envelope, and names documents of other formats. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import {
  expectAnyBase64,
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  malformedAt,
  parseJsonObject,
  toPlainProto,
} from '../encoding/expect-json.ts';

/**
 * The signer as the bundle names it: a hint about the key (for an envelope, the one beside its signatures), or a
 * certificate.
 */
export type Material =
  | { readonly kind: 'key'; readonly hint: string }
  | {
      readonly kind: 'certificate';
      readonly der: Buffer;
      /** The rest of the chain in a bundle 0.1 or 0.2, unread; absent where the bundle holds one certificate alone. */
      readonly chain?: readonly unknown[];
    };

/** A signature, and the key hint beside it. */
export interface HintedSignature {
  readonly hint: string;
  readonly signature: Buffer;
}

/** What was signed: a DSSE payload, by one or more, or the bytes that have this digest. */
export type Content =
  | {
      readonly kind: 'envelope';
      readonly payloadType: string;
      readonly payload: Buffer;
      readonly signatures: readonly [HintedSignature, ...HintedSignature[]];
    }
  | {
      readonly kind: 'message';
      readonly algorithm: string;
      readonly digest: Buffer;
      readonly signature: Buffer;
    };

/** Any sigstore bundle, or a bare DSSE envelope. All of it is unverified. */
export interface AnyBundle {
  readonly mediaType: string;
  readonly material: Material;
  readonly content: Content;
  /** Transparency log entries, unread. */
  readonly entries: readonly JsonObject[];
  /** RFC 3161 time stamps, unread. */
  readonly timestamps: readonly unknown[];
}

/** Most octets of one bundle or envelope. */
export const maxBundleBytes = 16 * 1024 * 1024;

/** Most signatures of one envelope. */
const maxSignatures = 32;

/** What a DSSE envelope outside of a bundle is called. */
const envelopeMediaType = 'application/vnd.dsse.envelope+json';

const bundleForm = /^application\/vnd\.dev\.sigstore\.bundle(?:\+json;version=0\.[123]|\.v0\.3\+json)$/;

/**
 * Reads a sigstore bundle 0.1 to 0.3, with one signature, or a DSSE envelope, with up to 32: strict JSON up to 16 MiB
 * and 32 levels, `null` being unset, one kind of signer, one kind of content, at most 32 log entries and time stamps.
 * Members that are not known are left aside. ATTESTATION_MALFORMED; a form of others that is known and not read here,
 * and anything larger, is VERIFY_NOTHING (`unsupported`).
 */
export function parseAnyBundle(bytes: Uint8Array): AnyBundle {
  // An oversized file is not read, so the result is unverified, not refuted.
  if (bytes.length > maxBundleBytes)
    throw unread({
      expected: `at most ${maxBundleBytes} octets`,
      found: `${bytes.length} octets`,
    });
  const text = foreignText(bytes);
  if (text !== undefined) throw foreign(text);
  try {
    return readBundle(parseJsonObject(bytes, maxBundleBytes));
  } catch (fault) {
    // A document of another kind may nest deeper, or hold larger numbers, than a bundle does.
    const found = isWritError(fault, 'ATTESTATION_MALFORMED')
      ? foreignBytes(bytes, maxBundleBytes)
      : undefined;
    throw found === undefined ? fault : foreign(found);
  }
}

/**
 * The one reading of a bundle out of strictly parsed JSON. `readSeal` also checks the form of our own seals, and
 * `toSigstoreBundle` builds the input of the sigstore library from this reading: no second reading of the same bytes
 * counts.
 */
export function readBundle(document: JsonObject): AnyBundle {
  const json = toPlainProto(document);
  const found = foreignForm(json, bundleForm);
  if (found !== undefined) throw foreign(found);
  if (json.mediaType === undefined && json.payloadType !== undefined) {
    const content = parseEnvelope(json, '', maxSignatures);
    const [{ hint }] = content.signatures;
    return {
      mediaType: envelopeMediaType,
      material: { kind: 'key', hint },
      content,
      entries: [],
      timestamps: [],
    };
  }
  const { mediaType } = json;
  if (typeof mediaType !== 'string' || !bundleForm.test(mediaType))
    throw malformedAt(
      '/mediaType',
      'the media type of a sigstore bundle, or `payloadType` of a DSSE envelope',
    );
  const at = '/verificationMaterial';
  const material = expectObject(json.verificationMaterial, at);
  const content = parseContent(json);
  const keyId = content.kind === 'envelope' ? content.signatures[0].hint : '';
  const stamps = expectObject(material.timestampVerificationData ?? {}, `${at}/timestampVerificationData`);
  const timestamps = expectArray(stamps.rfc3161Timestamps ?? [], `${at}/timestampVerificationData`, 32);
  const entries = expectArray(material.tlogEntries ?? [], `${at}/tlogEntries`, 32);
  return {
    mediaType,
    material: parseMaterial(material, at, keyId),
    content,
    entries: entries.map((entry, n) => expectObject(entry, `${at}/tlogEntries/${n}`)),
    timestamps,
  };
}

function parseMaterial(material: JsonObject, at: string, keyId: string): Material {
  const kind = onlyOne(material, at, ['publicKey', 'certificate', 'x509CertificateChain']);
  if (kind === 'publicKey') {
    const { hint = '' } = expectObject(material.publicKey, `${at}/publicKey`);
    const text = expectText(hint, `${at}/publicKey/hint`, hintForm);
    if (keyId !== '' && text !== '' && keyId !== text)
      throw malformedAt(`${at}/publicKey/hint`, 'the key id of the signature');
    return { kind: 'key', hint: text || keyId };
  }
  const [first, ...chain] =
    kind === 'certificate'
      ? [material.certificate]
      : expectArray(expectObject(material[kind], `${at}/${kind}`).certificates, `${at}/${kind}`, 16);
  const { rawBytes } = expectObject(first, `${at}/${kind}`);
  const der = expectAnyBase64(rawBytes, `${at}/${kind}/rawBytes`);
  return { kind: 'certificate', der, ...(kind === 'certificate' ? {} : { chain }) };
}

function parseContent(json: JsonObject): Content {
  if (onlyOne(json, '', ['dsseEnvelope', 'messageSignature']) === 'dsseEnvelope')
    return parseEnvelope(json.dsseEnvelope, '/dsseEnvelope', 1);
  const at = '/messageSignature';
  const message = expectObject(json.messageSignature, at);
  const digest = expectObject(message.messageDigest, `${at}/messageDigest`);
  return {
    kind: 'message',
    algorithm: expectText(nameOf(digest.algorithm), `${at}/messageDigest/algorithm`, /^[A-Z0-9_]{1,32}$/),
    digest: expectAnyBase64(digest.digest, `${at}/messageDigest/digest`),
    signature: expectAnyBase64(message.signature, `${at}/signature`),
  };
}

/** Names of the enumeration HashAlgorithm by their numbers, which protobuf JSON may hold in their place. */
export const hashAlgorithms: readonly string[] = [
  'HASH_ALGORITHM_UNSPECIFIED',
  'SHA2_256',
  'SHA2_384',
  'SHA2_512',
  'SHA3_256',
  'SHA3_384',
];

function nameOf(algorithm: unknown): unknown {
  return Number.isSafeInteger(algorithm)
    ? (hashAlgorithms[Number(algorithm)] ?? String(algorithm))
    : algorithm;
}

function parseEnvelope(value: unknown, at: string, most: number): Content & { readonly kind: 'envelope' } {
  const envelope = expectObject(value, at);
  const listed = expectArray(envelope.signatures, `${at}/signatures`, most);
  const [first, ...more] = listed.map((one, n): HintedSignature => {
    const path = `${at}/signatures/${n}`;
    const { keyid = '', sig } = expectObject(one, path);
    return {
      hint: expectText(keyid, `${path}/keyid`, hintForm),
      signature: expectAnyBase64(sig, `${path}/sig`),
    };
  });
  if (first === undefined) throw malformedAt(`${at}/signatures`, 'a signature');
  return {
    kind: 'envelope',
    payloadType: expectText(envelope.payloadType, `${at}/payloadType`, /^[!-~]{1,255}$/),
    payload: expectAnyBase64(envelope.payload, `${at}/payload`),
    signatures: [first, ...more],
  };
}

const hintForm = /^[ -~]{0,1024}$/;

/** Of members that exclude each other, the one that is there. */
function onlyOne<Name extends string>(object: JsonObject, at: string, names: readonly Name[]): Name {
  const found = names.filter((name) => object[name] !== undefined && object[name] !== null);
  const [one, ...more] = found;
  if (one !== undefined && more.length === 0) return one;
  throw malformedAt(at, `one of \`${names.join('`, `')}\`, found ${found.length}`);
}

function foreign(found: string): WritError {
  return unread({ expected: 'a sigstore bundle 0.1 to 0.3, or a DSSE envelope', found });
}

/** The document is not supported here, but not refuted either. */
function unread(detail: { readonly expected: string; readonly found: string }): WritError {
  return new WritError('VERIFY_NOTHING', {
    message: `expected ${detail.expected}, found ${detail.found}`,
    detail: { ...detail, reason: 'unsupported' },
  });
}

const sigstoreForm =
  /^application\/vnd\.dev\.sigstore\.bundle(?:\+json;version=\d{1,3}\.\d{1,3}|\.v\d{1,3}\.\d{1,3}\+json)$/;
/** With one of these members a document is a bundle or an envelope, however damaged. */
const bundleMembers: readonly string[] = ['verificationMaterial', 'dsseEnvelope', 'messageSignature'];
const envelopeMembers: readonly string[] = ['payload', 'payloadType', 'signatures'];

const neither = 'a JSON document that is neither a bundle nor an envelope';

/**
 * Names a document that may be genuine and that is not read here, by its top members; `undefined` for a bundle and an
 * envelope. `read` matches the media types of bundles that are read.
 */
function foreignForm(json: JsonObject, read: RegExp): string | undefined {
  const { mediaType } = json;
  if (typeof mediaType === 'string' && sigstoreForm.test(mediaType))
    return read.test(mediaType) ? undefined : mediaType;
  const hasOne = (names: readonly string[]) => names.some((name) => json[name] !== undefined);
  if (hasOne(bundleMembers)) return undefined;
  if (mediaType === undefined && json.payloadType === undefined) {
    const known = forms.find(([, isForm]) => isForm(json))?.[0];
    if (known !== undefined) return known;
  }
  if (hasOne(envelopeMembers)) return undefined;
  if (mediaType === undefined) return neither;
  return typeof mediaType === 'string' && /^[!-~]{1,255}$/.test(mediaType)
    ? `a document of the media type ${mediaType}`
    : undefined;
}

const has =
  (...names: readonly string[]) =>
  (json: JsonObject): boolean =>
    names.every((name) => json[name] !== undefined);

const forms: readonly (readonly [name: string, isForm: (json: JsonObject) => boolean])[] = [
  ['the address of a bundle', has('bundle_url')],
  ['a bundle of cosign 1 and 2', has('base64Signature')],
  ['a bundle of cosign 1 and 2', has('rekorBundle')],
  ['attestations of the Python Package Index (PEP 740)', has('attestation_bundles')],
  ['attestations of the Python Package Index (PEP 740)', has('verification_material')],
  ['in-toto or TUF metadata without envelope', has('signed', 'signatures')],
  ['an in-toto statement without a signature', has('_type', 'predicateType')],
  ['a CycloneDX SBOM without a signature', has('bomFormat')],
  ['an SPDX SBOM without a signature', has('spdxVersion')],
  ['an SPDX SBOM without a signature', (json) => String(json['@context']).includes('spdx.org/rdf/3')],
  ['a simple signing document of cosign, whose signature is kept elsewhere', has('critical', 'optional')],
  ['a simple signing document of cosign, whose signature is kept elsewhere', isSimpleSigning],
  ['a JSON Web Signature (RFC 7515)', has('payload', 'protected', 'signature')],
  ['a JSON Web Signature (RFC 7515)', isGeneralJws],
];

function isSimpleSigning({ critical }: JsonObject): boolean {
  return typeof critical === 'object' && critical !== null && Object.hasOwn(critical, 'image');
}

/** The signatures of a DSSE envelope have neither member. */
function isGeneralJws({ payload, signatures }: JsonObject): boolean {
  const first: unknown = Array.isArray(signatures) ? signatures[0] : undefined;
  if (typeof payload !== 'string' || typeof first !== 'object' || first === null) return false;
  return Object.hasOwn(first, 'protected') || Object.hasOwn(first, 'header');
}

/**
 * {@link foreignForm} of JSON that is less strict than a bundle: it nests deeper, holds larger numbers, names twice or
 * lone surrogates. Deeper than 1000 its members are not read: there it is foreign without a name of the other forms.
 */
function foreignBytes(bytes: Uint8Array, maxBytes: number): string | undefined {
  try {
    const { value } = parseStrictJson(bytes, {
      code: 'ATTESTATION_MALFORMED',
      maxBytes,
      maxDepth: 1000,
      roundsNumbers: true,
      allowsIllFormed: true,
    });
    return foreignForm(value as JsonObject, sigstoreForm);
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    const named = [...bundleMembers, ...envelopeMembers, 'mediaType'];
    const isOther = !named.some((name) => Buffer.from(bytes).includes(`"${name}"`));
    return fault.detail.reason === 'too-deep' && isOther ? neither : undefined;
  }
}

const beginnings: readonly (readonly [beginning: string, name: string])[] = [
  ['-----BEGIN PGP ', 'an OpenPGP signature'],
  ['-----BEGIN SSH SIGNATURE-----', 'an SSH signature'],
  ['-----BEGIN ', 'a PEM document'],
  ['untrusted comment:', 'a signature of minisign or signify'],
  ['SPDXVersion:', 'an SPDX SBOM without a signature'],
  ['<', 'an XML document'],
];

/**
 * Names a document that is not a JSON object, from its first bytes. Returns `undefined` if those bytes fit only a
 * JSON object.
 */
function foreignText(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 256))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (head.startsWith('{') || head === '') return undefined;
  // `{"` in base64url; a compact serialization has two dots.
  if (head.startsWith('eyJ')) {
    const text = Buffer.from(bytes).toString('latin1').trim();
    return /^[\w-]+\.[\w-]*\.[\w-]+$/.test(text) ? 'a JSON Web Signature (RFC 7515)' : undefined;
  }
  return (
    beginnings.find(([beginning]) => head.startsWith(beginning))?.[1] ??
    'a document that is not a JSON object'
  );
}
