/* The keys, logs and roots that a verifier trusts, from options, files or a program. */
import type { KeyObject } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import { algorithmOf, keyIdOf, parsePublicKey, parsePublicKeys } from '../encoding/public-key.ts';
import { type Environment, userConfigDir, userKeysDir } from '../keys/user-config-dir.ts';
import { type LedgerKey, ledgerKeyFor, parseVkey } from '../log/note.ts';
import { parseTlogPolicy, type TlogPolicy } from '../log/witness-policy.ts';
import type { TrustedRoot } from '../public/trusted-root.ts';

/**
 * Where trust in a key comes from, strongest first: the command line, the user's trust directory, a key made on this
 * machine.
 */
type AnchorOrigin = 'given' | 'pinned' | 'own';

/** A key that is trusted to sign statements. */
export interface SigningAnchor {
  readonly keyId: string;
  readonly key: KeyObject;
  readonly from: AnchorOrigin;
}

/** What a verifier believes; never filled from the repository or the bundle under test. */
export interface Anchors {
  readonly signers: readonly SigningAnchor[];
  /**
   * Logs by name. `given`: `--ledger-key`, which demands an entry in such a log. `root`: listed in the trusted root,
   * which may name logs that the attestation is not in.
   */
  readonly ledgers: readonly (LedgerKey & { readonly from: 'given' | 'root' | 'pinned' })[];
  /** Ed25519 keys of this user's own ledgers, whatever their names. */
  readonly ownLedgers: readonly KeyObject[];
  /** Which witnesses have to have cosigned the checkpoints of which logs; a policy that names no log is about all. */
  readonly witnessPolicies?: readonly TlogPolicy[];
  /** `--trusted-root`: authorities and logs of others. */
  readonly trustedRoot?: TrustedRoot;
  /** `--identity` and `--issuer`: the trusted certificate's identity and issuer, compared literally. */
  readonly identity?: { readonly identity: string; readonly issuer: string };
}

/** Finds the anchor of a key id. If the user gave keys, only those count. */
export function findSigner(anchors: Anchors, keyId: string): SigningAnchor | undefined {
  const given = anchors.signers.filter((anchor) => anchor.from === 'given');
  return (given.length > 0 ? given : anchors.signers).find((anchor) => anchor.keyId === keyId);
}

/**
 * The anchor that a stranger's key hint names: SHA-256 of the key, as hex or as base64, with or without `SHA256:`
 * before it.
 */
export function signerNamed(anchors: Anchors, hint: string): SigningAnchor | undefined {
  const text = hint.replace(/^SHA256:/, '');
  const hex = /^[0-9a-f]{64}$/.test(text) ? text : Buffer.from(text, 'base64').toString('hex');
  return findSigner(anchors, hex);
}

/** Anchors that a stranger's key hint may mean: the one it names, else every given one, as a hint is only a hint. */
export function signersFor(anchors: Anchors, hint: string): readonly SigningAnchor[] {
  const named = signerNamed(anchors, hint);
  return named ? [named] : anchors.signers.filter((anchor) => anchor.from === 'given');
}

/**
 * Keys that may sign checkpoints of `origin`: only the given ones if there are any, else those pinned for that name,
 * else the user's own and the one that the trusted signer vouches for in the signed statement.
 */
export function ledgerKeysFor(
  anchors: Anchors,
  origin: string,
  vouched: LedgerKey | undefined,
): readonly LedgerKey[] {
  const given = anchors.ledgers.filter((key) => key.from !== 'pinned');
  if (given.length > 0) return given;
  const pinned = anchors.ledgers.filter((key) => key.name === origin);
  if (pinned.length > 0) return pinned;
  const own = anchors.ownLedgers.map((key) => ledgerKeyFor(origin, key));
  return vouched === undefined ? own : [...own, vouched];
}

export interface GivenAnchors {
  /** Files of `--key`: public keys, PEM, one or more in each. */
  readonly keyFiles: readonly string[];
  /** Values of `--ledger-key`: vkey text, or a file that holds it. */
  readonly ledgerKeys: readonly string[];
  /** File of `--trusted-root`, absent: the kept one for an identity; its Ed25519 logs may sign checkpoints. */
  readonly trustedRoot?: string;
  /** `--identity` and `--issuer`. */
  readonly identity?: Anchors['identity'];
}

const maxFiles = 1000;

/** The trusted root that the user keeps; `--identity` uses it unless another root is given. */
export function keptRootPath(env: Environment): string {
  return join(userConfigDir(env), 'trust', 'trusted_root.json');
}

