/* Decides from where npm-like package managers take a package. */
import type { LockEntry } from '../lock-builder.ts';
import { cleanUrl, hostOf } from '../locked-package.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';

export interface NpmSource {
  readonly source: SourceKind;
  /** Real name; for an alias, its target. */
  readonly name: string;
  /** Requirement without the alias. */
  readonly requirement: string;
  readonly origin?: string;
  /** The requirement is `workspace:` or `catalog:`, which only a workspace root can resolve. */
  readonly isWorkspace?: boolean;
}

const shorthand = /^[\w.-]+\/[\w.-]+(?:#.*)?$/;

/** Parses a `name: spec` pair of a dependency field (forms of npm-package-arg, pnpm, yarn and bun). */
export function npmSource(name: string, spec: string): NpmSource {
  const text = spec.trim();
  if (text.startsWith('npm:') || text.startsWith('jsr:')) {
    const target = text.slice(4);
    const at = target.indexOf('@', 1);
    if (text.startsWith('npm:') && /^[\^~><=*\d]/.test(target))
      return { source: 'registry', name, requirement: target };
    return {
      source: 'registry',
      name: at === -1 ? target : target.slice(0, at),
      requirement: at === -1 ? '' : target.slice(at + 1),
    };
  }
  if (text.startsWith('workspace:'))
    return { source: 'path', name, requirement: text, origin: '.', isWorkspace: true };
  if (/^patch:/.test(text)) {
    const inner = /^patch:(?:@?[^@]+)@([^#]*)/.exec(text)?.[1] ?? '';
    return npmSource(name, decode(inner));
  }
  if (/^(?:git(?:\+\w+)?:|ssh:|git@)/i.test(text) || /^(?:github|gitlab|bitbucket|gist):/i.test(text))
    return { source: 'git', name, requirement: text, origin: cleanUrl(text) };
  if (shorthand.test(text))
    return { source: 'git', name, requirement: text, origin: cleanUrl(`github:${text}`) };
  if (/^https?:/i.test(text)) {
    const isGit = /\.git(?:#|$)/.test(text);
    return { source: isGit ? 'git' : 'url', name, requirement: text, origin: cleanUrl(text) };
  }
  const path = /^(?:(?:file|link|portal):(.*)|((?:\.{0,2}\/|~\/|[A-Za-z]:[\\/]).*))$/is.exec(text);
  if (path) return { source: 'path', name, requirement: text, origin: path[1] ?? path[2] ?? '' };
  return { source: 'registry', name, requirement: text };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where the package of a lockfile comes from; `resolved` is the address that the lockfile fetched it from. */
export function npmPlace(
  reading: ReadingBuilder,
  { source, name, origin }: NpmSource,
  resolved: string,
): Pick<LockEntry, 'source' | 'origin' | 'resolvedAs' | 'revision'> {
  if (source === 'path') return { source, origin: reading.placeOf(origin ?? '') };
  if (source === 'registry')
    return {
      source,
      origin: hostOf(resolved),
      resolvedAs: resolved === '' ? undefined : otherPackage(resolved.replace(/#.*$/, ''), name),
    };
  const revision = source === 'git' ? /#([0-9a-f]{7,64})$/.exec(resolved)?.[1] : undefined;
  return { source, origin: cleanUrl(resolved) || origin, revision };
}

/** The one version that an npm range admits, where it is one. */
export function exactVersion(range: string): string | undefined {
  return /^[=v\s]*(\d+\.\d+\.\d+(?:[-+][\w.+-]*)?)\s*$/.exec(range)?.[1];
}

/**
 * The package that a registry's tarball URL holds, where it is not `name`. Registries serve `<base>/<name>/-/<file>`.
 */
export function otherPackage(resolved: string, name: string): string | undefined {
  const bare = name.slice(name.indexOf('/') + 1);
  // The ordinary case, without a parser: `https://host/<name>/-/<file of that name>`.
  const host = /^https?:\/\/[a-z0-9.-]+\//.exec(resolved)?.[0];
  if (host !== undefined && resolved.startsWith(`${name}/-/${bare}-`, host.length)) return undefined;
  if (!URL.canParse(resolved)) return undefined;
  const path = decode(new URL(resolved).pathname);
  const at = path.indexOf('/-/');
  if (at === -1) return path.includes(`/${name}/`) || path.includes(`/${name}-`) ? undefined : path.slice(1);
  const before = path.slice(0, at);
  const segments = before.split('/');
  if (!before.endsWith(`/${name}`))
    return segments.slice(segments.at(-2)?.startsWith('@') ? -2 : -1).join('/');
  // `/lodash` must not be the end of `/@types/lodash`.
  const outer = segments.at(-2) ?? '';
  if (!name.startsWith('@') && outer.startsWith('@')) return `${outer}/${name}`;
  const file = path.slice(at + 3);
  return file.startsWith(`${bare}-`) || file.startsWith(`${name}-`) ? undefined : file;
}

/** A license in any form that npm ever allowed: a string, `{ type }`, or a list of those (a choice). */
export function npmLicense({ license, licenses }: Readonly<Record<string, unknown>>): string | undefined {
  const one = (value: unknown): string | undefined => {
    if (typeof value === 'string') return value.length > 0 && value.length <= 1000 ? value : undefined;
    return typeof value === 'object' && value !== null && !Array.isArray(value) && 'type' in value
      ? one(value.type)
      : undefined;
  };
  const list = Array.isArray(license) ? license : Array.isArray(licenses) ? licenses : undefined;
  if (list === undefined) return one(license) ?? one(licenses);
  const all = list.slice(0, 16).map(one);
  if (all.some((text) => text === undefined)) return undefined;
  return all.length > 1 ? `(${all.join(' OR ')})` : all[0];
}
