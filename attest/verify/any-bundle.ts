import { WritError } from '../../core/base/errors.ts';
import {
  expectArray,
  expectBase64,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../expect-json.ts';

/** Who signed, as the bundle says: a hint which key, or a certificate. */
export type Material =
  | { readonly kind: 'key'; readonly hint: string }
  | { readonly kind: 'certificate'; readonly der: Buffer };

/** What was signed: a DSSE payload, or the bytes that have this digest. */
export type Content =
  | {
      readonly kind: 'envelope';
      readonly payloadType: string;
      readonly payload: Buffer;
      readonly signature: Buffer;
    }
  | {
      readonly kind: 'message';
      readonly algorithm: string;
      readonly digest: Buffer;
      readonly signature: Buffer;
    };

/** Any sigstore bundle, or a DSSE envelope by itself. Nothing in it is verified yet. */
export interface AnyBundle {
  readonly mediaType: string;
  readonly material: Material;
  readonly content: Content;
  /** Transparency log entries as they stand there. */
  readonly entries: readonly JsonObject[];
  /** The whole document, for a library that reads it by itself. */
  readonly json: JsonObject;
}

/** Most octets of one bundle or envelope. */
export const maxBundleBytes = 16 * 1024 * 1024;

/** What a DSSE envelope outside of a bundle is called. */
const envelopeMediaType = 'application/vnd.dsse.envelope+json';

const bundleForm = /^application\/vnd\.dev\.sigstore\.bundle(?:\+json;version=0\.[123]|\.v0\.3\+json)$/;

/**
 * Reads a sigstore bundle 0.1 to 0.3 or a DSSE envelope: strict JSON up to 16 MiB and 32 levels, one signature, one kind of signer, one kind of
 * content, at most 32 log entries. Members that are not known are left aside. ATTESTATION_MALFORMED.
 */
export function parseAnyBundle(bytes: Uint8Array): AnyBundle {
  const json = parseJsonObject(bytes, maxBundleBytes);
  if (json.mediaType === undefined && json.payloadType !== undefined) {
    const { content, keyId } = parseContent({ dsseEnvelope: json });
    return {
      mediaType: envelopeMediaType,
      material: { kind: 'key', hint: keyId },
      content,
      entries: [],
      json,
    };
  }
  const mediaType = expectText(json.mediaType, '/mediaType', bundleForm);
  const at = '/verificationMaterial';
  const material = expectObject(json.verificationMaterial, at);
  const { content, keyId } = parseContent(json);
  const entries = expectArray(material.tlogEntries ?? [], `${at}/tlogEntries`, 32);
  return {
    mediaType,
    material: parseMaterial(material, at, keyId),
    content,
    entries: entries.map((entry, n) => expectObject(entry, `${at}/tlogEntries/${n}`)),
    json,
  };
}

function parseMaterial(material: JsonObject, at: string, keyId: string): Material {
  const kind = onlyOne(material, at, ['publicKey', 'certificate', 'x509CertificateChain']);
  if (kind === 'publicKey') {
    const { hint = '' } = expectObject(material.publicKey, `${at}/publicKey`);
    const text = expectText(hint, `${at}/publicKey/hint`, hintForm);
    if (keyId !== '' && text !== '' && keyId !== text)
      throw malformed(`${at}/publicKey/hint`, 'the key id of the signature');
    return { kind: 'key', hint: text || keyId };
  }
  const chain =
    kind === 'certificate'
      ? [material.certificate]
      : expectArray(expectObject(material[kind], `${at}/${kind}`).certificates, `${at}/${kind}`, 16);
  const { rawBytes } = expectObject(chain[0], `${at}/${kind}`);
  return { kind: 'certificate', der: expectBase64(rawBytes, `${at}/${kind}/rawBytes`) };
}

function parseContent(json: JsonObject): { readonly content: Content; readonly keyId: string } {
  if (onlyOne(json, '', ['dsseEnvelope', 'messageSignature']) === 'messageSignature') {
    const at = '/messageSignature';
    const message = expectObject(json.messageSignature, at);
    const digest = expectObject(message.messageDigest, `${at}/messageDigest`);
    const content: Content = {
      kind: 'message',
      algorithm: expectText(digest.algorithm, `${at}/messageDigest/algorithm`, /^[A-Z0-9_]{1,32}$/),
      digest: expectBase64(digest.digest, `${at}/messageDigest/digest`),
      signature: expectBase64(message.signature, `${at}/signature`),
    };
    return { content, keyId: '' };
  }
  const at = '/dsseEnvelope';
  const envelope = expectObject(json.dsseEnvelope, at);
  const signatures = expectArray(envelope.signatures, `${at}/signatures`, 1);
  const { keyid = '', sig } = expectObject(signatures[0], `${at}/signatures/0`);
  const content: Content = {
    kind: 'envelope',
    payloadType: expectText(envelope.payloadType, `${at}/payloadType`, /^[!-~]{1,255}$/),
    payload: expectBase64(envelope.payload, `${at}/payload`),
    signature: expectBase64(sig, `${at}/signatures/0/sig`),
  };
  return { content, keyId: expectText(keyid, `${at}/signatures/0/keyid`, hintForm) };
}

const hintForm = /^[ -~]{0,1024}$/;

/** Of members that exclude each other, the one that is there. */
function onlyOne<Name extends string>(object: JsonObject, at: string, names: readonly Name[]): Name {
  const found = names.filter((name) => object[name] !== undefined && object[name] !== null);
  const [one, ...more] = found;
  if (one !== undefined && more.length === 0) return one;
  throw malformed(at, `one of \`${names.join('`, `')}\`, found ${found.length}`);
}

function malformed(path: string, expected: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${expected} at \`${path === '' ? '/' : path}\``,
    detail: { path, expected },
  });
}
