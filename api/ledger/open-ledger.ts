/* Opens a transparency log for reading, with the keys that verify it, and audits directories of tiles. */
import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { keyIdOf } from '../../attest/encoding/public-key.ts';
import { findUserLedgerKey, openUserLedgerKey, retireUserLedgerKey } from '../../attest/keys/key-signer.ts';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { auditLedger } from '../../attest/log/check-ledger.ts';
import {
  checkpointIn,
  parseCheckpoint,
  type SignedCheckpoint,
  verifyCheckpoint,
} from '../../attest/log/checkpoint.ts';
import { forked } from '../../attest/log/checkpoint-memory.ts';
import { mirrorLedger, mirrorRef, readMirror } from '../../attest/log/git-mirror.ts';
import { createInternalLedger } from '../../attest/log/internal-ledger.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { ledgerPath } from '../../attest/log/ledger-files.ts';
import { type LedgerReader, openLedgerReader } from '../../attest/log/ledger-reader.ts';
import { type LedgerKey, ledgerKeyFor } from '../../attest/log/note.ts';
import { isPrefix, type LedgerFileReader, readFrom, readSubtrees } from '../../attest/log/tiles.ts';
import { parseTlogPolicy, verifyByPolicy } from '../../attest/log/witness-policy.ts';
import { ledgerKeysFor, loadAnchors } from '../../attest/verify/anchors.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import type { Place } from '../../store/stores.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { auditSchema } from '../schemas/output-schemas.ts';
import type { Admitted } from '../schemas/shape.ts';

/** A readable ledger with the keys that verify it. */
export interface OpenLedger {
  readonly directory: string;
  readonly files: LedgerFileReader;
  readonly reader: LedgerReader;
  /** The current head, verified; LEDGER_MISSING. */
  head(): Promise<SignedCheckpoint>;
  /** The key that signed a checkpoint, among those that the user trusts for it. */
  keyOf(checkpoint: SignedCheckpoint): Promise<LedgerKey>;
}

/** Where the ledger of a repository is, whether or not there is one. */
export async function ledgerDirectory({ repoPath, cwd }: Pick<Place, 'repoPath' | 'cwd'>): Promise<string> {
  const repository = await openRepository(repoPath ?? cwd);
  return join(repository.commonDir, ledgerPath);
}

/** Keys that are trusted for a ledger. */
export interface LedgerTrust {
  /** Vkeys, or absolute paths of files that hold one. */
  readonly vkeys: readonly string[];
  readonly env: Environment;
}

/**
 * Opens a ledger with the given keys, else the keys the user pinned, else the user's own keys. If none of these
 * signed the checkpoint: VERIFY_REFUTED if keys were given, VERIFY_NOTHING (exit 3) if there was no key to verify
 * with.
 */
export async function openLedger(
  directory: string,
  { vkeys, env }: LedgerTrust,
  files: LedgerFileReader = readFrom(directory),
): Promise<OpenLedger> {
  const anchors = await loadAnchors({ keyFiles: [], ledgerKeys: vkeys }, env);
  const keysOf = (source: string) => ledgerKeysFor(anchors, parseCheckpoint(source).origin, undefined);

  async function verify(source: string): Promise<SignedCheckpoint> {
    try {
      return verifyCheckpoint(source, keysOf(source));
    } catch (fault) {
      if (vkeys.length > 0 || !isWritError(fault, 'VERIFY_REFUTED')) throw fault;
      if (fault.detail.reason !== 'untrusted-log') throw fault;
      throw new WritError('VERIFY_NOTHING', {
        message: `no key that you trust signed the checkpoint of \`${fault.detail.origin}\``,
        detail: { code: 'untrusted-signer', origin: fault.detail.origin },
        hints: ['get the log’s key from who keeps it and give it: `--vkey KEY`'],
        cause: fault,
      });
    }
  }

  const reader = openLedgerReader(files, verify);
  return {
    directory,
    files,
    reader,
    head: async () => {
      const head = await reader.head();
      if (head === undefined) throw noLedger(directory);
      return head;
    },
    keyOf: async ({ source }) => {
      const signer = keysOf(source).find((key) => isSignedBy(source, key));
      if (signer === undefined)
        throw new WritError('INTERNAL', { message: 'a verified checkpoint has no signer' });
      return signer;
    },
  };
}

