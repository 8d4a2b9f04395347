import type { Ecosystem, LockedPackage } from './locked-package.ts';
import { toPurl } from './purl.ts';
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
  /** Commit of a git source. */
  readonly revision?: string | undefined;
  readonly qualifiers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Keys of what it asks for, or what `resolve` makes keys of. */
  readonly asks: readonly string[];
}

const maxPackages = 200_000;
const maxEdges = 4_000_000;

/** Collects the packages of one lockfile by key, then turns what they ask for into purls. */
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

  /** Hands the packages to the reading; what `resolve` finds no entry for is left out. */
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
