import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { type LockedPackage, type Lockfile, readLockfile } from './lockfile.ts';
import { type DeclaredDependency, readManifest } from './manifest.ts';
import { readJsonObject } from './read-json-object.ts';

/** Everything that the changed npm files say, before and after. */
export interface NpmChanges {
  readonly base: NpmSide;
  readonly candidate: NpmSide;
  /** Candidate files that cannot be understood, with the reason; base files that cannot count as empty. */
  readonly faults: readonly { readonly path: string; readonly fault: string }[];
}

export interface NpmSide {
  readonly declared: readonly (DeclaredDependency & { readonly path: string })[];
  readonly locked: readonly (LockedPackage & { readonly path: string })[];
  readonly locks: readonly Lockfile[];
  /** Ids of every source that is declared or locked. */
  readonly sourceIds: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

const manifestName = /(?:^|\/)package\.json$/;
const lockName = /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/;

/** Compares package.json and package-lock.json files over the whole patch, so that a move between them is no news. */
export function npmChanges(input: RuleInput): NpmChanges {
  const base = new SideReader();
  const candidate = new SideReader();
  for (const file of input.patch.files) {
    if (!isNpmFile(file.path) && !isNpmFile(file.oldPath ?? '')) continue;
    const sides = input.files[file.path];
    const hasBase = file.changeType !== 'add';
    const hasCandidate = file.changeType !== 'delete';
    if (hasBase && isNpmFile(file.oldPath ?? file.path)) base.read(file.oldPath ?? file.path, sides?.base);
    if (hasCandidate && isNpmFile(file.path)) candidate.read(file.path, sides?.candidate);
  }
  return { base: base.side(), candidate: candidate.side(), faults: candidate.faults };
}

/** Narrows to files that npm reads. */
export function isNpmFile(path: PatchFile['path']): boolean {
  return manifestName.test(path) || lockName.test(path);
}

class SideReader {
  readonly faults: { path: string; fault: string }[] = [];
  readonly #declared: (DeclaredDependency & { path: string })[] = [];
  readonly #locked: (LockedPackage & { path: string })[] = [];
  readonly #locks: Lockfile[] = [];

  read(path: string, bytes: Uint8Array | undefined): void {
    const json = bytes === undefined ? { fault: 'its content was not given' } : readJsonObject(bytes);
    if ('fault' in json) {
      this.faults.push({ path, fault: json.fault });
      return;
    }
    if (lockName.test(path)) {
      const lock = readLockfile(json.value);
      this.#locks.push(lock);
      for (const one of lock.packages) this.#locked.push({ ...one, path });
      for (const fault of lock.faults) this.faults.push({ path, fault });
    } else {
      const { declared, faults } = readManifest(json.value);
      for (const one of declared) this.#declared.push({ ...one, path });
      for (const fault of faults) this.faults.push({ path, fault });
    }
  }

  side(): NpmSide {
    return {
      declared: this.#declared,
      locked: this.#locked,
      locks: this.#locks,
      sourceIds: new Set([...this.#declared, ...this.#locked].map(({ source }) => source.id)),
      origins: new Set(this.#locked.flatMap(({ origin }) => origin ?? [])),
    };
  }
}
