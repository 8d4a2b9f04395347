/* Copies logs with a proof: backs a log up, restores a shared ledger, moves the entries of a repository into one. */
import { join } from 'node:path';
import { createWitnesses } from '../../attest/log/ask-witnesses.ts';
import { auditLedger } from '../../attest/log/check-ledger.ts';
import {
  type Checkpoint,
  checkpointIn,
  checkpointOfProof,
  verifyCheckpoint,
} from '../../attest/log/checkpoint.ts';
import { forked, holdToSeen } from '../../attest/log/checkpoint-memory.ts';
import { copyLedger } from '../../attest/log/git-mirror.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { takeLock } from '../../attest/log/ledger-files.ts';
import { leafHash } from '../../attest/log/merkle.ts';
import type { LedgerKey } from '../../attest/log/note.ts';
import { sharedLogPath } from '../../attest/log/shared-ledger.ts';
import { readFromUrl, sharedLog } from '../../attest/log/shared-log-client.ts';
import {
  isPartOf,
  parseEntries,
  proveInclusion,
  readFrom,
  readSubtrees,
  tilePath,
  tileWidth,
  widthAt,
} from '../../attest/log/tiles.ts';
import { type TlogPolicy, verifyByPolicy } from '../../attest/log/witness-policy.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type HttpClient, requestHttp } from '../../core/base/net.ts';
import { inParallel } from '../../engine/state/machine.ts';
import { auditedCheckpoints, openKeptHttp } from './follow-ledger.ts';
import { auditHead, type LedgerTrust, type OpenLedger, openLedger } from './open-ledger.ts';

/** What a copy holds. */
export interface CopiedLog {
  readonly origin: string;
  readonly entries: number;
  /** Entries that the copy lacked before. */
  readonly added: number;
  readonly root_hash: string;
  readonly directory: string;
}

/**
 * Brings the copy of a log in `target` up to its head, and recomputes the whole copy from its entries. Only files that
 * the copy lacks are read. A copy that the log does not continue is left as it is: VERIFY_REFUTED (`forked`, `stale`).
 */
export async function backUpLedger(
  source: OpenLedger,
  target: string,
  trust: LedgerTrust,
): Promise<CopiedLog> {
  const head = await source.head();
  if (head.size === 0)
    throw new WritError('VERIFY_NOTHING', { message: `the log \`${head.origin}\` is empty` });
  const copy = await openLedger(target, trust);
  const before = await copy.reader.head();
  if (before !== undefined && (before.origin !== head.origin || before.size > head.size))
    throw new WritError('VERIFY_REFUTED', {
      message: `\`${target}\` holds ${before.size} entries of \`${before.origin}\`, and the log \`${head.origin}\` has ${head.size}: the copy is not overwritten`,
      detail: { reason: 'stale', origin: head.origin, kept: before.size, found: head.size },
    });
  if (before !== undefined && !(await isPartOf(before, { head, read: source.files })))
    throw forked(before, head);
  // The source may grow meanwhile: the copy gets the head whose files it has.
  const checkpoint = Buffer.from(head.source);
  const read: typeof source.files = async (path) => (path === 'checkpoint' ? checkpoint : source.files(path));
  await copyLedger(target, read, before?.size ?? 0, head);
  await auditLedger(readFrom(target), head);
  return copied(head, before?.size ?? 0, target);
}

function copied(head: Checkpoint, before: number, directory: string): CopiedLog {
  const { origin, size, root } = head;
  return { origin, entries: size, added: size - before, root_hash: root.toString('hex'), directory };
}

/** A checkpoint that somebody has seen of a log. */
export interface KnownCheckpoint {
  /** Who has, or which file it is from. */
  readonly from: string;
  readonly size: number;
}

export interface RestoredLog extends CopiedLog {
  /** All of them are contained in what was restored. */
  readonly compared: readonly KnownCheckpoint[];
}

interface RestoreOptions extends LedgerTrust {
  /** Signed checkpoints or tlog-proofs that clients hold. */
  readonly known: readonly { readonly from: string; readonly bytes: Uint8Array }[];
  /** Its witnesses are shown the head, and answer what they have seen. */
  readonly policy: TlogPolicy | undefined;
  readonly clock: Clock;
}

/**
 * Puts a shared ledger back from a backup. The backup is recomputed from its entries, and must contain every
 * checkpoint that is known of the log: those of this user, of `known`, of the directory itself, and of the witnesses.
 *
 * LEDGER_INCOMPLETE says which entries are missing, VERIFY_REFUTED (`forked`) and LOG_FORKED that another history was
 * seen; then nothing is written.
 */
