/* Finds where manifests and lockfiles disagree. */
import { withoutCredentials } from './locked-package.ts';
import { type DeclaredDependency, directoryOf, type FileReading, stated } from './reading.ts';

/** One requirement of a manifest that its lockfile lacks or records differently. */
export interface LockfileDrift {
  readonly path: string;
  readonly lockfile: string;
  readonly name: string;
  readonly line?: number;
  /**
   * `expected` is the manifest's requirement. `found` is the requirement in the lockfile; absent if it records none.
   */
  readonly expected: string;
  readonly found?: string;
}

/**
 * Finds where manifests and their lockfiles disagree. For npm, pnpm, bun and Bundler, this is a requirement that the
 * lockfile's copy of the manifest lacks. For the others, it is a dependency name that the lockfile lacks. A manifest
 * without a lockfile never disagrees.
 */
export function lockfileDrift(readings: readonly FileReading[]): readonly LockfileDrift[] {
  const locks = new LocksOf(readings);
  const names = new Map<FileReading, ReadonlySet<string>>();
  const drift: LockfileDrift[] = [];
  for (const manifest of readings) {
    if (manifest.kind.role !== 'manifest') continue;
    for (const lock of locks.governing(manifest)) {
      // A lockfile that cannot be read is a problem already.
      if (lock.problems.length > 0) continue;
      const held = names.get(lock) ?? new Set(lock.locked.map(({ name }) => name));
      names.set(lock, held);
      const mirror = lock.mirrored?.get(relativeTo(lock, manifest));
      for (const one of manifest.declared) {
        const found = mirror && one.source !== 'path' ? differs(one, mirror, manifest) : undefined;
        const isMissing = mirror === undefined && !held.has(one.name) && !lock.local.has(one.name);
        if (one.needNotBeLocked || one.isOverride || (found === undefined && !isMissing)) continue;
        drift.push(
          stated({
            path: manifest.path,
            lockfile: lock.path,
            name: one.key,
            expected: one.requirement,
            line: one.line,
            found: found?.is,
          }),
        );
        break;
      }
    }
  }
  return drift;
}

/** Lockfiles of the base that are gone, although their manifests still exist and no other lockfile replaced them. */
export function lostLockfiles(
  base: readonly FileReading[],
  candidate: readonly FileReading[],
): readonly string[] {
  const now = new LocksOf(candidate);
  const paths = new Set(candidate.map(({ path }) => path));
  return base
    .filter(({ path, kind }) => kind.role === 'lockfile' && kind.id !== 'go.sum' && !paths.has(path))
    .filter((lock) =>
      candidate.some(
        (manifest) =>
          manifest.kind.role === 'manifest' &&
          manifest.kind.ecosystem === lock.kind.ecosystem &&
          directoryOf(manifest.path) === directoryOf(lock.path) &&
          manifest.declared.length > 0 &&
          now.nearest(manifest).length === 0,
      ),
    )
    .map(({ path }) => path);
}

function relativeTo(lock: FileReading, manifest: FileReading): string {
  const [place, directory] = [directoryOf(lock.path), directoryOf(manifest.path)];
  if (place === directory) return '';
  return place === '' ? directory : directory.slice(place.length + 1);
}

function differs(
  one: DeclaredDependency,
  mirror: ReadonlyMap<string, string>,
  manifest: FileReading,
): { readonly is: string } | undefined {
  const written = mirror.get(one.key);
  if (written === undefined) return { is: 'nothing' };
  const found = withoutCredentials(written);
  // pnpm writes what an override makes of it, Bundler its own form of a git requirement.
  if (manifest.declared.some(({ isOverride }) => isOverride) || /^catalog:/.test(one.requirement))
    return undefined;
  if (one.ecosystem !== 'rubygems') return found === one.requirement ? undefined : { is: found };
  return gemForm(found) === gemForm(one.requirement) || one.source === 'git' ? undefined : { is: found };
}

/** `1.0`, `= 1.0` and lists in any order are one requirement. */
function gemForm(requirement: string): string {
  return requirement
    .split(',')
    .map((part) =>
      part
        .trim()
        .replace(/^(?:=\s*)?(?=\d)/, '= ')
        .replace(/\s+/g, ' '),
    )
    .filter((part) => part !== '' && part !== '>= 0')
    .sort()
    .join(', ');
}

/** Finds the lockfile that pins the dependencies of a manifest. */
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

  /** Those of `nearest` that certainly cover this manifest: they are in its directory, or name it as a member. */
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
