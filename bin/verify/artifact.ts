import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { GivenArtifact } from '../../attest/verify/given-artifact.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { CommandContext } from '../command.ts';
import { readInput } from '../read-input.ts';

/** Most octets of an artifact whose very bytes were signed, and of one that may be an attestation itself. */
const maxSignedBytes = 512 * 1024 * 1024;
const maxAttestationBytes = 16 * 1024 * 1024;

/** `--artifact`: a digest as `sha256:…`, else a file of any size, which is hashed as it is read. INPUT_UNREADABLE. */
export async function readArtifact(
  context: Pick<CommandContext, 'cwd' | 'stdin' | 'signal'>,
  name: string,
): Promise<GivenArtifact> {
  const digest = /^sha256:(.*)$/s.exec(name)?.[1];
  if (digest !== undefined) {
    if (/^[0-9a-f]{64}$/.test(digest)) return { name, sha256: digest };
    throw new WritError('USAGE', {
      message: `\`--artifact\` expected \`sha256:\` and 64 lower-case hex digits, found \`${name}\``,
      detail: { command: 'verify', option: '--artifact', found: name },
    });
  }
  const { sha256, head } = await hashFile(resolve(context.cwd, name), name, context.signal);
  const read = () => readInput(context, name, { maxBytes: maxSignedBytes });
  const signed = head === undefined ? undefined : await signedDigest(head);
  return { name, sha256, read, ...(signed === undefined ? {} : { signed }) };
}

/** SHA-256 of a file, and its bytes where they are few and look like JSON. */
async function hashFile(
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly sha256: string; readonly head: Buffer | undefined }> {
  const hash = createHash('sha256');
  let kept: Buffer[] | undefined = [];
  let total = 0;
  try {
    for await (const chunk of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) {
      const bytes: Buffer = chunk;
      if (total === 0 && bytes[0] !== 0x7b) kept = undefined;
      total += bytes.length;
      if (total > maxAttestationBytes) kept = undefined;
      kept?.push(bytes);
      hash.update(bytes);
    }
  } catch (cause) {
    if (isWritError(signal.reason)) throw signal.reason;
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${name}\` cannot be read: ${messageOf(cause)}`,
      detail: { path: name, expected: 'a file, or `sha256:` and its digest' },
      cause,
    });
  }
  return { sha256: hash.digest('hex'), head: total > 0 && kept ? Buffer.concat(kept) : undefined };
}

/** What the signature of an attestation covers: that is what a log holds of it. */
async function signedDigest(bytes: Buffer): Promise<string | undefined> {
  const [{ preAuthEncoding }, { parseAnyBundle }] = await Promise.all([
    import('../../attest/dsse.ts'),
    import('../../attest/verify/any-bundle.ts'),
  ]);
  try {
    const { content } = parseAnyBundle(bytes);
    if (content.kind === 'message') return content.digest.toString('hex');
    return sha256Hex(preAuthEncoding(content.payloadType, content.payload));
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
