import type { NpmPackage } from './npm-project.ts';

/** Package URL of an npm package (purl-spec, type `npm`); git and foreign tarball origins are qualifiers. */
export function purlOf(entry: NpmPackage): string {
  const name = entry.name.split('/').map(encode).join('/');
  const version = entry.version === undefined ? '' : `@${encode(entry.version)}`;
  const origin = originOf(entry);
  const qualifier =
    origin?.kind === 'git'
      ? `?vcs_url=${encode(origin.url)}`
      : origin?.kind === 'tarball' && !isRegistryTarball(entry)
        ? `?download_url=${encode(origin.url)}`
        : '';
  return `pkg:npm/${name}${version}${qualifier}`;
}

/** Where a package was taken from, free of credentials; nothing where the lockfile does not say. */
export function originOf({
  resolved,
}: NpmPackage): { readonly kind: 'git' | 'tarball' | 'file'; readonly url: string } | undefined {
  if (resolved === undefined) return undefined;
  if (resolved.startsWith('file:'))
    return { kind: 'file', url: resolved.split('/').map(encodePathSegment).join('/') };
  let url: URL;
  try {
    url = new URL(resolved);
  } catch {
    return undefined;
  }
  const git = /^git(?:\+[a-z]+)?:$/.test(url.protocol);
  if (!git && url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  url.password = '';
  url.search = '';
  // `git@` is how a git server is addressed, any other name may be a token.
  if (!git || url.username !== 'git') url.username = '';
  if (!git) url.hash = '';
  return { kind: git ? 'git' : 'tarball', url: url.href };
}

/** The digests of an integrity string as CycloneDX names them, lower-case hex; malformed ones are left out. */
export function hashesOf({ integrity = '' }: NpmPackage): readonly (readonly [IntegrityAlgorithm, string])[] {
  const hashes = new Map<IntegrityAlgorithm, string>();
  for (const part of integrity.split(/\s+/)) {
    const [, algorithm, base64] =
      /^(sha1|sha256|sha384|sha512)-([A-Za-z0-9+/]+={0,2})(?:\?.*)?$/.exec(part) ?? [];
    const known = algorithms.get(algorithm ?? '');
    if (known === undefined || base64 === undefined) continue;
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length === known.bytes && bytes.toString('base64') === base64 && !hashes.has(known.name)) {
      hashes.set(known.name, bytes.toString('hex'));
    }
  }
  return [...hashes].sort(([left], [right]) => (left < right ? -1 : 1));
}

export type IntegrityAlgorithm = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';

const algorithms: ReadonlyMap<string, { readonly name: IntegrityAlgorithm; readonly bytes: number }> =
  new Map([
    ['sha1', { name: 'SHA-1', bytes: 20 }],
    ['sha256', { name: 'SHA-256', bytes: 32 }],
    ['sha384', { name: 'SHA-384', bytes: 48 }],
    ['sha512', { name: 'SHA-512', bytes: 64 }],
  ]);

/** Registries serve `<name>/-/<name without scope>-<version>.tgz`: what the purl says already. */
function isRegistryTarball({ name, version, resolved }: NpmPackage): boolean {
  const file = `/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`;
  return resolved?.split(/[?#]/)[0]?.endsWith(file) === true;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function encodePathSegment(segment: string): string {
  return encode(segment).replaceAll('%3A', ':').replaceAll('%40', '@').replaceAll('%25', '%');
}
