import { directoryOf, type FileReading } from './reading.ts';

/** Finds the lockfile that holds what a manifest asks for. */
export class LocksOf {
  readonly #locks = new Map<string, FileReading[]>();

  constructor(readings: readonly FileReading[]) {
    for (const reading of readings) {
      if (reading.kind.role !== 'lockfile' || reading.kind.id === 'go.sum') continue;
      const key = `${family(reading)} ${directoryOf(reading.path)}`;
      this.#locks.set(key, [...(this.#locks.get(key) ?? []), reading]);
    }
  }

  /** Lockfiles of the same family beside the manifest, or in the nearest directory above that has any. */
  nearest(manifest: FileReading): readonly FileReading[] {
    for (let directory = directoryOf(manifest.path); ; directory = directoryOf(directory)) {
      const found = this.#locks.get(`${family(manifest)} ${directory}`);
      if (found || directory === '') return found ?? [];
    }
  }

  /** Those of `nearest` that surely speak of this manifest: it stands beside them, or they name it as a member. */
  governing(manifest: FileReading): readonly FileReading[] {
    const directory = directoryOf(manifest.path);
    return this.nearest(manifest).filter((lock) => {
      const place = directoryOf(lock.path);
      const relative = place === '' ? directory : directory.slice(place.length + 1);
      if (lock.mirrored) return lock.mirrored.has(place === directory ? '' : relative);
      return place === directory || [...manifest.local].some((name) => lock.local.has(name));
    });
  }
}

/** Files that belong together: one ecosystem, of Python one tool. */
function family({ kind }: FileReading): string {
  if (kind.ecosystem !== 'pypi') return kind.ecosystem;
  return kind.id === 'Pipfile' || kind.id === 'Pipfile.lock' ? 'pipenv' : 'pypi';
}
