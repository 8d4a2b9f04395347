import type { LockedPackage } from './locked-package.ts';

type Integrity = NonNullable<LockedPackage['integrity']>;

const sizes: Readonly<Record<string, number>> = { sha512: 64, sha384: 48, sha256: 32, sha1: 20, md5: 16 };

/**
 * The strongest digest of a subresource integrity string (`sha512-…`, several with spaces); nothing of a malformed one.
 */
export function fromSri(text: string): Integrity | undefined {
  const found = new Map<string, string>();
  for (const part of text.slice(0, 4096).split(/\s+/)) {
    const [, algorithm = '', base64 = ''] =
      /^(sha1|sha256|sha384|sha512)-([A-Za-z0-9+/]+={0,2})(?:\?.*)?$/.exec(part) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length === sizes[algorithm] && bytes.toString('base64') === base64 && !found.has(algorithm))
      found.set(algorithm, bytes.toString('hex'));
  }
  for (const algorithm of Object.keys(sizes)) {
    const value = found.get(algorithm);
    if (value !== undefined) return { algorithm, value };
  }
  return undefined;
}

/** `sha256:<hex>`, `sha256=<hex>` or, with `algorithm`, the bare hex; nothing of a malformed one. */
export function fromHex(text: string, algorithm?: string): Integrity | undefined {
  const [, named, hex = ''] = /^(?:(sha1|sha256|sha384|sha512|md5)[:=])?([0-9a-fA-F]+)$/.exec(text) ?? [];
  const name = named ?? algorithm;
  if (name === undefined || hex.length !== (sizes[name] ?? 0) * 2) return undefined;
  return { algorithm: name, value: hex.toLowerCase() };
}
