import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { askGit, type GitDirectory } from '../../workspace/git/git.ts';
import { type Environment, homeOf } from '../keys/user-config-dir.ts';

/** The key an approver signs with: a file, or a public key as text whose private half is in the SSH agent. */
export type ApproverKey = { readonly file: string } | { readonly publicKey: string };

const literal = /^(?:key::)?((?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/=]+)/;

/**
 * The person's own signing key: `user.signingkey` where git signs with SSH, else `~/.ssh/id_ed25519` (or its `.pub`
 * beside an agent). USAGE that says what to pass where there is none; `given` (`--key`, absolute) stands above both and
 * must exist (INPUT_UNREADABLE).
 */
export async function findApproverKey(
  given: string | undefined,
  repository: GitDirectory,
  env: Environment,
): Promise<ApproverKey> {
  if (given !== undefined) {
    if (await isFile(given)) return { file: given };
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${given}\` is no key file`,
      detail: { path: given },
    });
  }
  const format = await configured(repository, ['--get', 'gpg.format']);
  const named =
    format === 'ssh' ? await configured(repository, ['--type=path', '--get', 'user.signingkey']) : '';
  const publicKey = literal.exec(named)?.[1];
  if (publicKey !== undefined) return { publicKey };
  if (named !== '') return { file: resolve(repository.cwd, named) };
  const own = join(homeOf(env), '.ssh', 'id_ed25519');
  for (const file of [own, `${own}.pub`]) if (await isFile(file)) return { file };
  throw new WritError('USAGE', {
    message: 'no SSH key to approve with: git does not sign with one, and there is no `~/.ssh/id_ed25519`',
    detail: { looked_for: ['user.signingkey', own, `${own}.pub`] },
    hints: [
      'pass one: `--key FILE` (a private key, or a `.pub` file whose private half is in the agent)',
      'or let git know it: `git config gpg.format ssh` and `git config user.signingkey FILE`',
    ],
  });
}

async function configured(repository: GitDirectory, args: readonly string[]): Promise<string> {
  const { code, stdout } = await askGit(repository, ['config', ...args]);
  return code === 0 ? stdout.toString('utf8').trim() : '';
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
