import { isWritError } from '../../core/base/errors.ts';
import type { EarlierCandidate } from '../../core/contract/approval.ts';
import { comparePatches, type PatchComparison } from '../../engine/patch/compare-patches.ts';
import { differencesFrom, reportsOnRef } from '../../engine/run/record/shown-reports.ts';
import { redactTexts } from '../../readers/sensitive/redact-texts.ts';
import type { JudgedHere } from './judge-here.ts';
import type { WaitingRun } from './waiting-run.ts';

/** What changed since people signed for an earlier candidate of a run: all that they have to look at again. */
export interface ChangedSince {
  readonly people: readonly string[];
  readonly base_commit: string;
  readonly candidate_tree: string;
  /** `unknown`: the earlier candidate is not in this clone. */
  readonly patch: PatchComparison['state'] | 'unknown';
  /** Lines of a diff of both canonical patches, redacted. */
  readonly diff: readonly string[];
  /** Lines that were left out. */
  readonly left_out: number;
  /** How the verdict differs; empty if it is the same. */
  readonly verdict: readonly string[];
}

const maxCandidates = 5;
const maxLines = 200;
const maxColumns = 400;

/** Compares the candidate of a waiting run with each earlier one that was signed for and does not count. */
export async function changedSince(
  { repository, store, runId, record: { subject }, report }: WaitingRun,
  { approvers }: JudgedHere,
): Promise<readonly ChangedSince[]> {
  const found = new Map<string, { readonly earlier: EarlierCandidate; readonly people: Set<string> }>();
  for (const { earlier, principal, status } of approvers) {
    if (earlier === undefined || status === 'counts') continue;
    const key = `${earlier.baseCommit} ${earlier.candidateTree} ${earlier.gateReportDigest}`;
    const one = found.get(key) ?? { earlier, people: new Set() };
    found.set(key, { ...one, people: one.people.add(principal) });
  }
  const { baseCommit } = subject;
  if (found.size === 0 || baseCommit === null) return [];
  const known = differencesFrom(await reportsOnRef({ store, runId }), report);
  const changes: ChangedSince[] = [];
  for (const { earlier, people } of [...found.values()].slice(-maxCandidates)) {
    const before = { baseCommit: earlier.baseCommit, tree: earlier.candidateTree };
    const now = { baseCommit, tree: subject.candidateTree };
    const { state, lines } = await comparePatches(repository, before, now).catch((fault: unknown) => {
      if (isWritError(fault)) return { state: 'unknown', lines: [] } as const;
      throw fault;
    });
    const isSame = earlier.gateReportDigest === subject.gateReportDigest;
    const words = known.get(earlier.gateReportDigest) ?? ['what was shown then is not known here'];
    changes.push({
      people: [...people].sort(),
      base_commit: earlier.baseCommit,
      candidate_tree: earlier.candidateTree,
      patch: state,
      diff: shown(lines),
      left_out: Math.max(0, lines.length - maxLines),
      verdict: isSame ? [] : words,
    });
  }
  return changes;
}

/** Secrets are masked before lines are cut: half of one is still one. */
function shown(lines: readonly string[]): readonly string[] {
  const text = redactTexts(lines.slice(0, maxLines).join('\n'), { remove: ['secrets'], words: {} });
  return text.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(0, maxColumns)]));
}
