/* The result of a run in the words that all reports use. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { DecisionType, RunView, WaitsFor } from '../../core/interfaces/run-view.ts';
import { type CheckRecord, stageNames } from '../../core/interfaces/stage.ts';
import type { DraftSummary } from '../../engine/draft/waiting-drafts.ts';
import type { RunSummary } from '../../engine/record/list-runs.ts';
import { peopleAmong } from '../../readers/diff/owned-paths.ts';
import type { RunsData } from '../schemas/run-schema.ts';

/** Where the time of this process went, in milliseconds. Checks run side by side, so parts may exceed the whole. */
export type TimeSpent = Readonly<
  Record<'totalMs' | 'checksMs' | 'baseMs' | 'footprintMs' | 'secondMs' | 'otherMs', number>
>;

/** A run as the process shows it that ran its checks. */
export type EndedRun = RunView & {
  readonly time?: TimeSpent;
  /** Its record is not pushed and goes with this machine: no command can show it later. */
  readonly isLost?: boolean;
};

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

const wouldWords = {
  commit: ['good', 'Would be committed'],
  abandon: ['bad', 'Would be refused'],
  wait: ['open', 'Would wait for a person'],
} as const;

/** The error code of a run, or of a run of a session, that ended without a commit. */
export function uncommittedCode(
  decision: DecisionType | 'waiting' | 'held' | 'none',
): 'DECISION_ROLLBACK' | 'DECISION_WAITING' | 'DECISION_ABANDON' {
  if (decision === 'rollback') return 'DECISION_ROLLBACK';
  const isWaiting = decision === 'checkpoint' || decision === 'waiting' || decision === 'held';
  return isWaiting ? 'DECISION_WAITING' : 'DECISION_ABANDON';
}

