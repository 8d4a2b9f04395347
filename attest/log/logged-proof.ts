import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { listRecordRefs } from '../../engine/store/record/list-record-refs.ts';
import { readLogProofs } from '../../engine/store/record/read-log-proofs.ts';
import type { ProofStanding } from '../../engine/vcs/log-refs.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { mirrorRef, readMirror } from './git-mirror.ts';
import { ledgerPath } from './ledger-path.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { readFrom } from './read-from.ts';
import type { LedgerFileReader } from './tile-reader.ts';
import { parseTlogProof } from './tlog-proof.ts';

/**
 * Reads proofs of runs; `undefined` for one that cannot be read. The copy of a log and the ledger are opened at the
 * first proof of that log. Signatures are not verified: this only keeps a run of this machine from being published.
 */
export function openProofStandings(
  repository: Repository,
): (proof: Uint8Array) => Promise<ProofStanding | undefined> {
  const mirrors = new Map<string, Promise<LogVersion | undefined>>();
  const ledgers = new Map<string, Promise<LogVersion | undefined>>();
  return async (proof) => {
    const proven = checkpointOf(proof);
    if (proven === undefined) return undefined;
    const { origin } = proven;
    const log = mirrorRef(origin);
    const mirror = await once(mirrors, origin, (of) => openMirrorHere(repository, of));
    if (mirror === undefined || (await isPartOf(proven, mirror))) return { log, forked: false };
    const ledger = await once(ledgers, origin, (of) => openLedgerHere(repository, of));
    return { log, forked: ledger === undefined || !(await isPartOf(proven, ledger)) };
  };
}

function once<T>(made: Map<string, T>, key: string, make: (key: string) => T): T {
  const found = made.get(key) ?? make(key);
  made.set(key, found);
  return found;
}

/** The copy of a log in git. */
export async function openMirrorHere(
  repository: Repository,
  origin: string,
): Promise<LogVersion | undefined> {
  return openVersion(await readMirror(repository, origin), origin);
}

/** A log as it goes on here: the ledger, else its copy in git. */
export async function openLogHere(repository: Repository, origin: string): Promise<LogVersion | undefined> {
  return (await openLedgerHere(repository, origin)) ?? openMirrorHere(repository, origin);
}

function openLedgerHere(repository: Repository, origin: string): Promise<LogVersion | undefined> {
  return openVersion(readFrom(join(repository.commonDir, ledgerPath)), origin);
}

async function openVersion(
  read: LedgerFileReader | undefined,
  origin: string,
): Promise<LogVersion | undefined> {
  const bytes = await read?.('checkpoint');
  const head = bytes && parse(() => parseCheckpoint(Buffer.from(bytes).toString('utf8')));
  return read && head?.origin === origin ? { head, read } : undefined;
}

/** Refs of the runs here whose entry is in `own` only, under whatever `aiRefPrefix`. */
export async function unloggedRuns(
  repository: Repository,
  own: LogVersion,
  published: LogVersion,
): Promise<readonly string[]> {
  const records = await listRecordRefs(repository, [], 'runs');
  const runs = records.flatMap(({ ref, commit }) => (commit === undefined ? [] : [{ ref, object: commit }]));
  const proofs = await readLogProofs(
    repository,
    runs.map(({ object }) => object),
  );
  const unlogged: string[] = [];
  for (const { ref, object } of runs) {
    const proof = proofs.get(object);
    const proven = proof && checkpointOf(proof);
    if (proven?.origin !== own.head.origin) continue;
    if (!(await isPartOf(proven, published)) && (await isPartOf(proven, own))) unlogged.push(ref);
  }
  return unlogged;
}

function checkpointOf(proof: Uint8Array): Checkpoint | undefined {
  return parse(() => parseCheckpoint(parseTlogProof(proof).checkpoint));
}

function parse<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
