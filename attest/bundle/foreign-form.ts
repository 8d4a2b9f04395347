import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { JsonObject } from '../encoding/expect-json.ts';

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
export function foreignForm(json: JsonObject, read: RegExp): string | undefined {
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
export function foreignBytes(bytes: Uint8Array, maxBytes: number): string | undefined {
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

/** Names a document that is not a JSON object, by how it begins; `undefined` if nothing but a JSON object begins so. */
export function foreignText(bytes: Uint8Array): string | undefined {
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
