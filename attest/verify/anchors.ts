import type { KeyObject } from 'node:crypto';
import { type LedgerKey, ledgerKeyFor } from '../log/ledger-key.ts';
import type { TlogPolicy } from '../log/tlog-policy.ts';
import type { TrustedRoot } from '../public/trusted-root.ts';

/**
 * Where trust in a key comes from, strongest first: the command line, the user's trust directory, a key made on this
 * machine.
 */
export type AnchorOrigin = 'given' | 'pinned' | 'own';

/** A key whose signatures over statements are believed. */
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
  /** `--identity` and `--issuer`: whose certificate is believed, literally. */
  readonly identity?: { readonly identity: string; readonly issuer: string };
}

/** The anchor a key id names. Given keys, where there are any, stand alone: the user asked for them. */
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
 * Keys that may sign checkpoints of `origin`. Given ones stand alone, then those pinned for that name; else the user's
 * own and the one that the anchored signer vouches for in the signed statement.
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
