import { canonicalize } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ApprovalSubject } from '../../core/interfaces/approval.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { verdictDifferences, verdictDigest, verdictOf } from '../../store/record/verdict.ts';
import type { RunStore } from '../../store/stores.ts';
import type { Attempt, RunIdentity } from '../state/open-run.ts';

/** A candidate to approve, with the gate report before any approval. */
export interface Shown {
  readonly subject: ApprovalSubject;
  readonly report: GateReport;
  readonly nowMs: number;
}

/** Folder of the waiting run's record that keeps what people were shown before. */
const earlierFolder = 'waiting/shown';

const maxEarlier = 20;

const stepsOf = ({ means: { steps } }: Pick<Attempt, 'means'>): Attempt['means']['steps'] =>
  steps.under('shown');

/** What was shown of this candidate last; `undefined` before anything was. */
export function lastShown(attempt: Pick<Attempt, 'means'>): Shown | undefined {
  return everShown(attempt).at(-1);
}

/** Everything that was shown of this candidate on this machine, oldest first. */
export function everShown(attempt: Pick<Attempt, 'means'>): readonly Shown[] {
  const steps = stepsOf(attempt);
  const shown: Shown[] = [];
  for (let n = 1; ; n += 1) {
    const ended = steps.ended(String(n));
    if (!ended) return shown;
    shown.push(ended.answer as Shown);
  }
}

/** Shows a report from now on, unless what is shown comes to the same verdict about the same change. */
export async function show(attempt: Attempt, report: GateReport): Promise<Shown> {
  const before = everShown(attempt);
  const subject = subjectOf(attempt, report);
  const last = before.at(-1);
  if (last && canonicalize(last.subject) === canonicalize(subject)) return last;
  return stepsOf(attempt).once(
    String(before.length + 1),
    (): Shown => ({ subject, report, nowMs: attempt.means.settings.clock.now() }),
  );
}

/** What an approval of this candidate with this report has to be about. */
function subjectOf(
  { identity: { runId, contract }, patch }: Pick<Attempt, 'identity' | 'patch'>,
  report: GateReport,
): ApprovalSubject {
  return {
    runId,
    baseCommit: patch.baseCommit ?? null,
    candidateTree: patch.candidateTree,
    patchDigest: patch.digest,
    specDigest: contract.digest,
    gateReportDigest: verdictDigest(report),
  };
}

/**
 * Gate reports that the run's ref lists as shown to people, here or on another machine. Use them only to compute
 * differences.
 */
export async function reportsOnRef({
  runId,
  store,
}: Pick<RunIdentity, 'runId'> & { readonly store: RunStore }): Promise<readonly GateReport[]> {
  const ref = store.refs.run(runId);
  if ((await store.objects.version(ref)) === undefined) return [];
  const earlier = (await store.objects.list(ref))
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${earlierFolder}/`))
    .slice(0, maxEarlier);
  const files = await store.objects.readMany(ref, [...earlier, 'gate-report.json']);
  return [...files.values()].flatMap((bytes) => {
    try {
      return [readGateReport(bytes)];
    } catch (fault) {
      if (isWritError(fault, 'OBJECT_CORRUPT')) return [];
      throw fault;
    }
  });
}

/** How a report differs from each verdict that was shown before, in words, by that verdict's digest. */
export function differencesFrom(
  earlier: readonly GateReport[],
  report: GateReport,
): ReadonlyMap<string, readonly string[]> {
  const now = verdictOf(report);
  return new Map(
    earlier.map((one) => [verdictDigest(one), verdictDifferences(verdictOf(one), now)] as const),
  );
}

/**
 * Those of the reports that come to another verdict than `report`, each verdict once, as files of a waiting run's
 * record.
 */
export function earlierFiles(
  earlier: readonly GateReport[],
  report: GateReport,
): readonly (readonly [string, Uint8Array])[] {
  const now = verdictDigest(report);
  const others = new Map(earlier.map((one) => [verdictDigest(one), one] as const));
  others.delete(now);
  return [...others.values()]
    .slice(-maxEarlier)
    .map((one, n) => [`${earlierFolder}/${n + 1}.json`, Buffer.from(`${canonicalize(one)}\n`)]);
}
