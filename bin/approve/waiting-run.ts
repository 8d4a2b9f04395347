import { canonicalDigest } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { findRun } from '../../core/run/find-runs.ts';
import type { GateReport } from '../../core/run/gate-report.ts';
import type { RunStore } from '../../core/run/run-store.ts';
import { parseWaitingRecord, type WaitingRecord, waitingPath } from '../../core/run/waiting-record.ts';
import { openRepository, type Repository } from '../../core/vcs/repository.ts';
import type { CommandContext } from '../command.ts';

/** A run that waits, and the very report that its approvals are bound to. */
export interface WaitingRun {
  readonly repository: Repository;
  readonly store: RunStore;
  readonly runId: string;
  readonly record: WaitingRecord;
  readonly report: GateReport;
}

const reportPath = 'gate-report.json';
const maxReportBytes = 64 * 1024 * 1024;

/**
 * Opens the run that a command line names, from its refs alone. RUN_NOT_FOUND; RUN_NOT_WAITING; OBJECT_CORRUPT where what would be shown
 * is not what would be signed.
 */
export async function openWaitingRun(
  context: Pick<CommandContext, 'repoPath' | 'cwd'>,
  wanted: string,
): Promise<WaitingRun> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const { store, runId } = await findRun(repository, systemClock, wanted);
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
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes: maxReportBytes });
  const digests = [canonicalDigest(value), sha256Hex(bytes)];
  if (!digests.includes(record.subject.gateReportDigest)) {
    throw corrupt(`its \`${reportPath}\` is not the one that it names`, {
      run_id: runId,
      expected: record.subject.gateReportDigest,
      found: digests[0],
    });
  }
  return { repository, store, runId, record, report: value as GateReport };
}

function corrupt(found: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `what the run waits with cannot be approved: ${found}`,
    detail,
  });
}
