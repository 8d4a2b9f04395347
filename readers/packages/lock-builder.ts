/* Collects the packages of a lockfile, with their purls and digests. */
import { type Table, tableOf, textOf } from './content.ts';
import type { Ecosystem, LockedPackage } from './locked-package.ts';
import { isName, type ReadingBuilder } from './reading.ts';

/** One package of a lockfile before its dependencies are known by purl. */
export interface LockEntry
  extends Partial<Pick<LockedPackage, 'scope' | 'direct' | 'ecosystem'>>,
    Pick<LockedPackage, 'name' | 'version' | 'requirement'> {
  readonly license?: string | undefined;
  readonly integrity?: LockedPackage['integrity'] | undefined;
  /** Absent: where there is an `integrity`. */
  readonly isHashed?: boolean;
  readonly source?: LockedPackage['source'] | undefined;
  readonly origin?: string | undefined;
  readonly resolvedAs?: string | undefined;
  readonly line?: number | undefined;
  readonly revision?: string | undefined;
  readonly qualifiers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Keys of its dependencies, or texts that `resolve` converts to keys. */
  readonly asks: readonly string[];
}

const maxPackages = 200_000;
const maxEdges = 4_000_000;

/** Collects the packages of one lockfile by key, then resolves their dependencies to purls. */
export class LockBuilder {
  readonly entries = new Map<string, LockEntry>();
  readonly #reading: ReadingBuilder;
  #edges = 0;

  constructor(reading: ReadingBuilder) {
    this.#reading = reading;
  }

  /** The later of two entries with one key is left out. */
  add(key: string, entry: LockEntry): void {
    this.#edges += entry.asks.length;
    if (this.entries.size >= maxPackages || this.#edges > maxEdges)
      this.#reading.problem(`it holds more than ${maxPackages} packages or ${maxEdges} relations`);
    else if (!isName(entry.name) || entry.version.length > 512 || /\p{Cc}/u.test(entry.version))
      this.#reading.problem('it holds a package whose name or version is none');
    else if (!this.entries.has(key)) this.entries.set(key, entry);
  }

  /** Passes the packages to the reading; omits dependencies for which `resolve` finds no entry. */
  finish(resolve: (asked: string, from: string) => string | undefined = (asked) => asked): void {
    const { path, kind } = this.#reading;
    const purls = new Map<string, string>();
    for (const [key, entry] of this.entries) purls.set(key, purlOf(entry, kind.ecosystem));
    const locked: LockedPackage[] = [];
    for (const [key, entry] of this.entries) {
      const dependsOn: string[] = [];
      for (const asked of entry.asks) {
        const target = resolve(asked, key);
        const purl = target === undefined || target === key ? undefined : purls.get(target);
        if (purl !== undefined) dependsOn.push(purl);
      }
      // Filled in field by field: spreading costs more than everything else here.
      const made: { -readonly [Key in keyof LockedPackage]: LockedPackage[Key] } = {
        ecosystem: entry.ecosystem ?? kind.ecosystem,
        name: entry.name,
        version: entry.version,
        purl: purls.get(key) ?? '',
        direct: entry.direct ?? false,
        scope: entry.scope ?? 'unknown',
        dependsOn: dependsOn.length > 1 ? [...new Set(dependsOn)].sort() : dependsOn,
        declaredIn: path,
      };
      if (entry.license) made.license = entry.license;
      if (entry.integrity) made.integrity = entry.integrity;
      if (entry.isHashed ?? entry.integrity) made.isHashed = true;
      if (entry.source) made.source = entry.source;
      if (entry.origin) made.origin = entry.origin;
      if (entry.requirement) made.requirement = entry.requirement;
      if (entry.resolvedAs) made.resolvedAs = entry.resolvedAs;
      if (entry.line !== undefined) made.line = entry.line;
      locked.push(made);
    }
    this.#reading.locked = locked;
  }
}

/** Entries of a list of packages with their names and lines; one without a name is a problem. */
export function* namedTables(
  reading: ReadingBuilder,
  list: readonly unknown[],
): Generator<readonly [entry: Table, name: string, line: number | undefined]> {
  const lines = reading.lines();
  const before = reading.kind.id === 'composer.lock' ? '"name": ' : 'name = ';
  for (const entry of list.map(tableOf)) {
    const name = textOf(entry.name);
    if (name === '') reading.problem('a package has no name');
    else yield [entry, name, lines.next(before + JSON.stringify(name))];
  }
}

/** The purl of an entry: a git or URL source is a qualifier, since the registry has another package of that name. */
export function purlOf(
  entry: Pick<LockEntry, 'name' | 'version' | 'source' | 'origin' | 'revision' | 'qualifiers' | 'ecosystem'>,
  ecosystem: Ecosystem,
): string {
  const { name, version, source, origin, revision, qualifiers } = entry;
  const vcs = source === 'git' && origin ? `git+${origin}${revision ? `@${revision}` : ''}` : undefined;
  const url = source === 'url' && origin ? origin : undefined;
  return toPurl({
    ecosystem: entry.ecosystem ?? ecosystem,
    name,
    version,
    qualifiers: { ...qualifiers, vcs_url: vcs, download_url: url },
  });
}

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

type Integrity = NonNullable<LockedPackage['integrity']>;

const sizes: Readonly<Record<string, number>> = { sha512: 64, sha384: 48, sha256: 32, sha1: 20, md5: 16 };

/**
 * Returns the strongest digest of a subresource integrity string (`sha512-…`, several separated by spaces);
 * `undefined` if it is malformed.
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

/** Parses `sha256:<hex>`, `sha256=<hex>` or, with `algorithm`, the bare hex; `undefined` if malformed. */
export function fromHex(text: string, algorithm?: string): Integrity | undefined {
  const [, named, hex = ''] = /^(?:(sha1|sha256|sha384|sha512|md5)[:=])?([0-9a-fA-F]+)$/.exec(text) ?? [];
  const name = named ?? algorithm;
  if (name === undefined || hex.length !== (sizes[name] ?? 0) * 2) return undefined;
  return { algorithm: name, value: hex.toLowerCase() };
}
