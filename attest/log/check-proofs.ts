import { isWritError } from '../../core/base/errors.ts';
import type { LedgerFindings } from '../../store/problem.ts';
import { sealPaths } from '../../store/record/record-files.ts';
import { readSmall } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Checkpoint } from './checkpoint.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { openLedgerHere, openMirrorHere } from './logged-proof.ts';
import { listRunRecords, type ProvenRun, readProvenRuns } from './proven-runs.ts';

/**
 * The runs whose log proof shows another tree than the log here, or than the proof of another run of the same size: the
 * log was forked. No signature is verified. A run that was rolled back needs no entry.
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
