/* Opens a recorded run by its id, and verifies its approvals. */
import { readApprovals } from '../../attest/approval/read-approvals.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { parseCommit } from '../../attest/verify/evidence-source.ts';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { ApprovalVerdict, ReceivedApproval } from '../../core/interfaces/approval.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { parseConfig } from '../../engine/config/config.ts';
import { carryFaultIn } from '../../engine/decide/people.ts';
import { type DraftPrompt, readDraftPrompt } from '../../engine/draft/draft-request.ts';
import { readAuthorNote } from '../../engine/draft/short-spec.ts';
import { differencesFrom, listRuns, reportsOnRef } from '../../engine/record/list-runs.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { listApprovals } from '../../engine/record/stored-approvals.ts';
import { peopleAmong } from '../../readers/diff/owned-paths.ts';
import { findLandings, shortRef } from '../../store/landed.ts';
import { peopleOf } from '../../store/record/gate-report.ts';
import { runFinder } from '../../store/record/list-records.ts';
import { parseNamedJson } from '../../store/record/record-paths.ts';
import type { Place, RunStore } from '../../store/stores.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { presentCommits, readObjects } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { commitsNamed, isRevision } from '../../workspace/git/resolve-commit.ts';
import { compact } from '../envelope.ts';
import { toVerdict, uncommittedCode } from './verdict.ts';
import type { WaitingRun } from './waiting-run.ts';

export interface OpenedRun {
  readonly repository: Repository;
  readonly store: RunStore;
  readonly view: RunView;
}

/**
 * The run that a command line names: by its id, the beginning of it, or a commit that names it. Without a name, the
 * newest one. NOT_A_REPOSITORY, RUN_NOT_FOUND.
 */
export async function openRun(context: Place, wanted?: string): Promise<OpenedRun> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const find = runFinder(context.stores, repository, systemClock);
  const { store, runId } =
    wanted === undefined
      ? await find((await listRuns(context.stores, repository, systemClock))[0]?.runId ?? 'newest')
      : await find(wanted).catch(async (fault) => {
          const named = await runOfCommit(repository, wanted);
          if (named === undefined) throw fault;
          return await find(named);
        });
  const view = await readRun(repository, store, runId);
  const notices = [...(await landingNotices(repository, view)), ...(view.notices ?? [])];
  return { repository, store, view: notices.length === 0 ? view : { ...view, notices } };
}

/** The `Run-Id` of a commit, if the name is a revision here. */
async function runOfCommit(repository: Repository, name: string): Promise<string | undefined> {
  const [named] = isRevision(name) ? await commitsNamed(repository, name) : [];
  const [object] = named === undefined ? [] : await readObjects(repository, [named.commit]);
  return object && parseCommit(object.bytes)?.trailer('Run-Id')[0];
}

/** How a notice of such a commit begins. */
export const notLanded = 'sealed, not landed';

const sealAgain = (runId: string): string =>
  `\`git pull --rebase --autostash\`, then \`writ seal --commit --by ${runId}\``;

/** What to do about a sealed commit that is not on the branch that counts. */
export async function landingNotices(
  repository: Repository,
  { runId, state, decision, targetRef: target }: RunView,
): Promise<readonly string[]> {
  const commit = decision?.type === 'commit' ? decision.commitSha : undefined;
  if (state !== 'decided' || commit === undefined) return [];
  const present = await presentCommits(repository, [commit]);
  const [landing] = await findLandings(repository, [{ commit, target }], present);
  if (landing?.state === 'unknown' && landing.fetch !== undefined)
    return [
      `landing unknown: this clone does not have ${present.has(commit) ? 'the branch that counts for ' : ''}commit ${commit}. To know whether it landed: ${landing.fetch}`,
    ];
  if (landing?.state !== 'sealed') return [];
  const branch = printable(shortRef(landing.ref));
  if (!landing.isGone && !present.has(commit))
    return [
      `${notLanded} as far as this clone knows: another clone sealed commit ${commit}. To bring it: \`git fetch\``,
    ];
  if (landing.isGone)
    return [
      `${notLanded}: this clone has no branch \`${branch}\`, and no other branch here holds commit ${commit}. If the branch exists elsewhere: \`git fetch\`. If it was merged as another commit (squash, rebase), you need to do nothing. Otherwise run the spec again`,
    ];
  const found = `${notLanded}: \`${branch}\` does not hold commit ${commit}`;
  if (!landing.ref.startsWith('refs/remotes/')) return [`${found}. Merge that commit, or run the spec again`];
  if (!landing.ref.endsWith(`/${shortRef(target)}`)) {
    const [remote = '', ...name] = branch.split('/');
    return [
      `${found}. Merge it there, or push it: \`git push ${remote} ${commit}:refs/heads/${name.join('/')}\``,
    ];
  }
  return [
    `${found}. Push it. If somebody else pushed first: ${sealAgain(runId)}; if other commits stand on it, \`writ verify\` says how`,
  ];
}

