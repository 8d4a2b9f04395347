/* Version, commit and files of this program. */
import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openRepository } from '../workspace/git/repository.ts';
import { readHead } from '../workspace/git/resolve-commit.ts';

/** Beside what was built: `scripts/build.ts` writes it. */
const built = 'build.json';
const unknown = 'unknown';
const commitForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:-changed)?$/;

/**
 * Returns the commit this program was built from, with the suffix `-changed` if the build included uncommitted
 * changes. When run from sources, returns the checked-out commit.
 *
 * Returns `unknown` if the program's own files do not name a commit: a working tree around an installed package
 * belongs to its user.
 */
export async function readCommit(root = new URL('..', import.meta.url)): Promise<string> {
  const said = readBuilt(new URL(built, root));
  if (said !== undefined) return said;
  try {
    const place = await realpath(fileURLToPath(root));
    const repository = await openRepository(place, { onlyReads: true });
    if (repository.root !== place) return unknown;
    return (await readHead(repository)).commit ?? unknown;
  } catch {
    return unknown;
  }
}

function readBuilt(place: URL): string | undefined {
  try {
    const { commit } = JSON.parse(readFileSync(place, 'utf8')) as { readonly commit?: unknown };
    return typeof commit === 'string' && commitForm.test(commit) ? commit : unknown;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : unknown;
  }
}

/** A file or directory of this package, by its path from the root of the package. */
export function ownFile(path: string): URL {
  // Sources are in `api/`, what is built of them is in `dist/api/`.
  const root = import.meta.url.endsWith('.ts') ? '../' : '../../';
  return new URL(path, new URL(root, import.meta.url));
}

/** The package's version. */
export function readVersion(): string {
  const { name, version } = JSON.parse(readFileSync(ownFile('package.json'), 'utf8')) as {
    readonly name?: unknown;
    readonly version?: unknown;
  };
  if (name === 'writ' && typeof version === 'string') return version;
  throw new Error('package.json of writ is missing');
}
