/* Encryption for people and machines (age-encryption.org/v1), and the X25519 identities that decrypt. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import { createOnce } from './key-signer.ts';

/**
 * The identity in a file; `undefined` where there is none yet. KEY_INSECURE where others can reach it, KEY_UNUSABLE
 * where it is none.
 */
export async function readIdentity(path: string): Promise<string | undefined> {
  const text = await readGuarded(path, true);
  if (text === undefined) return undefined;
  const line = text.split('\n').find((one) => one.trim() !== '' && !one.startsWith('#'));
  const identity = line?.trim() ?? '';
  if (/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/.test(identity)) return identity;
  throw new WritError('KEY_UNUSABLE', {
    message: `\`${path}\` is not an age key`,
    detail: { path },
    hints: ['restore the key: no other key can read what was encrypted for it'],
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

/** A new identity (X25519). */
export async function makeIdentity(): Promise<string> {
  const { generateX25519Identity } = await import('age-encryption');
  return generateX25519Identity();
}

/** The public part of an identity: `age1…`. */
export async function recipientOf(identity: string): Promise<string> {
  const { identityToRecipient } = await import('age-encryption');
  return identityToRecipient(identity);
}

/** Encrypts for the owners of these recipients alone, in ASCII form. KEY_UNUSABLE for a text that is no recipient. */
export async function encryptText(text: string, recipients: readonly string[]): Promise<string> {
  const { armor, Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients)
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      const message = `\`${recipient}\` is not an age recipient`;
      throw new WritError('KEY_UNUSABLE', { message, detail: { recipient }, cause });
    }
  return armor.encode(await encrypter.encrypt(text));
}

/** Throws if the text is not an age file, is damaged, or was encrypted for others. */
export async function decryptText(text: string, identity: string): Promise<Uint8Array> {
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(armor.decode(text));
}

/** Whether `decryptText` failed since the text was encrypted for other identities. */
export function isForOthers(fault: unknown): boolean {
  return /no identity matched/.test(messageOf(fault));
}
