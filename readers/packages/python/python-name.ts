import { cleanUrl } from '../origin.ts';
import type { SourceKind } from '../reading.ts';

/** A project name as PEP 503 compares it. */
export function pythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/** One requirement of PEP 508, or of pip's wider forms. */
export interface PythonRequirement {
  readonly key: string;
  readonly name: string;
  /** Version specifiers or URL, without extras and marker. */
  readonly requirement: string;
  readonly version?: string;
  readonly source: SourceKind;
  readonly origin?: string;
}

/** Reads `name[extra] (==1.0); marker` and `name @ url ; marker`; `undefined` for anything else. */
export function parseRequirement(text: string): PythonRequirement | undefined {
  const named = /^\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*/.exec(text);
  if (!named?.[1]) return undefined;
  const key = named[1];
  const name = pythonName(key);
  const rest = text.slice(named[0].length);
  if (rest.startsWith('@')) {
    const url = rest.slice(1).trim().split(/\s+/)[0] ?? '';
    return url === '' ? undefined : { key, name, requirement: url, ...urlSource(url) };
  }
  const specifiers = (rest.split(';')[0] ?? '')
    .trim()
    .replace(/^\((.*)\)$/s, '$1')
    .trim();
  if (specifiers !== '' && !/^(?:(?:===?|~=|!=|<=?|>=?)\s*[\w.*+!-]+\s*(?:,\s*|$))+$/.test(specifiers))
    return undefined;
  const version = exactPythonVersion(specifiers);
  return { key, name, requirement: specifiers, source: 'registry', ...(version ? { version } : {}) };
}

/** The one version that specifiers admit, where it is one. */
function exactPythonVersion(specifiers: string): string | undefined {
  return /^===?\s*([\w.+!-]+)$/.exec(specifiers.trim())?.[1];
}

/** Where a URL requirement comes from. */
export function urlSource(url: string): { readonly source: SourceKind; readonly origin?: string } {
  if (/^(?:git|hg|svn|bzr)\+/.test(url) || /^(?:ssh|git):\/\//.test(url)) {
    const bare = url.replace(/@[^/@]*(?=#|$)/, '');
    return { source: 'git', origin: cleanUrl(bare.replace(/(\.git)@[^#]*/, '$1')) };
  }
  if (/^file:/.test(url)) return { source: 'path', origin: url.replace(/^file:(?:\/\/)?/, '') };
  return { source: 'url', origin: cleanUrl(url) };
}

/** pip's options that say where packages come from; each may name several, with white space between. */
export const indexOptions: ReadonlySet<string> = new Set([
  'index-url',
  'extra-index-url',
  'find-links',
  'trusted-host',
  'no-index',
]);
