import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import type { ProofStanding } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Checkpoint } from './checkpoint.ts';
import { signedBy } from './continue-mirror.ts';
import { mirrorRef } from './git-mirror.ts';
import { ledgerPath } from './ledger-path.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { openLedgerHere, openMirrorHere } from './logged-proof.ts';
import { checkpointOfProof } from './proven-runs.ts';
import { findStrayRuns, type StrayRun } from './stray-runs.ts';

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
      fault: `its log entry is in a forked log: the first ${fork.checkpoint.size} entries are not those of \`${fork.ref}\` (docs/ledger.md, Without a copy in git)`,
    };
  };
}

/** The smallest tree in a proof of a stored run that differs from the ledger here, which is no older. */
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

/** A damaged ledger shows nothing: it keeps no run from being published. */
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
