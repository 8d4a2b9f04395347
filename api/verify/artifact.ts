/* Reads an artifact given on the command line: a file or a digest. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { maxBundleBytes } from '../../attest/bundle/any-bundle.ts';
import { parseBase64Octets } from '../../attest/encoding/expect-json.ts';
import { type ArtifactHash, artifactHashes, type GivenArtifact } from '../../attest/verify/given-artifact.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type InputSource, readInput, reasonOf } from '../read-input.ts';
import { digestOfSigned } from './target-meanings.ts';

/** Size limit in bytes of an artifact that is hashed because its exact bytes were signed. */
const maxSignedBytes = 512 * 1024 * 1024;

/**
 * `--artifact`: a digest as `sha256:…`, `sha384:…` or `sha512:…` in hex, or as `sha512-…` in base64 (Subresource
 * Integrity, as lockfiles have it); a digest by an algorithm that in-toto does not define as `NAME:VALUE`, where no
 * file is called so; else a file of any size, which is hashed as it is read. INPUT_UNREADABLE.
 */
export async function readArtifact(context: InputSource, name: string): Promise<GivenArtifact> {
  const [, hash = '', sign, text = ''] = /^(sha(?:256|384|512))([:-])(.*)$/s.exec(name) ?? [];
  if (isArtifactHash(hash)) return { name, [hash]: readDigest(name, hash, sign === ':', text) };
  const named = readNamed(name);
  if (named && !existsSync(resolve(context.cwd, name))) return { name, named };
  const path = resolve(context.cwd, name);
  const { digests, head } = await hashFile(path, name, context.signal);
  const read = () => readInput(context, name, { maxBytes: maxSignedBytes });
  const signed = head === undefined ? undefined : digestOfSigned(head);
  const open = () => createReadStream(path, { highWaterMark: 1024 * 1024 });
  return { name, ...digests, read, open, ...(signed === undefined ? {} : { signed }) };
}

/** Such as `gce_image_id:1234`. What looks like a hash is none of these: a mistake in its name stays an error. */
function readNamed(name: string): GivenArtifact['named'] {
  const [, algorithm = '', value = ''] =
    /^([A-Za-z][A-Za-z0-9]{0,31}(?:_[A-Za-z0-9]{1,32}){1,4}):([!-.0-~]{1,512})$/.exec(name) ?? [];
  if (algorithm === '' || /^(?:sha|md|blake|ripemd|git|dir)/i.test(algorithm)) return undefined;
  return { algorithm, value };
}

function isArtifactHash(name: string): name is ArtifactHash {
  return (artifactHashes as readonly string[]).includes(name);
}

function readDigest(name: string, hash: ArtifactHash, isHex: boolean, text: string): string {
  const bits = Number(hash.slice(3));
  const bytes = isHex ? undefined : parseBase64Octets(text, bits / 8);
  if (bytes) return bytes.toString('hex');
  if (isHex && text.length === bits / 4 && /^[0-9a-f]+$/.test(text)) return text;
  throw new WritError('USAGE', {
    message: `\`--artifact\` expected \`${hash}:\` and ${bits / 4} lower-case hex digits, or \`${hash}-\` and base64 of ${bits / 8} octets, found \`${name}\``,
    detail: { command: 'verify', option: '--artifact', found: name },
  });
}

/** Digests of a file, and its bytes where they are few and look like JSON. */
async function hashFile(
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly digests: Record<ArtifactHash, string>; readonly head: Buffer | undefined }> {
  const hashes = artifactHashes.map((hash) => [hash, createHash(hash)] as const);
  let kept: Buffer[] | undefined = [];
  let total = 0;
  try {
    // It is read more than once, and a pipe would be waited for.
    const found = await stat(path);
    if (!found.isFile() && !found.isDirectory())
      throw new Error('it is no regular file; save it to one first');
    for await (const chunk of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) {
      const bytes: Buffer = chunk;
      if (total === 0 && bytes[0] !== 0x7b) kept = undefined;
      total += bytes.length;
      if (total > maxBundleBytes) kept = undefined;
      kept?.push(bytes);
      for (const [, hash] of hashes) hash.update(bytes);
    }
  } catch (cause) {
    if (isWritError(signal.reason)) throw signal.reason;
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${name}\` cannot be read: ${reasonOf(cause)}`,
      detail: { path: name, expected: 'a file, or `sha256:` and its digest' },
      cause,
    });
  }
  const digests = Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest('hex')]));
  return {
    digests: digests as Record<ArtifactHash, string>,
    head: total > 0 && kept ? Buffer.concat(kept) : undefined,
  };
}
