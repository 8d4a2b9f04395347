import { isWritError } from '../../core/base/errors.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { verdictDifferences, verdictDigest, verdictOf } from '../../store/record/verdict.ts';
import type { EvidenceSource } from './evidence-source.ts';
import { refuted, unavailable } from './report.ts';

/** What people were shown, what the gates came to in the end, and the verdict that an approval has to be about. */
export interface ShownVerdict {
  readonly shown: GateReport;
  readonly final: GateReport;
  /** SHA-256 of the shown verdict. */
  readonly verdict: string;
}

/**
 * Computes the verdict that people signed from the report they were shown, and demands that the run went on from it:
 * but for what waited for people, and came after that, the final report comes to the same (`docs/approval.md`, The
 * verdict). `policy-deny` says what differs.
 */
export async function readShown(source: EvidenceSource): Promise<ShownVerdict> {
  const shown = await readStoredReport(source, 'approvals/gate-report.json');
  const final = await readStoredReport(source, 'gate-report.json');
  const differences = verdictDifferences(verdictOf(shown), verdictOf(final), { goesOn: true });
  if (differences.length > 0)
    throw refuted('policy-deny', { expected: 'the verdict that was approved', found: differences });
  return { shown, final, verdict: verdictDigest(shown) };
}

/** A gate report of the run. `missing`, `malformed`. */
export async function readStoredReport(source: EvidenceSource, path: string): Promise<GateReport> {
  const bytes = await source.readRun(path);
  if (bytes === undefined) throw unavailable('missing', { path });
  try {
    return readGateReport(bytes);
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) throw refuted('malformed', { path, found: fault.message });
    throw fault;
  }
}
