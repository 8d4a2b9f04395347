import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseWaitingRecord, type WaitingRecord, waitingPath } from '../../engine/record/stored-approvals.ts';
import { findRun } from '../../store/record/find-run.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { verdictDigest } from '../../store/record/verdict.ts';
import type { RunStore } from '../../store/stores.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { Place } from '../place.ts';

/** A run that waits, and the very report that its approvals are bound to. */
export interface WaitingRun {
  readonly repository: Repository;
  readonly store: RunStore;
  readonly runId: string;
  readonly record: WaitingRecord;
  readonly report: GateReport;
}

const reportPath = 'gate-report.json';

/**
 * Opens the run that a command line names, from its refs alone. RUN_NOT_FOUND; RUN_NOT_WAITING; OBJECT_CORRUPT where
 * what would be shown is not what would be signed.
 */
export async function openWaitingRun(context: Place, wanted: string): Promise<WaitingRun> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const { store, runId } = await findRun(context.stores, repository, systemClock, wanted);
  const files = await store.objects.readMany(store.refs.run(runId), [
    waitingPath,
    reportPath,
    'decision.json',
  ]);
  const waiting = files.get(waitingPath);
  if (waiting === undefined || files.has('decision.json'))
    throw new WritError('RUN_NOT_WAITING', {
      detail: { run_id: runId, decided: files.has('decision.json') },
    });
  const record = parseWaitingRecord(waiting);
  if (record.subject.runId !== runId)
    throw corrupt(`it is of the run \`${record.subject.runId}\``, { run_id: runId });
  const bytes = files.get(reportPath);
  if (bytes === undefined) throw corrupt(`\`${reportPath}\` is missing`, { run_id: runId });
  const report = readGateReport(bytes);
  const digest = verdictDigest(report);
  if (digest !== record.subject.gateReportDigest) {
    throw corrupt(`the verdict in its \`${reportPath}\` is not the one that it names`, {
      run_id: runId,
      expected: record.subject.gateReportDigest,
      found: digest,
    });
  }
  requireSameChange(record, report);
  return { repository, store, runId, record, report };
}

/** The record names the report by digest. Its other statements about the change must match the report. */
function requireSameChange({ subject, specId, summary }: WaitingRecord, report: GateReport): void {
  const { patch, spec, baseCommit } = report;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['candidateTree', patch?.candidateTree, subject.candidateTree],
    ['patchDigest', patch?.digest, subject.patchDigest],
    ['specDigest', spec.digest, subject.specDigest],
    ['baseCommit', baseCommit ?? null, subject.baseCommit],
    ['specId', spec.id, specId],
    ['summary', spec.summary, summary],
  ];
  for (const [field, expected, found] of pairs)
    if (found !== expected)
      throw corrupt(`its \`${waitingPath}\` names another \`${field}\` than its \`${reportPath}\``, {
        run_id: subject.runId,
        field,
        expected,
        found,
      });
}

function corrupt(found: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `what the run waits with cannot be approved: ${found}`,
    detail,
  });
}
