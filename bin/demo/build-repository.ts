import { cp, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WritError } from '../../core/base/errors.ts';
import { execFileBounded } from '../../engine/tool/spawn.ts';

/** The sample's files as shipped: two states of the service, the contract, four patches, an advisory. */
export const demoFiles = fileURLToPath(new URL('../../fixtures/demo/', import.meta.url));

/** What a model said when its run was recorded (`scripts/record-demo.ts`). */
export const demoTraffic = join(demoFiles, 'model');

/** The same of the session (`scripts/record-demo.ts --session`). */
export const sessionTraffic = join(demoFiles, 'session');

/** Who wrote the sample; whoever runs the demonstration works under this name. */
export const maintainer = { name: 'Orders maintainer', email: 'maintainer@orders.example' } as const;

/**
 * The two commits of the sample's history, oldest first; dates are fixed, so that nothing but the people's keys makes
 * ids differ.
 */
const history = [
  { folder: 'base', message: 'Orders service', date: '2025-03-01T09:00:00Z' },
  { folder: 'second', message: 'Limit the rate of requests', date: '2025-03-02T09:00:00Z' },
] as const;

/**
 * Makes the sample repository at `directory` (must not exist) with real git. `env` names the program path and a private
 * home; `allowedSigners` is who may approve, from the first commit on.
 */
export async function buildRepository(
  directory: string,
  env: Readonly<Record<string, string>>,
  allowedSigners?: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const git = async (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const { code, stderr } = await execFileBounded(['git', ...args], {
      cwd: directory,
      env: { ...env, ...more },
      maxBytes: 1_000_000,
    });
    if (code !== 0)
      throw new WritError('GIT_FAILED', {
        message: `\`git ${args[0]}\` failed: ${stderr.toString('utf8').trim().slice(0, 500)}`,
      });
  };
  await git(['init', '--quiet', '--initial-branch=main', '--template=']);
  await git(['config', 'user.name', maintainer.name]);
  await git(['config', 'user.email', maintainer.email]);
  for (const { folder, message, date } of history) {
    await cp(join(demoFiles, folder), directory, { recursive: true });
    await restoreDotFiles(directory);
    if (allowedSigners !== undefined)
      await writeFile(join(directory, '.writ', 'allowed_signers'), allowedSigners);
    await git(['add', '--all', '--force', '.']);
    await git(['commit', '--quiet', '--no-verify', '--no-gpg-sign', '-m', message], {
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    });
  }
}

/** Packages and tools treat dot files specially, so they are shipped as `dot.<name>`. */
async function restoreDotFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('dot.'))
      await rename(join(directory, name), join(directory, name.slice('dot'.length)));
  }
}
