import type { Ecosystem } from './locked-package.ts';

const types: Readonly<Record<Ecosystem, string>> = {
  npm: 'npm',
  pypi: 'pypi',
  cargo: 'cargo',
  go: 'golang',
  maven: 'maven',
  rubygems: 'gem',
  packagist: 'composer',
};

export interface PurlParts {
  readonly ecosystem: Ecosystem;
  readonly name: string;
  readonly version: string;
  readonly qualifiers?: Readonly<Record<string, string | undefined>>;
}

/**
 * A canonical package URL (purl-spec): types and case rules of each ecosystem, qualifiers sorted, empty ones left out.
 */
export function toPurl({ ecosystem, name, version, qualifiers = {} }: PurlParts): string {
  const path = ecosystem === 'maven' ? name.replace(':', '/') : name;
  const folded = ecosystem === 'go' || ecosystem === 'packagist' ? path.toLowerCase() : path;
  const named = folded.split('/').map(encode).join('/');
  const asked = Object.entries(qualifiers)
    .flatMap(([key, value]) => (value ? [`${key}=${encode(value)}`] : []))
    .sort();
  const at = version === '' ? '' : `@${encode(version)}`;
  return `pkg:${types[ecosystem]}/${named}${at}${asked.length > 0 ? `?${asked.join('&')}` : ''}`;
}

function encode(text: string): string {
  return /^[\w.~-]*$/.test(text)
    ? text
    : encodeURIComponent(text.isWellFormed() ? text : text.toWellFormed())
        .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
        .replaceAll('%3A', ':');
}
