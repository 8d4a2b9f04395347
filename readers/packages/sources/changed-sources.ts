/* Finds changed settings of package sources. */
import { directoryOf, type FileReading, stated } from '../reading.ts';
import type { PackageSource } from './package-source.ts';

/** A choice of where packages come from that the candidate makes otherwise than the base. */
export interface ChangedSource {
  readonly path: string;
  readonly line?: number;
  readonly key: string;
  /** Absent if the file chose no source, so that the tool used its default. */
  readonly was?: string;
  readonly is?: string;
}

/**
 * Returns the sources that a file newly names or no longer names. Order, format and credentials do not count. The
 * tool's default source counts only if it replaces another one. In a new file, a source that the base already names
 * for the same scope is not new. A deleted file counts only if dependency files in its scope still exist.
 */
export function changedSources(
  base: readonly FileReading[],
  candidate: readonly FileReading[],
): readonly ChangedSource[] {
  const before = new Map(base.map((reading) => [reading.path, reading]));
  const after = new Set(candidate.map(({ path }) => path));
  const known = new Map<string, string[]>();
  for (const { path, kind, sources } of base)
    for (const source of sources) {
      const id = `${kind.ecosystem} ${source.key} ${source.value}`;
      known.set(id, [...(known.get(id) ?? []).slice(0, 100), path]);
    }
  const isKnown = ({ path, kind }: FileReading, { key, value }: PackageSource): boolean => {
    const said = known.get(`${kind.ecosystem} ${key} ${value}`) ?? [];
    if (kind.role !== 'config') return said.length > 0;
    const place = realm(path);
    if (!speaksFor(place, kind.ecosystem, base)) return said.length > 0;
    return said.some((other) => isWithin(place, realm(other)));
  };
  const changes: ChangedSource[] = [];
  for (const reading of candidate) {
    const old = before.get(reading.path);
    if (old === reading) continue;
    if (old) changes.push(...compare(old, reading));
    else
      changes.push(
        ...compare(
          { ...reading, sources: [] },
          {
            ...reading,
            sources: reading.sources.filter((source) => !isKnown(reading, source)),
          },
        ),
      );
  }
  for (const reading of base) {
    if (reading.kind.role !== 'config' || after.has(reading.path)) continue;
    if (speaksFor(realm(reading.path), reading.kind.ecosystem, candidate))
      changes.push(...compare(reading, { ...reading, sources: [] }));
  }
  return changes;
}

/**
 * The directory below which a configuration file holds: that of the project, not `.cargo`, `.mvn` or `gradle/wrapper`.
 */
function realm(path: string): string {
  return directoryOf(path).replace(/(?:^|\/)(?:\.mvn\/wrapper|gradle\/wrapper|\.[\w-]+)$/, '');
}

function isWithin(directory: string, outer: string): boolean {
  return outer === '' || directory === outer || directory.startsWith(`${outer}/`);
}

function speaksFor(place: string, ecosystem: string, readings: readonly FileReading[]): boolean {
  return readings.some(
    ({ path, kind }) =>
      (kind.role === 'manifest' || kind.role === 'lockfile' || kind.role === 'unread') &&
      kind.ecosystem === ecosystem &&
      isWithin(directoryOf(path), place),
  );
}

function compare(old: FileReading, now: FileReading): readonly ChangedSource[] {
  const { path, kind } = now;
  const gone = missingIn(now, old);
  const come = missingIn(old, now);
  const changes: ChangedSource[] = [];
  const lost = new Map<string, PackageSource[]>();
  // Entries missing from a broken file are unknown, not removed; the fault itself is reported elsewhere.
  for (const source of now.problems.length > 0 && kind.role !== 'unread' ? [] : gone)
    lost.set(source.key, [...(lost.get(source.key) ?? []), source]);
  for (const { key, value, line, counts } of come) {
    const instead = lost.get(key)?.shift();
    if (counts === 'lost' && instead === undefined) continue;
    changes.push(stated({ path, key, is: value, was: instead?.value, line }));
  }
  for (const sources of lost.values())
    for (const { key, value, counts } of sources)
      if (counts !== 'added') changes.push({ path, key, was: value });
  return changes;
}

/** Sources of `right` that `left` does not name, each once. */
function missingIn(left: FileReading, right: FileReading): readonly PackageSource[] {
  const said = new Set(left.sources.map(({ key, value }) => `${key} ${value}`));
  const group = (key: string): string => (right.kind.ecosystem === 'pypi' ? '' : key);
  const placed = new Set(left.sources.filter(({ isDefault }) => !isDefault).map(({ key }) => group(key)));
  return right.sources.filter(({ key, value, isDefault }) => {
    const id = `${key} ${value}`;
    if (said.has(id)) return false;
    said.add(id);
    return !isDefault || placed.has(group(key));
  });
}
