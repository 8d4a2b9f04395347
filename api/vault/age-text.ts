/** Encrypted for the owner of an identity, in the ASCII form of age-encryption.org/v1. */
export async function encryptText(text: string, identity: string): Promise<string> {
  const { armor, Encrypter, identityToRecipient } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  return armor.encode(await encrypter.encrypt(text));
}

/** Throws if the text is not an age file, is damaged, or was encrypted for another identity. */
export async function decryptText(text: string, identity: string): Promise<Uint8Array> {
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(armor.decode(text));
}

/** A new identity (X25519). */
export async function makeIdentity(): Promise<string> {
  const { generateX25519Identity } = await import('age-encryption');
  return generateX25519Identity();
}
