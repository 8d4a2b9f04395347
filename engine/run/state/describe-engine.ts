import { readdirSync, readFileSync } from 'node:fs';
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
    .flatMap((folder) => modulesBelow(folder))
    .sort()
    .map((path) => `${sha256Hex(readFileSync(root + path))}  ${path}\n`);
  return sha256Hex(lines.join(''));
}

/** Paths from the root, with slashes. None where there is no such directory: a package has fewer than a checkout. */
function modulesBelow(directory: string): readonly string[] {
  try {
    return readdirSync(root + directory, { withFileTypes: true }).flatMap((entry) => {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) return modulesBelow(path);
      return entry.isFile() && /(?<!\.d)\.(?:ts|js)$/.test(entry.name) ? [path] : [];
    });
  } catch {
    return [];
  }
}