function noLedger(directory: string): WritError {
  return new WritError('LEDGER_MISSING', {
    message: `\`${directory}\` holds no ledger (log of sealed changes)`,
    detail: { directory },
  });
}

function isSignedBy(source: string, key: LedgerKey): boolean {
  try {
    verifyCheckpoint(source, [key]);
    return true;
  } catch (fault) {
    if (isWritError(fault, 'VERIFY_REFUTED')) return false;
    throw fault;
  }
}

/** What rotating the key of a log came to. */
interface Rotated {
  readonly head: SignedCheckpoint;
  /** The log's key before, and the one that signs from now on. */
  readonly before: LedgerKey;
  readonly after: LedgerKey;
  /** Where the private key before is kept; absent if it was not in use any more. */
  readonly retired?: string;
}

/**
 * Hands the log of a repository over to a new key: the entries stay, and the new key signs their head. If the user's
 * ledger key signed the head, it is put aside and a new one is made; else the key in use takes over from the earlier
 * key of this user that did, whose private half is not needed. LEDGER_MISSING; LEDGER_FOREIGN for a log that no key of
 * this user signed.
 */
export async function rotateLedgerKey(
  { repoPath, cwd }: Pick<Place, 'repoPath' | 'cwd'>,
  env: Environment,
  clock: Clock,
): Promise<Rotated> {
  const repository = await openRepository(repoPath ?? cwd);
  const directory = join(repository.commonDir, ledgerPath);
  const files = readFrom(directory);
  const source = Buffer.from((await files('checkpoint')) ?? []).toString('utf8');
  if (source === '') throw noLedger(directory);
  const { origin } = parseCheckpoint(source);
  const keyOf = ({ publicKeyPem }: Pick<Signer, 'publicKeyPem'>): LedgerKey =>
    ledgerKeyFor(origin, createPublicKey(publicKeyPem));
  const inUse = await findUserLedgerKey(env);
  const { ownLedgers } = await loadAnchors({ keyFiles: [], ledgerKeys: [] }, env);
  const own = [...(inUse ? [keyOf(inUse)] : []), ...ownLedgers.map((key) => ledgerKeyFor(origin, key))];
  const before = own.find((key) => isSignedBy(source, key));
  if (before === undefined) throw new WritError('LEDGER_FOREIGN', { detail: { directory, origin } });
  const head = verifyCheckpoint(source, [before]);
  if (head.size > 0) await auditLedger(files, head);
  const mirror = await readMirror(repository, origin);
  const copy = checkpointIn(await mirror?.('checkpoint'));
  if (copy !== undefined && copy.size > head.size)
    throw new WritError('LOG_FAILED', {
      message: `the copy of the log in git has ${copy.size} entries, and the ledger here has ${head.size}: the new key would sign a shorter log`,
      detail: { ref: mirrorRef(origin), found: copy.size, size: head.size },
      hints: ['rotate where all entries are, or put back the key before and run a change here first'],
    });
  const ledger = createInternalLedger({
    directory,
    signer: async () => publicHalf(before),
    memory: userCheckpointMemory(env),
    clock,
    ...(mirror && { afterAppend: (changed) => mirrorLedger(repository, clock, files, changed) }),
  });
  // Refuses before any key is put aside.
  await ledger.requireAppendable();
  const isInUse = inUse !== undefined && keyOf(inUse).vkey === before.vkey;
  const retired = isInUse ? await retireUserLedgerKey(env, inUse) : undefined;
  const next = await openUserLedgerKey(env);
  const signed = await ledger.handOver(next);
  return { head: signed, before, after: keyOf(next), ...(retired === undefined ? {} : { retired }) };
}

