import { toPurl } from '../../readers/packages/lock-builder.ts';
import type { LockedPackage } from '../../readers/packages/package-set.ts';
import type { FileReading } from '../../readers/packages/reading.ts';
import { licenseKey } from './spdx-expression.ts';

/** What is said about one package's license. */
export interface StatedLicense {
  /** The one that all agree on, or the config's word for this very version. */
  readonly license?: string;
  /** All of them, where they disagree. */
  readonly conflicting?: readonly string[];
}

/**
 * Licenses by what lockfiles, vendored packages and `[licenses]` at base say. The config's word for a version settles
 * the matter; its word for a package in general counts like the others. Nothing said is an empty answer.
 */
export class StatedLicenses {
  readonly #config: ReadonlyMap<string, unknown>;
  readonly #vendored = new Map<string, string[]>();
  readonly #locked = new Map<string, string[]>();

  constructor(readings: readonly FileReading[], packages: unknown) {
    const table =
      typeof packages === 'object' && packages !== null && !Array.isArray(packages) ? packages : {};
    this.#config = new Map(Object.entries(table));
    for (const { kind, licenses, locked } of readings) {
      for (const [key, license] of licenses ?? []) add(this.#vendored, `${kind.ecosystem} ${key}`, license);
      for (const { ecosystem, name, version, license } of locked)
        if (license !== undefined) add(this.#locked, `${ecosystem} ${name}@${version}`, license);
    }
  }

  of({ ecosystem, name, version }: Pick<LockedPackage, 'ecosystem' | 'name' | 'version'>): StatedLicense {
    const exact = version === '' ? undefined : this.#config.get(toPurl({ ecosystem, name, version }));
    if (typeof exact === 'string') return { license: exact };
    const general = this.#config.get(toPurl({ ecosystem, name, version: '' }));
    const key = `${ecosystem} ${name}`;
    const said = [
      ...(typeof general === 'string' ? [general] : []),
      ...(this.#locked.get(`${key}@${version}`) ?? []),
      ...(this.#vendored.get(`${key}@${version}`) ?? this.#vendored.get(key) ?? []),
    ];
    const different = new Map(said.map((license) => [licenseKey(license), license]));
    const [first] = said;
    if (first === undefined) return {};
    return different.size > 1 ? { conflicting: [...different.values()].slice(0, 5) } : { license: first };
  }
}

function add(map: Map<string, string[]>, key: string, license: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [license]);
  else if (known.length < 20 && !known.includes(license)) known.push(license);
}
