import type { RunView, WaitsFor } from '../../core/interfaces/run-view.ts';
import type { DraftSummary } from '../../engine/draft/waiting-drafts.ts';
import type { RunSummary } from '../../engine/record/list-runs.ts';
import type { RunsData } from '../schemas/run-schema.ts';
import { policyReasons } from './policy-reasons.ts';

/** How a run ended, in words that every report uses. */
interface Verdict {
  readonly tone: 'good' | 'bad' | 'open';
  /** One or two words. */
  readonly word: string;
  readonly sentence: string;
  /** Command lines worth typing next, and what each shows. */
  readonly next: readonly { readonly line: string; readonly about: string }[];
}

/** The command that shows the run in full. */
export function showLine({ runId }: Pick<RunView, 'runId'>): string {
  return `writ show ${runId}`;
}

/** Derives the verdict from the view. Pure. Only a commit decision is a success. */
export function toVerdict(view: RunView): Verdict {
  const show = { line: showLine(view), about: 'the run in full, from the stored objects' };
  const approve = { line: `writ approve ${view.runId}`, about: 'signed with your SSH key, or `--reject`' };
  const resume = { line: `writ resume ${view.runId}`, about: 'continues where it stopped' };
  const { decision } = view;
  const waitingSteps = ({ for: what, needed, people }: WaitsFor): Verdict['next'] => {
    if (what === 'budget')
      return [
        {
          line: `writ resume ${view.runId} --more-cost-units N`,
          about: 'grants more, which no approval does',
        },
      ];
    const counting = people.filter(({ status }) => status === 'counts');
    const isDecided = counting.some((one) => one.decision === 'reject') || counting.length >= needed;
    return isDecided ? [resume, approve] : [approve, resume];
  };
  if (decision === undefined) {
    if (view.state === 'waiting')
      return { tone: 'open', word: 'Waiting', sentence: 'The run waits for a person.', next: [show] };
    if (view.state === 'interrupted') {
      return {
        tone: 'bad',
        word: 'Interrupted',
        sentence: 'The run was stopped before a decision; nothing was changed.',
        next: [resume, show],
      };
    }
    return { tone: 'open', word: 'Running', sentence: 'No decision yet.', next: [show] };
  }
  const reasons = policyReasons(view);
  const sentence =
    reasons.length === 0 ? decision.rationale : `${reasons.join('; ')} (decision: ${decision.rationale})`;
  switch (decision.type) {
    case 'commit':
      return {
        tone: 'good',
        word: 'Committed',
        sentence: decision.rationale,
        next: [
          {
            line: `writ verify ${decision.commitSha ?? view.runId}`,
            about: 'signature, subjects, spec and evidence digests, log inclusion; offline',
          },
          ...(view.provenance?.bundle === undefined
            ? []
            : [
                {
                  line: `writ verify ${decision.commitSha ?? view.runId} --key KEY.pem`,
                  about: 'the same on another machine, with the signer’s public key obtained from the signer',
                },
              ]),
          show,
        ],
      };
    case 'abandon':
      return { tone: 'bad', word: 'Abandoned', sentence, next: [show] };
    case 'rollback':
      return { tone: 'bad', word: 'Rolled back', sentence: decision.rationale, next: [show] };
    case 'checkpoint':
      return {
        tone: 'open',
        word: 'Checkpoint',
        sentence,
        next: [...(view.waiting ? waitingSteps(view.waiting) : [approve, resume]), show],
      };
    case 'retry':
      return { tone: 'open', word: 'Retry', sentence, next: [show] };
  }
}

/** Runs, and drafts that wait, as `--json` shows them, in the order given. */
export function toRunsData(runs: readonly (RunSummary | DraftSummary)[]): RunsData {
  return {
    runs: runs.map((run) => ({ ...lineOf(run), ...('waitsFor' in run ? draftOf(run) : endOf(run)) })),
  };
}

function lineOf({ runId, startedAt, state, summary, specId }: RunSummary | DraftSummary) {
  return { run_id: runId, started_at: startedAt, state, summary, spec_id: specId };
}

function endOf({ threadId, decision, commitSha, landing }: RunSummary) {
  return {
    ...(threadId === undefined ? {} : { thread_id: threadId }),
    ...(decision === undefined ? {} : { decision }),
    ...(commitSha === undefined ? {} : { commit_sha: commitSha }),
    ...(landing === 'sealed' ? { landed: false } : {}),
  };
}

function draftOf({ request, riskLevel, waitsFor }: DraftSummary) {
  return {
    draft: {
      request,
      waits_for: waitsFor,
      ...(riskLevel === undefined ? {} : { risk_level: riskLevel }),
    },
  };
}