export async function restoreLedger(
  backup: OpenLedger,
  directory: string,
  options: RestoreOptions,
): Promise<RestoredLog> {
  const { env, clock, policy } = options;
  const head = await auditHead(backup);
  const key = await backup.keyOf(head);
  const version = { head, read: backup.files };
  const log = join(directory, sharedLogPath);
  const there = readFrom(log);
  const lock = await takeLock(log, clock);
  try {
    const present = checkpointIn(await there('checkpoint'));
    const seen = [
      ...(await Promise.all(
        [userCheckpointMemory(env), auditedCheckpoints(env)].map(async (memory) => ({
          from: 'this user',
          checkpoint: await memory.latest(head),
        })),
      )),
      ...options.known.map(({ from, bytes }) => ({ from, checkpoint: readKnown(bytes, from, key) })),
      { from: 'the ledger there', checkpoint: present },
      { from: 'what was signed there', checkpoint: checkpointIn(await readFrom(directory)('pending')) },
    ];
    const compared: KnownCheckpoint[] = [];
    for (const { from, checkpoint } of seen) {
      if (checkpoint === undefined) continue;
      if (checkpoint.origin !== head.origin)
        throw new WritError('VERIFY_REFUTED', {
          message: `${from} is of the log \`${checkpoint.origin}\`, and the backup of \`${head.origin}\``,
          detail: { reason: 'mismatch', origin: head.origin, found: checkpoint.origin },
        });
      if (checkpoint.size > head.size) throw incomplete(from, checkpoint, head);
      if (!(await isPartOf(checkpoint, version))) throw forked(checkpoint, head);
      compared.push({ from, size: checkpoint.size });
    }
    if (policy !== undefined) {
      await createWitnesses(policy, key, requestHttp, true)(head, backup.files);
      compared.push({ from: 'the witnesses', size: head.size });
    }
    // Files that are there may be damaged.
    await copyLedger(log, backup.files, 0, head);
    await auditLedger(there, head);
    return { ...copied(head, present?.size ?? 0, directory), compared };
  } finally {
    await lock.release();
  }
}

/** A checkpoint or a tlog-proof that the log signed. ATTESTATION_MALFORMED, VERIFY_REFUTED. */
function readKnown(bytes: Uint8Array, from: string, key: LedgerKey): Checkpoint {
  const checkpoint = checkpointIn(bytes) ?? checkpointOfProof(bytes);
  if (checkpoint === undefined)
    throw new WritError('ATTESTATION_MALFORMED', {
      message: `\`${from}\` is no checkpoint and no tlog-proof`,
    });
  return verifyCheckpoint(checkpoint.source, [key]);
}

function incomplete(from: string, { size: seen }: Checkpoint, { origin, size }: Checkpoint): WritError {
  return new WritError('LEDGER_INCOMPLETE', {
    message: `${from} has seen ${seen} entries of \`${origin}\`, and the backup has ${size}: entries ${size} to ${seen - 1} are missing`,
    detail: { origin, from, seen, size, missing: [size, seen - 1] },
  });
}

/** Where the entries of a repository are in a shared ledger. */
export interface MigratedLog {
  readonly origin: string;
  readonly entries: number;
  /** Number in the shared ledger of each entry, in the order of the old log. */
  readonly indexes: readonly number[];
  /** Of the old log, and of the shared one that contains its entries. */
  readonly checkpoint: string;
  readonly shared_checkpoint: string;
}

interface MigrateOptions extends Pick<LedgerTrust, 'env'> {
  readonly url: string;
  readonly key: LedgerKey;
  readonly policy: TlogPolicy | undefined;
  readonly token: () => Promise<string>;
  readonly clock: Clock;
}

const atOnce = 32;
const maxProofRounds = 5;

/**
 * Appends every entry of a repository's own ledger to a shared one, and proves each against one checkpoint of it, from
 * the files of the shared log and not from the answers. What is there already is not appended again, so it can be
 * repeated. The old ledger stays: proofs by it are verified with its key.
 */
export async function migrateLedger(own: OpenLedger, options: MigrateOptions): Promise<MigratedLog> {
  const { url, key, policy, token, clock, env } = options;
  await using kept = openKeptHttp(env);
  const { http } = kept;
  const old = await auditHead(own);
  const log = sharedLog({ url, vkey: key.vkey, http, token, clock, policy });
  const bodies: Buffer[] = [];
  for (let bundle = 0; bundle * tileWidth < old.size; bundle += 1) {
    const bytes = await own.files(tilePath('entries', bundle, widthAt(0, bundle, old.size)));
    bodies.push(...(parseEntries(Buffer.from(bytes ?? [])) ?? []));
  }
  const indexes = await inParallel(bodies, atOnce, async (body) => (await log.append(body, 0)).logIndex);
  const shared = await proveAll(bodies, indexes, options, http);
  await holdToSeen(shared, userCheckpointMemory(env), log.consistency);
  return {
    origin: shared.origin,
    entries: old.size,
    indexes,
    checkpoint: old.source,
    shared_checkpoint: shared.source,
  };
}

/** LEDGER_INCOMPLETE where the shared log does not hold one of the entries at its number. */
async function proveAll(
  bodies: readonly Buffer[],
  indexes: readonly number[],
  { url, key, policy }: MigrateOptions,
  http: HttpClient,
) {
  const read = readFromUrl(url, http);
  for (let round = 1; ; round += 1) {
    const source = Buffer.from((await read('checkpoint')) ?? []).toString('utf8');
    const head = verifyCheckpoint(source, [key]);
    if (policy !== undefined) verifyByPolicy(source, policy, [key]);
    const subtree = readSubtrees(read, head.size);
    try {
      for (const [at, body] of bodies.entries()) {
        const index = indexes[at] ?? -1;
        const isThere = index < head.size && leafHash(body).equals(await subtree(0, index));
        if (!isThere)
          throw new WritError('LEDGER_INCOMPLETE', {
            message: `entry ${at} of this repository is not entry ${index} of the shared ledger`,
            detail: { origin: head.origin, entry: at, index },
          });
        await proveInclusion(index, head, subtree);
      }
      return head;
    } catch (fault) {
      if (!isWritError(fault, 'LEDGER_CORRUPT') || round === maxProofRounds) throw fault;
    }
  }
}
