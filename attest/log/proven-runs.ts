/* Compares the log proofs of runs in git with the logs here, to find forks. */
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { writeDurably } from '../../core/base/files.ts';
import { listRecordRefs, readLogProofs } from '../../store/record/list-records.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import type { LedgerFindings } from '../../store/stored-object.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readSmall } from '../../workspace/git/read-objects.ts';
import type { ProofStanding } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Checkpoint, checkpointIn, checkpointOfProof, type SignedCheckpoint } from './checkpoint.ts';
import { mirrorRef, readMirror, signedBy } from './git-mirror.ts';
import { ledgerPath } from './ledger-files.ts';
import { isPartOf, type LedgerFileReader, type LogVersion, readFrom } from './tiles.ts';

/** The record of a run in git. */
interface RunRecord {
  readonly ref: string;
  readonly commit: string;
}

/** A record with the unverified checkpoint from its log proof. */
interface ProvenRun extends RunRecord {
  readonly checkpoint: Checkpoint;
}

async function listRunRecords(repository: Repository): Promise<readonly RunRecord[]> {
  const records = await listRecordRefs(repository, [], 'runs');
  return records.flatMap(({ ref, commit }) => (commit === undefined ? [] : [{ ref, commit }]));
}

/** Those of the records that have a log proof which can be read. */
async function readProvenRuns(
  repository: Repository,
  records: readonly RunRecord[],
): Promise<readonly ProvenRun[]> {
  const commits = records.map(({ commit }) => commit);
  const proofs = await readLogProofs(repository, commits);
  return records.flatMap((record) => {
    const proof = proofs.get(record.commit);
    const checkpoint = proof && checkpointOfProof(proof);
    return checkpoint === undefined ? [] : [{ ...record, checkpoint }];
  });
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

/** The ledger here, if it is that log. */
function openLedgerHere(repository: Repository, origin: string): Promise<LogVersion | undefined> {
  return openVersion(readFrom(join(repository.commonDir, ledgerPath)), origin);
}

async function openVersion(
  read: LedgerFileReader | undefined,
  origin: string,
): Promise<LogVersion | undefined> {
  const head = checkpointIn(await read?.('checkpoint'));
  return read && head?.origin === origin ? { head, read } : undefined;
}

/** Refs of the local runs with an entry in `own` but not in `published`, for every `aiRefPrefix`. */
export async function unloggedRuns(
  repository: Repository,
  own: LogVersion,
  published: LogVersion,
): Promise<readonly string[]> {
  const unlogged: string[] = [];
  for (const { ref, checkpoint } of await readProvenRuns(repository, await listRunRecords(repository))) {
    if (checkpoint.origin !== own.head.origin) continue;
    if (!(await isPartOf(checkpoint, published)) && (await isPartOf(checkpoint, own))) unlogged.push(ref);
  }
  return unlogged;
}

/** A run with a log proof for entries that the local ledger of that log does not have. */
interface StrayRun {
  readonly ref: string;
  readonly checkpoint: SignedCheckpoint;
}

/** File in a ledger's directory: size and root of its tree, then the records with proofs that lie inside that tree. */
const comparedFile = 'compared-runs';

/**
 * Finds the runs in git with a proof by the same key and log that the ledger does not contain. Such a ledger is older
 * than the log, or the log was forked. Each record is read once: compared records are stored beside the ledger, which
 * only grows.
 */
export async function findStrayRuns(
  repository: Repository,
  publicKeyPem: string,
  directory: string,
  head: SignedCheckpoint,
): Promise<readonly StrayRun[]> {
  const own: LogVersion = { head, read: readFrom(directory) };
  const records = await listRunRecords(repository);
  const compared = await readCompared(own);
  const open = records.filter(({ commit }) => !compared.has(commit));
  if (open.length === 0) return [];
  await using readers = keepObjectReaders();
  const strays: StrayRun[] = [];
  const strayRecords = new Set<string>();
  for (const run of await readProvenRuns(readers.keep({ ...repository }), open)) {
    if (run.checkpoint.origin !== head.origin || (await isPartOf(run.checkpoint, own))) continue;
    const checkpoint = signedBy(publicKeyPem, Buffer.from(run.checkpoint.source));
    if (checkpoint === undefined) continue;
    strays.push({ ref: run.ref, checkpoint });
    strayRecords.add(run.commit);
  }
  const settled = records.map(({ commit }) => commit).filter((commit) => !strayRecords.has(commit));
  if (settled.some((commit) => !compared.has(commit))) await keepCompared(directory, head, settled);
  return strays;
}

/**
 * If the ledger was replaced by a smaller copy since, the records that were compared with the larger one are ignored.
 */
async function readCompared(own: LogVersion): Promise<ReadonlySet<string>> {
  const text = Buffer.from((await own.read(comparedFile)) ?? []).toString('latin1');
  const [first = '', ...records] = text.split('\n');
  const [, size, root = ''] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(first) ?? [];
  const isOfOwn =
    size !== undefined && (await isPartOf({ size: Number(size), root: Buffer.from(root, 'hex') }, own));
  return new Set(isOfOwn ? records : []);
}

async function keepCompared(
  directory: string,
  { size, root }: SignedCheckpoint,
  records: readonly string[],
): Promise<void> {
  const lines = [`${size} ${root.toString('hex')}`, ...records];
  try {
    await writeDurably(join(directory, comparedFile), `${lines.join('\n')}\n`, 0o644);
  } catch (fault) {
    // Comparing again does no harm.
    if (!['EROFS', 'EACCES', 'EPERM', 'ENOSPC'].includes((fault as NodeJS.ErrnoException).code ?? ''))
      throw fault;
  }
}

/**
 * Finds the runs with a log proof of a forked log: the tree differs from the local log, or from another run's proof
 * of the same size. Signatures are not verified. A run that was rolled back needs no entry.
 */
export async function checkProofs(repository: Repository): Promise<LedgerFindings['problems']> {
  const forks: { readonly run: ProvenRun; readonly other: string }[] = [];
  const logs = new Map<string, LogVersion | undefined>();
  const firsts = new Map<string, ProvenRun>();
  for (const run of await readProvenRuns(repository, await listRunRecords(repository))) {
    const { origin, size, root } = run.checkpoint;
    if (!logs.has(origin)) logs.set(origin, await openNewest(repository, origin));
    const log = logs.get(origin);
    const name = `${size} ${origin}`;
    const first = firsts.get(name) ?? run;
    firsts.set(name, first);
    if (log !== undefined && size <= log.head.size) {
      if (!(await isPart(run.checkpoint, log))) forks.push({ run, other: 'the log here' });
    } else if (!first.checkpoint.root.equals(root)) forks.push({ run, other: `\`${first.ref}\`` });
  }
  const rollbackOf = ({ commit }: ProvenRun): string => `${commit}:${sealPaths.rollback}`;
  const names = forks.map(({ run }) => rollbackOf(run));
  const rolledBack = await readSmall(repository, names, Number.MAX_SAFE_INTEGER);
  return forks
    .filter(({ run }) => !rolledBack.has(rollbackOf(run)))
    .map(({ run: { ref, checkpoint }, other }) => ({
      code: 'ledger-checkpoint',
      where: ref,
      what: `its log proof shows ${checkpoint.size} entries of \`${checkpoint.origin}\` that are not those of ${other}: the log was forked`,
      ref,
    }));
}

async function openNewest(repository: Repository, origin: string): Promise<LogVersion | undefined> {
  const ledger = await openLedgerHere(repository, origin);
  const copy = await openMirrorHere(repository, origin);
  if (ledger === undefined || copy === undefined) return ledger ?? copy;
  return copy.head.size > ledger.head.size ? copy : ledger;
}

/** A log that is damaged itself is reported elsewhere. */
async function isPart(checkpoint: Checkpoint, log: LogVersion): Promise<boolean> {
  try {
    return await isPartOf(checkpoint, log);
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return true;
    throw fault;
  }
}

/**
 * Reads proofs of runs; `undefined` for one that cannot be read. The copy of a log, the ledger and the runs that show
 * another history are looked at with the first proof of that log. `publicKeyPem`: the user's ledger key. Signatures of
 * the proofs are not verified: this only keeps a run of this machine from being published.
 */
export function openProofStandings(
  repository: Repository,
  publicKeyPem: string | undefined,
): (proof: Uint8Array) => Promise<ProofStanding | undefined> {
  const mirrors = new Map<string, Promise<LogVersion | undefined>>();
  const ledgers = new Map<string, Promise<LogVersion | undefined>>();
  const forks = new Map<string, Promise<StrayRun | undefined>>();
  return async (proof) => {
    const proven = checkpointOfProof(proof);
    if (proven === undefined) return undefined;
    const { origin, size } = proven;
    const log = mirrorRef(origin);
    const mirror = await once(mirrors, origin, (of) => openMirrorHere(repository, of));
    if (mirror !== undefined && (await isPartOf(proven, mirror))) return { log };
    const ledger = await once(ledgers, origin, (of) => openLedgerHere(repository, of));
    if (mirror !== undefined) {
      const isOwn = ledger !== undefined && (await isPartOf(proven, ledger));
      return isOwn ? { log } : { log, fault: `its log entry is not in the published log \`${log}\`` };
    }
    if (ledger === undefined || publicKeyPem === undefined || !(await shows(ledger, proven))) return { log };
    const fork = await once(forks, origin, () => findFork(repository, publicKeyPem, ledger));
    // What is smaller than the other tree may be a part of both.
    if (fork === undefined || size < fork.checkpoint.size) return { log };
    return {
      log,
      fault: `its log entry is in a forked log: the first ${fork.checkpoint.size} entries are not those of \`${fork.ref}\` (\`writ help ledger\`, Without a copy in git)`,
    };
  };
}

/** Returns the smallest tree in a stored run's proof that differs from the local ledger and is not larger than it. */
async function findFork(
  repository: Repository,
  publicKeyPem: string,
  ledger: LogVersion,
): Promise<StrayRun | undefined> {
  const head = signedBy(publicKeyPem, Buffer.from(ledger.head.source));
  if (head === undefined) return undefined;
  const directory = join(repository.commonDir, ledgerPath);
  const strays = await findStrayRuns(repository, publicKeyPem, directory, head).catch(ifDamaged([]));
  return strays
    .filter(({ checkpoint }) => checkpoint.size <= head.size)
    .sort((a, b) => a.checkpoint.size - b.checkpoint.size)[0];
}

/** A damaged ledger contains no proof, so it never prevents publishing a run. */
function shows(ledger: LogVersion, proven: Checkpoint): Promise<boolean> {
  return isPartOf(proven, ledger).catch(ifDamaged(false));
}

function ifDamaged<T>(value: T): (fault: unknown) => T {
  return (fault) => {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return value;
    throw fault;
  };
}

function once<T>(made: Map<string, T>, key: string, make: (key: string) => T): T {
  const found = made.get(key) ?? make(key);
  made.set(key, found);
  return found;
}
