import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import { algorithmOf, parsePublicKey, parsePublicKeys } from '../encoding/public-key.ts';
import { type Environment, userConfigDir } from '../keys/user-config-dir.ts';
import { userKeysDir } from '../keys/user-keys-dir.ts';
import { parseVkey } from '../log/ledger-key.ts';
import { parseTlogPolicy } from '../log/tlog-policy.ts';
import type { TrustedRoot } from '../public/trusted-root.ts';
import type { AnchorOrigin, Anchors } from './anchors.ts';
import { type AnchorText, readAnchor, toAnchor } from './read-anchor.ts';

export interface GivenAnchors {
  /** Files of `--key`: public keys, PEM, one or more in each. */
  readonly keyFiles: readonly string[];
  /** Values of `--ledger-key`: vkey text, or a file that holds it. */
  readonly ledgerKeys: readonly string[];
  /** File of `--trusted-root`; its Ed25519 logs may sign checkpoints. */
  readonly trustedRoot?: string;
  /** `--identity` and `--issuer`. */
  readonly identity?: Anchors['identity'];
}

const maxFiles = 1000;

/**
 * Collects what the user trusts: given keys, `*.pem`, `*.vkey` and `*.tlog-policy` of the trust directory, public keys
 * of keys made here. A given file that cannot be read is INPUT_UNREADABLE, whatever is no anchor ANCHOR_UNUSABLE; a
 * file that others may write is a fault too.
 */
export async function loadAnchors(given: GivenAnchors, env: Environment): Promise<Anchors> {
  const trust = join(userConfigDir(env), 'trust');
  const keys = userKeysDir(env);
  const [givenKeys, givenLedgers, pinnedKeys, pinnedLedgers, policies, ownKeys] = await Promise.all([
    Promise.all(given.keyFiles.map(readGiven)),
    Promise.all(
      given.ledgerKeys.map((value) =>
        value.includes('+') ? Promise.resolve({ name: '--ledger-key', text: value }) : readGiven(value),
      ),
    ),
    readAll(trust, '.pem'),
    readAll(trust, '.vkey'),
    readAll(trust, '.tlog-policy'),
    readAll(keys, '.pub.pem'),
  ]);
  const own = ownKeys.map((one) => readAnchor(one, parsePublicKey));
  const trustedRoot = given.trustedRoot === undefined ? undefined : await readTrustedRoot(given.trustedRoot);
  const keysIn = (files: readonly AnchorText[], from: AnchorOrigin) =>
    files.flatMap((one) => readAnchor(one, parsePublicKeys)).map((key) => toAnchor(key, from));
  return {
    ...(trustedRoot && { trustedRoot }),
    ...(given.identity && { identity: given.identity }),
    signers: [
      ...keysIn(givenKeys, 'given'),
      ...keysIn(pinnedKeys, 'pinned'),
      ...own.filter((key) => algorithmOf(key) === 'ecdsa-p256-sha256').map((key) => toAnchor(key, 'own')),
    ],
    ledgers: [
      ...givenLedgers.map((one) => ({ ...readAnchor(one, parseVkey), from: 'given' as const })),
      ...(trustedRoot?.ledgers ?? []).map((key) => ({ ...key, from: 'root' as const })),
      ...pinnedLedgers.map((one) => ({ ...readAnchor(one, parseVkey), from: 'pinned' as const })),
    ],
    ...(policies.length > 0 && {
      witnessPolicies: policies.map((one) => readAnchor(one, (text) => parseTlogPolicy(Buffer.from(text)))),
    }),
    ownLedgers: own.filter((key) => algorithmOf(key) === 'ed25519'),
  };
}

async function readGiven(path: string): Promise<AnchorText> {
  try {
    return { name: path, text: await readFile(path, 'utf8') };
  } catch (cause) {
    throw new WritError('INPUT_UNREADABLE', {
      message: `the key file \`${path}\` cannot be read`,
      detail: { path },
      cause,
    });
  }
}

async function readTrustedRoot(path: string): Promise<TrustedRoot> {
  const { parseTrustedRoot } = await import('../public/trusted-root.ts');
  return readAnchor(await readGiven(path), (text) => parseTrustedRoot(Buffer.from(text)));
}

async function readAll(directory: string, ending: string): Promise<readonly AnchorText[]> {
  const names = await readdir(directory).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return [];
    throw fault;
  });
  const chosen = names.filter((name) => name.endsWith(ending) && !name.startsWith('.')).sort();
  if (chosen.length > maxFiles) {
    throw new WritError('INPUT_TOO_LARGE', { message: `more than ${maxFiles} keys in \`${directory}\`` });
  }
  const texts = await Promise.all(chosen.map((name) => readGuarded(join(directory, name), false)));
  return texts.flatMap((text, n) =>
    text === undefined ? [] : [{ name: join(directory, chosen[n] ?? ''), text }],
  );
}
