import type { JudgeFile, JudgeReach } from '../../../../core/contract/judge-reach.ts';

const maxFiles = 500;
const maxPlaces = 1_000;
const maxDirectories = 20_000;

/** What has been found of the judge so far: at most 500 files; what is left out is told as a gap. */
export class FoundJudge {
  readonly #files = new Map<string, { role: JudgeFile['role']; checks: Set<string>; via: string }>();
  readonly #scripts = new Map<string, Set<string>>();
  readonly #programs = new Set<string>();
  readonly #places = new Set<string>();
  readonly #absent = new Map<string, string>();
  readonly #gaps = new Set<string>();

  /** False for one more than are taken. */
  file(path: string, role: JudgeFile['role'], check: string, via: string): boolean {
    const known = this.#files.get(path);
    if (known) {
      known.checks.add(check);
      if (known.role === 'test') known.role = role; // what is run as a script is no mere test
      return true;
    }
    if (this.#files.size >= maxFiles) {
      this.gap(`more than ${maxFiles} files`);
      return false;
    }
    this.#files.set(path, { role, checks: new Set([check]), via });
    return true;
  }

  /** A link on the way to a file. */
  link(path: string, check: string, via: string): void {
    this.#files.set(path, { role: 'script', checks: new Set([check]), via });
  }

  /** A file whose content turns out to be one of tests. */
  isTestAfterAll(path: string): void {
    const known = this.#files.get(path);
    if (known) known.role = 'test';
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** Files that are executed. */
  get scripts(): readonly string[] {
    return [...this.#files].flatMap(([path, { role }]) => (role === 'script' ? [path] : []));
  }

  /** Names of the scripts of a manifest that are reached; `undefined` where none has been asked for. */
  scriptsOf(manifest: string): ReadonlySet<string> | undefined {
    return this.#scripts.get(manifest);
  }

  script(manifest: string, name: string): void {
    const names = this.#scripts.get(manifest) ?? new Set<string>();
    this.#scripts.set(manifest, names.add(name));
  }

  program(name: string): void {
    this.#programs.add(name.slice(0, 100));
  }

  /** A directory in which programs run, or `**` for every one. */
  place(directory: string): void {
    if (this.#places.size < maxPlaces) this.#places.add(directory);
    else this.#places.add('**');
  }

  get places(): readonly string[] {
    return [...this.#places];
  }

  absent(path: string, via: string): void {
    if (this.#absent.size < maxFiles) this.#absent.set(path, this.#absent.get(path) ?? via);
  }

  gap(words: string): void {
    this.#gaps.add(words);
  }

  /** `directories`: those of the tree. */
  reach(directories: readonly string[]): JudgeReach {
    const paths = [...this.#files.keys()].sort();
    return {
      files: paths.flatMap((path) => {
        const found = this.#files.get(path);
        return found ? [{ path, role: found.role, checks: [...found.checks], via: found.via }] : [];
      }),
      scripts: Object.fromEntries([...this.#scripts].map(([path, names]) => [path, [...names].sort()])),
      programs: [...this.#programs].sort(),
      places: [...this.#places].sort(),
      gaps: [...this.#gaps],
      ...(directories.length > maxDirectories ? {} : { directories }),
      ...(this.#absent.size === 0 ? {} : { absent: Object.fromEntries(this.#absent) }),
    };
  }
}
