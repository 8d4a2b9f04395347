import { isDeepStrictEqual } from 'node:util';
import { readPackageSet } from '../readers/packages/apply-manifests.ts';
import { sized } from './sized.ts';

const count = sized(50_000, 50);
const maxSeconds = 2;
const integrity = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;
const other = (at: number, step: number): number => (at * step) % count;
const rows = (row: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => row(at)).join('');

/** Lockfiles of 50,000 packages, as their tools write them. */
const lockfiles: Readonly<Record<string, () => string>> = {
  'package-lock.json': () =>
    `{\n  "lockfileVersion": 3,\n  "packages": {\n    "": { "name": "x" }${rows(
      (at) =>
        `,\n    "node_modules/p-${at}": {\n      "version": "1.${at}.0",\n      "resolved": "https://registry.example/p-${at}/-/p-${at}-1.${at}.0.tgz",\n      "integrity": "${integrity}",\n      "license": "MIT",\n      "dependencies": { "p-${other(at, 7)}": "^1.0.0", "p-${other(at, 11)}": "^1.0.0" }\n    }`,
    )}\n  }\n}\n`,
  'pnpm-lock.yaml': () =>
    `lockfileVersion: '9.0'\n\npackages:\n${rows((at) => `\n  p-${at}@1.${at}.0:\n    resolution: {integrity: ${integrity}}\n`)}\nsnapshots:\n${rows((at) => `\n  p-${at}@1.${at}.0:\n    dependencies:\n      p-${other(at, 7)}: 1.${other(at, 7)}.0\n`)}`,
  'yarn.lock': () =>
    `# yarn lockfile v1\n\n${rows((at) => `\np-${at}@^1.0.0:\n  version "1.${at}.0"\n  resolved "https://registry.example/p-${at}/-/p-${at}-1.${at}.0.tgz"\n  integrity ${integrity}\n  dependencies:\n    p-${other(at, 7)} "^1.0.0"\n`)}`,
  'Cargo.lock': () =>
    `version = 3\n${rows((at) => `\n[[package]]\nname = "c-${at}"\nversion = "1.${at}.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${'a'.repeat(64)}"\ndependencies = [\n "c-${other(at, 7)}",\n]\n`)}`,
};

/** Reads a lockfile of 50,000 packages of each kind; true where each takes less than two seconds of processor time. */
export async function benchLockfiles(): Promise<boolean> {
  let held = true;
  for (const [path, make] of Object.entries(lockfiles)) {
    const bytes = new TextEncoder().encode(make());
    const before = process.cpuUsage();
    const set = readPackageSet(new Map([[path, bytes]]));
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    const isWhole = set.packages.length === count && isDeepStrictEqual(set.problems, []);
    const isHeld = isWhole && seconds < maxSeconds;
    process.stdout.write(
      `${isHeld ? 'ok    ' : 'MISSED'} ${path}: ${count} packages, ${(bytes.length / 1e6).toFixed(1)} MB in ${seconds.toFixed(2)} s (< ${maxSeconds})\n`,
    );
    held &&= isHeld;
  }
  return held;
}

if (import.meta.main) process.exit((await benchLockfiles()) ? 0 : 1);
