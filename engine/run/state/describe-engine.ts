import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { DigestedThing } from '../../../core/contract/attestor.ts';

/** Where the modules of this very program are: a checkout, or `dist` of the package. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const folders = ['api', 'attest', 'bin', 'core', 'engine', 'gates', 'plugins', 'providers', 'readers'];

let described: Promise<string> | undefined;

/**
 * The program that runs, for `builderDependencies`: SHA-256 over a line `<sha256>  <path>` for each of its modules, sorted by path, as
 * `sha256sum` prints them (`docs/build-type.md`). What it depends on is pinned by its version.
 */
export async function describeEngine(version: string): Promise<DigestedThing> {
  described ??= digestModules();
  return { name: 'writ', uri: `pkg:npm/writ@${version}`, digest: { sha256: await described } };
}

async function digestModules(): Promise<string> {
  const found = await Promise.all(
    folders.map((folder) =>
      readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  );
  const paths = found
    .flat()
    .filter((entry) => entry.isFile() && /(?<!\.d)\.(?:ts|js)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
  const lines = await Promise.all(
    paths.map(async (path) => `${sha256Hex(await readFile(join(root, path)))}  ${path}\n`),
  );
  return sha256Hex(lines.join(''));
}