/** The recorded spec of a run, and what it says of its origin. */
export interface SpecOrigin {
  /** The spec that was evaluated. */
  readonly document?: object;
  /** The user's request, and the model that drafted the spec from it. */
  readonly asked?: DraftPrompt;
  /** The short text that the spec was expanded from. */
  readonly note?: string;
}

/**
 * Returns what the run's recorded spec says of its origin. Empty if the spec is not recorded yet, or is not the one
 * that was evaluated.
 */
export async function originOfSpec({ store, view }: Pick<OpenedRun, 'store' | 'view'>): Promise<SpecOrigin> {
  const bytes = await store.objects.read(store.refs.run(view.runId), 'spec.json');
  if (bytes === undefined) return {};
  const document = parseNamedJson('spec.json', bytes);
  if (canonicalDigest(document) !== view.spec.digest) return {};
  const { extensions } = document as { readonly extensions?: unknown };
  const asked =
    typeof extensions === 'object' && extensions !== null
      ? readDraftPrompt({ extensions: { ...extensions } })
      : undefined;
  return compact({ document: Object(document), asked, note: readAuthorNote(document) });
}

/** All approvals of a run so far, verified as of now. */
export interface EvaluatedHere {
  /** False if this clone lacks the policy commit, so approvers cannot be identified. */
  readonly judged: boolean;
  readonly approvers: readonly (Omit<ApprovalVerdict, 'status'> & {
    readonly status: ApprovalVerdict['status'] | 'unjudged';
  })[];
  /** Groups that a waiting check demands approvals of, and which of their people approved. */
  readonly groups: readonly GroupApprovals[];
}

interface GroupApprovals {
  readonly group: string;
  readonly needed: number;
  readonly approved: readonly string[];
}

/** The demands of the checks of a run for approvals by a group. */
function groupDemands({ stages }: Pick<RunView, 'stages'>): readonly Omit<GroupApprovals, 'approved'>[] {
  const details = stages
    .flatMap(({ checks }) => checks.flatMap(({ findings }) => findings))
    .map(({ detail }) => detail);
  return details.flatMap(({ waiting, group, needed } = {}) =>
    waiting === true && typeof group === 'string' && typeof needed === 'number' ? [{ group, needed }] : [],
  );
}

/** A run with signatures: `approvals`, or those on its approval refs. */
interface SignedRun extends Omit<WaitingRun, 'record'> {
  readonly record: Pick<WaitingRun['record'], 'subject' | 'authors'>;
  readonly approvals?: readonly ReceivedApproval[];
}