/** A signer that can only be compared with: the private key may be gone. */
function publicHalf({ key }: LedgerKey): Signer {
  return {
    algorithm: 'ed25519',
    keyId: keyIdOf(key),
    publicKeyPem: key.export({ type: 'spki', format: 'pem' }).toString(),
    ephemeral: false,
    sign: async () => {
      throw new WritError('INTERNAL', { message: 'the key before signs nothing any more' });
    },
  };
}

const maxRounds = 5;

/**
 * Audits a directory of tiles, including a third-party log. Recomputes the tree from the entries, and verifies the
 * checkpoint with the key and the quorum with the policy (bytes of a C2SP tlog-policy). The log must extend the last
 * checkpoint this user saw. Stores the new checkpoint. VERIFY_NOTHING for an empty log, VERIFY_REFUTED,
 * LEDGER_CORRUPT.
 */
export async function auditData(
  ledger: OpenLedger,
  env: Environment,
  policy: Uint8Array | undefined,
): Promise<Admitted<typeof auditSchema>> {
  const head = await auditHead(ledger);
  const { vkey } = await ledger.keyOf(head);
  const cosigned = policy === undefined ? [] : await verifyWitnesses(policy, ledger, head);
  const seen = await requireHistory(env, ledger, head);
  return {
    origin: head.origin,
    vkey,
    entries: head.size,
    root_hash: head.root.toString('hex'),
    cosigned_by: cosigned,
    continues_from: seen ?? null,
    directory: ledger.directory,
  };
}

/** Recomputes the log at its current head. Retries if an append replaced tiles during the audit. VERIFY_NOTHING. */
export async function auditHead(ledger: OpenLedger): Promise<SignedCheckpoint> {
  for (let round = 1; ; round += 1) {
    const head = await ledger.head();
    if (head.size === 0) {
      throw new WritError('VERIFY_NOTHING', {
        message: `the log \`${head.origin}\` is empty: there is nothing to audit`,
        detail: { origin: head.origin, size: 0 },
      });
    }
    try {
      await auditLedger(ledger.files, head);
      return head;
    } catch (fault) {
      const moved = (await ledger.head()).size > head.size;
      if (!isWritError(fault, 'LEDGER_CORRUPT') || !moved || round === maxRounds) throw fault;
    }
  }
}

/** The witnesses whose quorum cosigned a checkpoint, by the bytes of a C2SP tlog-policy. VERIFY_REFUTED. */
export async function verifyWitnesses(
  bytes: Uint8Array,
  ledger: OpenLedger,
  head: SignedCheckpoint,
): Promise<readonly string[]> {
  const policy = parseTlogPolicy(bytes);
  // If the policy names logs, only those are trusted; otherwise the ledger's own key is.
  const logs = policy.logs.length > 0 ? policy.logs : [await ledger.keyOf(head)];
  return verifyByPolicy(head.source, policy, logs).cosignatures.map(({ witness }) => witness.name);
}

/** The largest size seen before, of which this log must be a continuation; what holds now is remembered. */
async function requireHistory(
  env: Environment,
  { files }: OpenLedger,
  head: SignedCheckpoint,
): Promise<number | undefined> {
  const memory = userCheckpointMemory(env);
  const seen = await memory.latest(head);
  if (seen !== undefined && seen.size > head.size) {
    throw new WritError('VERIFY_REFUTED', {
      message: `the log \`${head.origin}\` was seen with ${seen.size} entries and has ${head.size} now`,
      detail: { reason: 'stale', origin: head.origin, seen: seen.size, found: head.size },
    });
  }
  if (seen !== undefined && !(await isPrefix(seen, head, readSubtrees(files, head.size))))
    throw forked(seen, head);
  await memory.remember(head);
  return seen?.size;
}