/**
 * Loads the user's trust anchors: given keys, `*.pem`, `*.vkey` and `*.tlog-policy` of the trust directory, and
 * public keys of keys created on this machine.
 *
 * Throws INPUT_UNREADABLE if a given file cannot be read, and ANCHOR_UNUSABLE for an invalid anchor. A file that
 * other users can write is also a fault.
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
  return parseAnchors({
    given: { keys: givenKeys, ledgers: givenLedgers },
    pinned: { keys: pinnedKeys, ledgers: pinnedLedgers },
    own: ownKeys,
    policies,
    root: await readRoot(given, env),
    identity: given.identity,
  });
}

async function readRoot(
  { trustedRoot, identity }: GivenAnchors,
  env: Environment,
): Promise<AnchorText | undefined> {
  if (trustedRoot !== undefined) return await readGiven(trustedRoot);
  const name = keptRootPath(env);
  const text = identity === undefined ? undefined : await readGuarded(name, false);
  return text === undefined ? undefined : { name, text };
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

async function readAll(directory: string, ending: string): Promise<readonly AnchorText[]> {
  const chosen = namesIn(directory)
    .filter((name) => name.endsWith(ending) && !name.startsWith('.'))
    .sort();
  if (chosen.length > maxFiles) {
    throw new WritError('INPUT_TOO_LARGE', { message: `more than ${maxFiles} keys in \`${directory}\`` });
  }
  const texts = await Promise.all(chosen.map((name) => readGuarded(join(directory, name), false)));
  return texts.flatMap((text, n) =>
    text === undefined ? [] : [{ name: join(directory, chosen[n] ?? ''), text }],
  );
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (fault) {
    if (['ENOENT', 'ENOTDIR'].includes((fault as NodeJS.ErrnoException).code ?? '')) return [];
    throw fault;
  }
}

/** Trust anchors of a program that calls the verifier. Nothing is read from the user's directories. */
export interface Trust {
  /** Public keys of signers: PEM, one or more in each. */
  readonly keys?: readonly string[];
  /** Keys of logs: C2SP vkeys. If one is given, an entry in such a log is required. */
  readonly ledgerKeys?: readonly string[];
  /** Which witnesses have to have cosigned which logs: C2SP tlog-policies. */
  readonly witnessPolicies?: readonly string[];
  /** A sigstore `trusted_root.json`: authorities and logs of others. */
  readonly trustedRoot?: string;
  /** The trusted certificate's identity and issuer, compared literally. Requires a trusted root. */
  readonly identity?: { readonly identity: string; readonly issuer: string };
}

/** Parses the anchors that a program passes. An invalid or incomplete anchor is ANCHOR_UNUSABLE. */
export async function toAnchors({
  keys = [],
  ledgerKeys = [],
  witnessPolicies = [],
  trustedRoot: root,
  identity,
}: Trust): Promise<Anchors> {
  if (identity !== undefined && root === undefined)
    throw new WritError('ANCHOR_UNUSABLE', {
      message: 'expected `identity` with a `trustedRoot`, which says whose certificates are believed',
      detail: { anchor: 'identity' },
    });
  const named = (name: string, texts: readonly string[]): readonly AnchorText[] =>
    texts.map((text, n) => ({ name: `${name}[${n}]`, text }));
  return parseAnchors({
    given: { keys: named('keys', keys), ledgers: named('ledgerKeys', ledgerKeys) },
    pinned: { keys: [], ledgers: [] },
    own: [],
    policies: named('witnessPolicies', witnessPolicies),
    root: root === undefined ? undefined : { name: 'trustedRoot', text: root },
    identity,
  });
}

interface AnchorTexts {
  readonly given: { readonly keys: readonly AnchorText[]; readonly ledgers: readonly AnchorText[] };
  readonly pinned: AnchorTexts['given'];
  /** Public keys of keys that were made on this machine. */
  readonly own: readonly AnchorText[];
  readonly policies: readonly AnchorText[];
  readonly root: AnchorText | undefined;
  readonly identity: Anchors['identity'];
}

async function parseAnchors({ given, pinned, own, policies, root, identity }: AnchorTexts): Promise<Anchors> {
  const ownKeys = own.map((one) => readAnchor(one, parsePublicKey));
  const trustedRoot = root && (await parseRoot(root));
  const keysIn = (texts: readonly AnchorText[], from: AnchorOrigin) =>
    texts.flatMap((one) => readAnchor(one, parsePublicKeys)).map((key) => toAnchor(key, from));
  const ledgersIn = <From>(texts: readonly AnchorText[], from: From) =>
    texts.map((one) => ({ ...readAnchor(one, parseVkey), from }));
  return {
    ...(trustedRoot && { trustedRoot }),
    ...(identity && { identity }),
    signers: [
      ...keysIn(given.keys, 'given'),
      ...keysIn(pinned.keys, 'pinned'),
      ...ownKeys.filter((key) => algorithmOf(key) === 'ecdsa-p256-sha256').map((key) => toAnchor(key, 'own')),
    ],
    ledgers: [
      ...ledgersIn(given.ledgers, 'given' as const),
      ...(trustedRoot?.ledgers ?? []).map((key) => ({ ...key, from: 'root' as const })),
      ...ledgersIn(pinned.ledgers, 'pinned' as const),
    ],
    ...(policies.length > 0 && {
      witnessPolicies: policies.map((one) => readAnchor(one, (text) => parseTlogPolicy(Buffer.from(text)))),
    }),
    ownLedgers: ownKeys.filter((key) => algorithmOf(key) === 'ed25519'),
  };
}

/** Loaded on demand: most verifications need no sigstore root. */
async function parseRoot(root: AnchorText): Promise<TrustedRoot> {
  const { parseTrustedRoot } = await import('../public/trusted-root.ts');
  return readAnchor(root, (text) => parseTrustedRoot(Buffer.from(text)));
}

/** An anchor as text. */
interface AnchorText {
  /** Its path, or the option that contains it. The value is never named: it might be a secret passed by mistake. */
  readonly name: string;
  readonly text: string;
}

/** Parses an anchor. A refusal of its parser is a fault of the option or file, never a result about the target. */
export function readAnchor<T>({ name, text }: AnchorText, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (fault) {
    if (!isWritError(fault, 'KEY_UNUSABLE') && !isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    throw new WritError('ANCHOR_UNUSABLE', {
      message: `\`${name}\` is no trust anchor: ${fault.message}`,
      detail: { anchor: name },
      cause: fault,
    });
  }
}

/** A key that is believed, and why. */
function toAnchor(key: KeyObject, from: AnchorOrigin): SigningAnchor {
  return { keyId: keyIdOf(key), key, from };
}
