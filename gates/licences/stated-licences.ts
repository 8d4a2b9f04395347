import type { LockedPackage } from '../../readers/packages/package-set.ts';
import { toPurl } from '../../readers/packages/purl.ts';
import type { FileReading } from '../../readers/packages/reading.ts';
import { licenceKey } from './spdx-expression.ts';

/** What is said about one package's licence. */
export interface StatedLicence {
  /** The one that all agree on, or the config's word for this very version. */
  readonly licence?: string;
  /** All of them, where they disagree. */
  readonly conflicting?: readonly string[];
}

/**
 * Licences by what lockfiles, vendored packages and `[licenses]` at base say. The config's word for a version settles the matter; its word for
 * a package in general counts like the others. Nothing said is an empty answer.
 */
export class StatedLicences {
  readonly #config: ReadonlyMap<string, unknown>;
  readonly #vendored = new Map<string, string[]>();
  readonly #locked = new Map<string, string[]>();

  constructor(readings: readonly FileReading[], packages: unknown) {
    const table =
      typeof packages === 'object' && packages !== null && !Array.isArray(packages) ? packages : {};
    this.#config = new Map(Object.entries(table));
    for (const { kind, licences, locked } of readings) {
      for (const [key, licence] of licences ?? []) add(this.#vendored, `${kind.ecosystem} ${key}`, licence);
      for (const { ecosystem, name, version, license } of locked)
        if (license !== undefined) add(this.#locked, `${ecosystem} ${name}@${version}`, license);
    }
  }

  of({ ecosystem, name, version }: Pick<LockedPackage, 'ecosystem' | 'name' | 'version'>): StatedLicence {
    const exact = version === '' ? undefined : this.#config.get(toPurl({ ecosystem, name, version }));
    if (typeof exact === 'string') return { licence: exact };
    const general = this.#config.get(toPurl({ ecosystem, name, version: '' }));
    const key = `${ecosystem} ${name}`;
    const said = [
      ...(typeof general === 'string' ? [general] : []),
      ...(this.#locked.get(`${key}@${version}`) ?? []),
      ...(this.#vendored.get(`${key}@${version}`) ?? this.#vendored.get(key) ?? []),
    ];
    const different = new Map(said.map((licence) => [licenceKey(licence), licence]));
    const [first] = said;
    if (first === undefined) return {};
    return different.size > 1 ? { conflicting: [...different.values()].slice(0, 5) } : { licence: first };
  }
}

function add(map: Map<string, string[]>, key: string, licence: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [licence]);
  else if (known.length < 20 && !known.includes(licence)) known.push(licence);
}
