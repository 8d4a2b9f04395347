import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { DigestedThing } from '../../../core/contract/attestor.ts';

/** Where the modules of this very program are: a checkout, or `dist` of the package. */
const root = fileURLToPath(new URL('../../../', import.meta.url));
const folders = ['api', 'attest', 'bin', 'core', 'engine', 'gates', 'plugins', 'providers', 'readers'];

let described: string | undefined;

/**
 * The program that runs, for `builderDependencies`: SHA-256 over a line `<sha256>  <path>` for each of its modules,
 * sorted by path, as `sha256sum` prints them (`docs/build-type.md`). What it depends on is pinned by its version.
 */
export async function describeEngine(version: string): Promise<DigestedThing> {
  described ??= digestModules();
  return { name: 'writ', uri: `pkg:npm/writ@${version}`, digest: { sha256: described } };
}

/** Synchronous, once: a promise for each of a thousand files costs more than reading and hashing them. */
function digestModules(): string {
  const lines = folders
    .flatMap((folder) => entriesBelow(join(root, folder)))
    .filter((entry) => entry.isFile() && /(?<!\.d)\.(?:ts|js)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
    .map((path) => `${sha256Hex(readFileSync(join(root, path)))}  ${path}\n`);
  return sha256Hex(lines.join(''));
}

/** None where there is no such directory: a package has fewer than a checkout. */
function entriesBelow(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
}
