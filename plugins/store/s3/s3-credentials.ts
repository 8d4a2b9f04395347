/* Finds the credentials of the object store: environment, vault, credentials file; never a tracked file. */
import { realpathSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { WritError } from '../../../core/base/errors.ts';
import { readGuarded } from '../../../core/base/files.ts';
import type { RepositoryPlace } from '../../../core/interfaces/store.ts';
import { askGit } from '../../../workspace/git/git.ts';
import type { S3Credentials } from './s3-client.ts';

/** Where a store looks for secrets of the user. */
export interface StoreSecrets {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A secret of the repository's vault, else of the user's. */
  readonly vault?: (repository: RepositoryPlace, name: string) => Promise<string | undefined>;
}

const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;

/**
 * Reads them each time, so that renewed ones are found. STORE_CREDENTIALS if there are none, or git tracks the file;
 * KEY_INSECURE if others can read it.
 */
export async function findS3Credentials(
  repository: RepositoryPlace,
  { env, vault }: StoreSecrets,
): Promise<S3Credentials> {
  const found =
    pairOf(names.map((name) => env[name])) ??
    (vault && pairOf(await Promise.all(names.map((name) => vault(repository, name))))) ??
    (await readFile(repository, env));
  if (found !== undefined) return found;
  throw new WritError('STORE_CREDENTIALS', {
    message:
      'no credentials for the object store: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` are neither in the environment nor in the vault, and no credentials file has them',
    hints: ['set them: `writ vault set AWS_ACCESS_KEY_ID`, `writ vault set AWS_SECRET_ACCESS_KEY`'],
  });
}

/** A token without its pair belongs to other keys. */
function pairOf([id, secret, token]: readonly (string | undefined)[]): S3Credentials | undefined {
  if (!id || !secret) return undefined;
  return { accessKeyId: id, secretAccessKey: secret, ...(token ? { sessionToken: token } : {}) };
}

/** The form that the tools of AWS share: `[profile]`, then `aws_access_key_id = …`. */
async function readFile(
  repository: RepositoryPlace,
  { AWS_SHARED_CREDENTIALS_FILE: named, AWS_PROFILE: profile = 'default', HOME: home }: StoreSecrets['env'],
): Promise<S3Credentials | undefined> {
  const path = named || (home && join(home, '.aws', 'credentials'));
  if (!path) return undefined;
  const text = await readGuarded(resolve(path), true);
  if (text === undefined) return undefined;
  await requireUntracked(repository, resolve(path));
  const values = new Map<string, string>();
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1] ?? section;
    const [, key, value] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/i.exec(line) ?? [];
    if (section === profile && key !== undefined && value !== undefined) values.set(key.toUpperCase(), value);
  }
  return pairOf(names.map((name) => values.get(name)));
}

async function requireUntracked(repository: RepositoryPlace, path: string): Promise<void> {
  const inside = relative(realpathSync(repository.root), realpathSync(path));
  if (inside.startsWith('..')) return;
  const { stdout } = await askGit(repository, ['ls-files', '-z', '--', inside]);
  if (stdout.length > 0)
    throw new WritError('STORE_CREDENTIALS', {
      message: `git tracks \`${inside}\`, and credentials are never read from a tracked file`,
      detail: { path },
      hints: ['move the file out of the repository, and revoke these credentials: they are in its history'],
    });
}
