import { identityOf } from './new-dependencies.ts';
import { type FileReading, stated } from './reading.ts';

/** A version that stays what it was and whose content is fixed by no hash any more, or by another one. */
export interface ChangedHash {
  readonly path: string;
  readonly line?: number;
  readonly name: string;
  readonly version: string;
  readonly is: 'gone' | 'another';
}

interface Held {
  readonly name: string;
  readonly version: string;
  readonly line?: number;
  /** Copies with and without a hash; a bundled copy has none. */
  hashed: number;
  bare: number;
  readonly values: Set<string>;
}

/**
 * Entries of the same file, package, source and version, base to candidate. A stronger algorithm, and more files, are
 * no change.
 */
export function changedHashes(
  base: readonly FileReading[],
  candidate: readonly FileReading[],
): readonly ChangedHash[] {
  const before = new Map(base.map((reading) => [reading.path, reading]));
  return candidate.flatMap((reading): readonly ChangedHash[] => {
    const old = before.get(reading.path);
    // What a broken file no longer says is not known.
    if (old === undefined || old === reading || reading.problems.length > 0) return [];
    const held = hashesOf(old);
    return [...hashesOf(reading)].flatMap(([key, { name, version, line, hashed, bare, values }]) => {
      const was = held.get(key);
      if (was === undefined || was.hashed === 0) return [];
      const isGone = hashed < was.hashed && bare > was.bare;
      const isAnother = [...values].some((value) => isOther(value, was.values));
      if (!isGone && !isAnother) return [];
      const is = isGone ? ('gone' as const) : ('another' as const);
      return [stated({ path: reading.path, name, version, is, line })];
    });
  });
}

function hashesOf({ locked, declared }: FileReading): ReadonlyMap<string, Held> {
  const held = new Map<string, Held>();
  for (const one of [...locked, ...declared]) {
    if (one.version === undefined || one.version === '') continue;
    const key = `${identityOf(one)} ${one.version}`;
    const { name, version, line, isHashed } = one;
    const same = held.get(key) ?? {
      name,
      version,
      hashed: 0,
      bare: 0,
      values: new Set(),
      ...(line === undefined ? {} : { line }),
    };
    if (isHashed) same.hashed += 1;
    else same.bare += 1;
    if ('integrity' in one && one.integrity)
      same.values.add(`${one.integrity.algorithm} ${one.integrity.value}`);
    held.set(key, same);
  }
  return held;
}

/** The same algorithm gave only other values. */
function isOther(value: string, before: ReadonlySet<string>): boolean {
  const algorithm = value.slice(0, value.indexOf(' ') + 1);
  return !before.has(value) && [...before].some((one) => one.startsWith(algorithm));
}
