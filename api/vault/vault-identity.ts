import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createOnce } from '../../attest/keys/create-once.ts';
import { WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/guarded-file.ts';
import { makeIdentity } from './age-text.ts';

/**
 * The user's identity; `undefined` where there is none yet. KEY_INSECURE where others can reach it, KEY_UNUSABLE where
 * it is none.
 */
export async function readIdentity(path: string): Promise<string | undefined> {
  const text = await readGuarded(path, true);
  if (text === undefined) return undefined;
  const line = text.split('\n').find((one) => one.trim() !== '' && !one.startsWith('#'));
  const identity = line?.trim() ?? '';
  if (/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/.test(identity)) return identity;
  throw new WritError('KEY_UNUSABLE', {
    message: `\`${path}\` is no identity of age`,
    detail: { path },
    hints: ['put the one back that the vaults were made for; without it they cannot be read'],
  });
}

/** The same, made 0600 where there is none; processes that race agree on one. */
export async function openIdentity(path: string): Promise<string> {
  const found = await readIdentity(path);
  if (found !== undefined) return found;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await createOnce(path, `${await makeIdentity()}\n`, 0o600);
  const made = await readIdentity(path);
  if (made === undefined)
    throw new WritError('KEY_UNUSABLE', { message: `\`${path}\` is gone`, detail: { path } });
  return made;
}
