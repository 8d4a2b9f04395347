/* The tokens by which repositories append to a shared ledger: one file with a digest for each. */
import { lstatSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { equalSecret, sha256Hex } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { isDraft, readPlain, whyInsecure, writeDurably } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { repositoryName } from './shared-ledger.ts';

/** Below the server's directory. */
const tokensPath = 'tokens';
const maxFileBytes = 4096;

/** What a token allows. */
export interface TokenLimits {
  /** Entries a minute, and as many at once. */
  readonly perMinute: number;
  /** Longest entry, in octets. */
  readonly maxBytes: number;
}

/** An entry of a run has about 600 octets; a certificate makes it 2,000. */
export const usualLimits: TokenLimits = { perMinute: 600, maxBytes: 16_384 };

interface KnownToken extends TokenLimits {
  readonly sha256: string;
}

/**
 * Makes the token of a repository, which is returned once and kept as a digest. A name that has one is USAGE:
 * entries of two holders could not be distinguished.
 */
export async function addToken(directory: string, name: string, limits: TokenLimits): Promise<string> {
  requireName(name);
  const folder = join(directory, tokensPath);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined)
    throw new WritError('USAGE', {
      message: `\`${name}\` has a token`,
      hints: [`remove it first: \`writ ledger token remove ${name}\``],
    });
  const token = `${name}:${randomOctets(32).toString('base64url')}`;
  const { perMinute: per_minute, maxBytes: max_bytes } = limits;
  const kept = { sha256: sha256Hex(token), per_minute, max_bytes };
  await writeDurably(join(folder, name), `${JSON.stringify(kept)}\n`, 0o600);
  return token;
}

/** False where that name has none. */
export async function removeToken(directory: string, name: string): Promise<boolean> {
  requireName(name);
  const path = join(directory, tokensPath, name);
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  await rm(path, { force: true });
  return isThere;
}

/** Names and limits, by name. KEY_INSECURE for a file that others can read. */
export async function listTokens(
  directory: string,
): Promise<readonly (TokenLimits & { readonly name: string })[]> {
  const names = await readdir(join(directory, tokensPath)).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return [];
    throw fault;
  });
  return names
    .filter((name) => repositoryName.test(name) && !isDraft(name))
    .sort()
    .flatMap((name) => {
      const known = readToken(directory, name);
      return known === undefined ? [] : [{ name, perMinute: known.perMinute, maxBytes: known.maxBytes }];
    });
}

function requireName(name: string): void {
  if (repositoryName.test(name)) return;
  throw new WritError('USAGE', {
    message:
      'the name of a repository has 1 to 48 lower-case letters, digits, `.`, `_` and `-`, and begins with a letter or digit',
  });
}

function readToken(directory: string, name: string): KnownToken | undefined {
  const path = join(directory, tokensPath, name);
  const { bytes, status, fault } = readPlain(path, maxFileBytes);
  if (fault?.code === 'ENOENT') return undefined;
  const reason = status === undefined ? fault?.message : whyInsecure(status, 0o077);
  if (bytes === undefined || reason !== undefined)
    throw new WritError('KEY_INSECURE', {
      message: `the token file \`${path}\` is refused: ${reason ?? fault?.message}`,
      detail: { path },
    });
  const kept = expectObject(parseJsonObject(bytes, maxFileBytes), '', ['sha256', 'per_minute', 'max_bytes']);
  return {
    sha256: expectText(kept.sha256, '/sha256', /^[0-9a-f]{64}$/),
    perMinute: Number(kept.per_minute),
    maxBytes: Number(kept.max_bytes),
  };
}

/** A repository whose token was shown. */
export interface Admitted extends TokenLimits {
  readonly name: string;
}

/**
 * Checks tokens, and counts what each repository sends. Files are read again when they change, so that a removed token
 * is refused at once.
 */
export function openTokens(directory: string, clock: Clock) {
  const read = new Map<string, { readonly stamp: string; readonly known: KnownToken | undefined }>();
  const buckets = new Map<string, { left: number; atMs: number }>();

  function find(name: string): KnownToken | undefined {
    const path = join(directory, tokensPath, name);
    const status = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    const stamp = status === undefined ? '' : `${status.ino} ${status.ctimeNs} ${status.mode}`;
    const kept = read.get(name);
    if (kept?.stamp === stamp) return kept.known;
    read.delete(name);
    if (status === undefined) return undefined;
    const known = readToken(directory, name);
    read.set(name, { stamp, known });
    return known;
  }

  return {
    /** LEDGER_TOKEN for anything but `Bearer` and a token that is known here. */
    admit(authorization: string | undefined): Admitted {
      const token = /^Bearer ([!-~]{1,200})$/i.exec(authorization ?? '')?.[1] ?? '';
      const name = token.slice(0, Math.max(token.indexOf(':'), 0));
      const known = repositoryName.test(name) ? find(name) : undefined;
      // Unknown names take the time of known ones.
      const isSame = equalSecret(sha256Hex(token), known?.sha256 ?? sha256Hex(''));
      if (known === undefined || !isSame) throw new WritError('LEDGER_TOKEN');
      return { name, perMinute: known.perMinute, maxBytes: known.maxBytes };
    },
    /** Counts one entry. RATE_LIMITED, with the seconds to wait in `detail.retry_after`. */
    count({ name, perMinute }: Admitted): void {
      const now = clock.monotonic();
      const bucket = buckets.get(name) ?? { left: perMinute, atMs: now };
      const left = Math.min(perMinute, bucket.left + ((now - bucket.atMs) * perMinute) / 60_000);
      buckets.set(name, { left: left < 1 ? left : left - 1, atMs: now });
      if (left >= 1) return;
      throw new WritError('RATE_LIMITED', {
        message: `\`${name}\` may append ${perMinute} entries a minute`,
        detail: { retry_after: Math.ceil(((1 - left) * 60) / perMinute) },
      });
    },
  };
}