/** Derives the verdict from the view. Pure. Only a commit decision is a success. */
export function toVerdict(view: EndedRun): Verdict {
  const show = { line: showLine(view), about: 'the run in full, from the stored objects' };
  const approve = {
    line: `writ approve ${view.runId}`,
    about: 'signed with your SSH key, or `--reject`; by others, after `writ push`, with `--remote REMOTE`',
  };
  const resume = {
    line: `writ resume ${view.runId}`,
    about: 'continues where it stopped; `writ fetch` first, if others approved elsewhere',
  };
  const { decision } = view;
  const waitingSteps = ({ for: what, needed, people, owners = [] }: WaitsFor): Verdict['next'] => {
    if (what === 'budget')
      return [
        {
          line: `writ resume ${view.runId} --more-cost-units N`,
          about: 'grants more, which no approval does',
        },
      ];
    const counting = people.filter(({ status }) => status === 'counts');
    const isEnough = counting.length >= needed && owners.every(({ approved }) => approved.length > 0);
    const isDecided = counting.some((one) => one.decision === 'reject') || isEnough;
    return isDecided ? [resume, approve] : [approve, resume];
  };
  if (view.would !== undefined) {
    const { type, rationale, isAdvised } = view.would;
    const [tone, word] = wouldWords[type];
    const sentence = [...policyReasons(view), rationale].join('; ');
    const why = isAdvised ? 'advise mode' : 'only evaluated';
    return { tone, word, sentence: `${sentence} (${why}: nothing was sealed or kept)`, next: [] };
  }
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
          ...(view.state === 'interrupted' ? [resume] : []),
          {
            line: `writ verify ${decision.commitSha ?? view.runId}`,
            about: `signature, subjects, spec and evidence digests${view.provenance?.proof === undefined ? '' : ', log inclusion'}; offline`,
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
      return { tone: 'bad', word: 'Refused', sentence, next: view.isLost ? [] : [show] };
    case 'rollback':
      return {
        tone: 'bad',
        word: 'Rolled back',
        sentence: decision.rationale,
        next: view.isLost ? [] : [show],
      };
    case 'checkpoint':
      return {
        tone: 'open',
        word: 'Waiting',
        // The reasons of an approval say all of its rationale, by name.
        sentence: view.waiting?.for === 'approval' && reasons.length > 0 ? reasons.join('; ') : sentence,
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

/** Checks, and people of one kind, that are named; the rest is counted. */
const most = 5;
const longest = 300;

type Person = WaitsFor['people'][number];

/**
 * Returns why policy checks block a run and who has signed so far: approvers, signatures that do not count and why,
 * and how many are missing. For the first line of every report. Empty if no policy check blocks the run. Pure: it
 * reads the view and changes nothing that approvals are bound to.
 */
export function policyReasons(view: RunView): readonly string[] {
  const { decision, waiting } = view;
  if (decision === undefined || decision.type === 'commit' || decision.type === 'rollback') return [];
  const held = stageNames
    .flatMap((name) => view.stages.filter(({ stage }) => stage === name))
    .flatMap(({ checks }) => checks)
    .filter(({ kind, required, status }) => kind === 'policy' && required && status !== 'passed');
  const told = held.slice(0, most).map(checkReason);
  if (held.length > most) told.push(`${held.length - most} more policy checks`);
  if (waiting?.for !== 'approval') return told;
  if (!held.some(({ findings }) => findings.some(asksForPeople))) told.push(countReason(waiting));
  return [...told, ...ownerReasons(waiting), ...peopleReasons(waiting, held)];
}

/** Which changed paths wait for whom. */
function ownerReasons({ owners = [] }: WaitsFor): readonly string[] {
  const lacking = owners.filter(({ approved }) => approved.length === 0);
  const rest = lacking.length > most ? [`${lacking.length - most} more patterns wait for an owner`] : [];
  return [...lacking.slice(0, most).map(ownerWords), ...rest];
}

/** `pay/a.js` and others wait for one of these people. */
export function ownerWords({
  pattern,
  owners,
  paths,
  count,
}: NonNullable<WaitsFor['owners']>[number]): string {
  const named = paths.slice(0, most).map((path) => `\`${cut(path)}\``);
  const more = count > named.length ? ` and ${count - named.length} more paths` : '';
  const names =
    owners.length === 0
      ? ['an owner who is no author']
      : owners.slice(0, most).map((name) => `\`${cut(name)}\``);
  const others = owners.length > names.length ? ` or ${owners.length - names.length} more` : '';
  const wait = count === 1 ? 'waits' : 'wait';
  return `${named.join(', ')}${more} ${wait} for ${names.join(' or ')}${others} (\`${cut(pattern)}\` in \`.writ/owners\`)`;
}

function checkReason({ id, status, findings }: CheckRecord): string {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const waits = findings.filter(({ detail }) => detail?.waiting === true);
  const said = status === 'waiting' ? waits : errors.length > 0 ? errors : findings;
  const [first] = said;
  if (first === undefined) return `check \`${id}\` ${status}`;
  const more = said.length > 1 ? ` (and ${said.length - 1} more)` : '';
  return `check \`${id}\` ${status}: ${cut(first.message)}${missingOf(first)}${more}`;
}

/** How many people of a kind a finding still misses. */
function missingOf({ detail }: Finding): string {
  const { approved, needed } = detail ?? {};
  if (!Array.isArray(approved) || typeof needed !== 'number') return '';
  return needed > approved.length ? `, ${missing(needed - approved.length)}` : '';
}

function asksForPeople({ detail }: Finding): boolean {
  return detail?.waiting === true && typeof detail.needed === 'number';
}

function countReason({ needed, people }: WaitsFor): string {
  if (people.some(({ status }) => status === 'unjudged'))
    return `${people.length} signed, not verified: the policy commit is not in this clone`;
  const approved = people.filter((one) => one.status === 'counts' && one.decision === 'approve').length;
  const left = needed > approved ? `, ${missing(needed - approved)}` : '';
  return `${approved} of ${needed} people approved${left}`;
}

function missing(count: number): string {
  return `${count} ${count === 1 ? 'is' : 'are'} missing`;
}

function peopleReasons({ people }: WaitsFor, held: readonly CheckRecord[]): readonly string[] {
  const counting = people.filter(({ status }) => status === 'counts');
  const others = people.filter(({ status }) => status !== 'counts' && status !== 'unjudged');
  const outside = (one: Person): string =>
    held.every((check) => countsFor(check, one)) ? '' : ' (not in the group or role that a check asks for)';
  return [
    ...listed(
      'approved by ',
      counting.filter(({ decision }) => decision === 'approve').map((one) => `${nameOf(one)}${outside(one)}`),
    ),
    ...listed('rejected by ', counting.filter(({ decision }) => decision === 'reject').map(nameOf)),
    ...listed(
      'not counted: ',
      // Known people come first: anyone who can write a ref could fill the list with unsigned entries.
      [
        ...others.filter(({ principal }) => principal !== ''),
        ...others.filter(({ principal }) => principal === ''),
      ].map(
        (one) => `${nameOf(one)} (${one.status}${one.detail === undefined ? '' : `: ${cut(one.detail)}`})`,
      ),
    ),
  ];
}

/** False where a check that counts people of a group or role did not count this one. */
function countsFor({ findings }: CheckRecord, { principal }: Person): boolean {
  return findings.every(({ detail }) => {
    const { approved, group, roles } = detail ?? {};
    if (!Array.isArray(approved) || (group === undefined && roles === undefined)) return true;
    return (
      peopleAmong(
        approved.filter((name) => typeof name === 'string'),
        [principal],
      ).length > 0
    );
  });
}

function listed(lead: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return [`${lead}${names.slice(0, most).join(', ')}${rest}`];
}

function nameOf({ principal, keyId, source }: Person): string {
  return `\`${cut(principal || keyId || source)}\``;
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