/** Reads and verifies the stored approvals of a run against the allowed signers at its policy commit. */
export async function evaluateHere({
  repository,
  store,
  runId,
  record,
  report,
  approvals,
}: SignedRun): Promise<EvaluatedHere> {
  const { subject, authors } = record;
  const policy = report.policyCommit ?? null;
  const [commit, file, config] =
    policy === null
      ? []
      : await readObjects(repository, [
          policy,
          `${policy}:.writ/allowed_signers`,
          `${policy}:.writ/config.toml`,
        ]);
  const judged = policy === null || commit?.type === 'commit';
  const {
    inProcess,
    carry,
    groups: members,
  } = parseConfig(config?.type === 'blob' ? config.bytes : undefined, sealingForms).approvals;
  const verdicts = await readApprovals(approvals ?? (await listApprovals(store, runId)), {
    subject,
    allowedSigners: file?.type === 'blob' ? file.bytes : undefined,
    authors: [...authors, ...peopleOf(report.authorship)],
    differences: differencesFrom(await reportsOnRef({ store, runId }), report),
    receivedAtMs: systemClock.now(),
    inProcess,
    ...(carry === 'equivalent' ? { carryFault: carryFaultIn(repository, subject) } : {}),
  });
  const approving = verdicts
    .filter(({ status, decision }) => status === 'counts' && decision === 'approve')
    .map(({ principal }) => principal);
  const groups = groupDemands(report).map(({ group, needed }) => {
    const people = Object.hasOwn(members, group) ? (members[group] ?? []) : [];
    return { group, needed, approved: [...new Set(peopleAmong(approving, people))] };
  });
  if (judged) return { judged, approvers: verdicts, groups };
  return {
    judged,
    groups,
    approvers: verdicts.map((verdict) => {
      const { detail: _, ...rest } = verdict;
      return verdict.status === 'untrusted-signer' ? { ...rest, status: 'unjudged' } : verdict;
    }),
  };
}

/**
 * Returns why a run did not succeed: abandoned, rolled back, waiting, or an incomplete record. `undefined` for a
 * commit.
 */
export function runRefusal(view: RunView): WritError | undefined {
  if (view.would !== undefined)
    return view.would.type === 'abandon' && !view.would.isAdvised
      ? new WritError('DECISION_ABANDON', {
          message: `the change would be refused: ${view.would.rationale}`,
        })
      : undefined;
  const type = view.decision?.type;
  if (type === 'commit') return pushRefusal(view);
  if (type === undefined) return undecided(view);
  return new WritError(uncommittedCode(type), {
    // The report of a run that waits names its reasons already.
    message: type === 'checkpoint' ? 'the run waits for a person' : toVerdict(view).sentence,
    detail: { run_id: view.runId },
    ...(type === 'checkpoint' ? { hints: howToGoOn(view) } : {}),
  });
}

/** The commit is sealed here, and the remote does not have it. */
function pushRefusal({ runId, push, targetRef }: RunView): WritError | undefined {
  if (push === undefined || push.reason === undefined) return undefined;
  const { remote, branch, reason } = push;
  return new WritError('PUSH_REJECTED', {
    message: `sealed on \`${printable(shortRef(targetRef))}\`, not landed: \`${remote}\` did not accept it: ${reason}`,
    detail: { run_id: runId, remote, branch },
    hints: [
      `to send it again: \`writ resume ${runId} --push\``,
      `if somebody else pushed first: ${sealAgain(runId)}, and push again; if other commits stand on it, \`writ verify\` says how`,
    ],
  });
}

/** The hint includes the run's own id, because the surrounding text does not define `RUN`. */
function howToGoOn(view: RunView): readonly string[] {
  const { runId, waiting } = view;
  if (waiting?.for === 'budget') return [`grant more with \`writ resume ${runId} --more-cost-units N\``];
  const [first] = toVerdict(view).next;
  if (first?.line === `writ resume ${runId}` && groupDemands(view).length === 0)
    return [`go on with \`${first.line}\``];
  return [
    `an approver signs it: \`writ approve ${runId}\`; then you go on: \`writ resume ${runId}\``,
    `an approver in another clone: you \`writ push\`, they \`writ approve ${runId} --remote REMOTE\`, you \`writ fetch\`, then resume`,
  ];
}

/** The run ended but its record does not state how. That is damage, not a result. */
function undecided({ runId, state }: RunView): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the record of run \`${runId}\` is incomplete: it holds neither a decision nor a question that it waits for`,
    detail: { run_id: runId, state },
  });
}
