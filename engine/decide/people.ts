/* Waits for approvals of a candidate and verifies them. */
import { sha256Hex } from '../../core/base/canonical.ts';
import type {
  ApprovalGround,
  ApprovalSubject,
  ApprovalVerdict,
  OwnedPaths,
} from '../../core/interfaces/approval.ts';
import { ownedPathsIn } from '../../readers/diff/owned-paths.ts';
import { maskPath } from '../../readers/sensitive/redact.ts';
import { findCarryFault } from '../../store/record/carry-fault.ts';
import { peopleOf } from '../../store/record/gate-report.ts';
import { toJson, waitingFolder } from '../../store/record/record-paths.ts';
import { maskedPath } from '../../store/record/summaries.ts';
import { formatIdentity, identityOf, listPeopleHere } from '../../workspace/git/commit-log.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { importObjects } from '../../workspace/git/import-objects.ts';
import { describeObjects } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { carryReader } from '../../workspace/patch/carry-reader.ts';
import { finalReport } from '../record/build-gate-report.ts';
import type { EvaluatedRun } from '../record/evaluation-objects.ts';
import { runnerSealPath, travelledJournal } from '../record/journal-view.ts';
import { earlierFiles, everShown, lastShown, reportsOnRef, show } from '../record/list-runs.ts';
import { keepMasked } from '../record/masking.ts';
import { aboutContent, contentOfAttempts, patchContentPath } from '../record/settle-run.ts';
import {
  allowedSignersOf,
  buildWaitingRecord,
  type StoredApproval,
  storeApproval,
  waitingPath,
} from '../record/stored-approvals.ts';
import { recordFiles } from '../record/write-record.ts';
import type { Attempt } from '../state/open-run.ts';
import { approversNeeded } from './budget.ts';

/**
 * Writes the complete run to its refs: spec, check results, journal, artifacts, candidate and base. Anyone who
 * fetches the refs can approve or resume the run. A second wait with the same verdict updates only the journal, so
 * existing signatures stay valid. A wait with another verdict is shown again.
 */
export async function waitForPeople(
  attempt: Attempt,
  judged: EvaluatedRun,
  report = finalReport(attempt, judged.findings, judged.stages),
): Promise<void> {
  const {
    identity: { runId, contract },
    services: { steps, store },
    patch,
    environment,
  } = attempt;
  const { objects, refs } = store;
  const spec = contract.effective;
  const shown = await show(attempt, report);
  const recorded = `shown-${everShown(attempt).length}-recorded`;
  const message = `writ: run ${runId} waits`;
  if (steps.ended(recorded)) {
    await objects.writeTree(refs.run(runId), {
      message,
      keepExisting: true,
      files: await travellingFiles(attempt),
    });
    return;
  }
  // Over its budget a run may wait with a candidate that was refused for a secret: it leaves this machine's private
  // directory no more than one that ended.
  const masked = keepMasked({ patch, steps }, judged);
  await objects.writeTree(refs.content(runId), {
    message,
    keepExisting: false,
    anchors: [
      ...(masked ? [] : [await anchorCandidate(attempt, shown.nowMs)]),
      // Verifying an approval on another machine needs the signers, which may be on another branch.
      ...policyElsewhere(environment),
      ...(await anchorEarlier(attempt, attempt.approvals)),
    ],
    files: content(masked?.bytes ?? patch.diff),
    about: aboutContent(attempt),
  });
  const { decision } = judged;
  const outcome = { type: 'checkpoint', rationale: decision.rationale, nowMs: shown.nowMs } as const;
  const files = new Map(await recordFiles(attempt, judged, outcome));
  files.set('gate-report.json', toJson(shown.report));
  // A reader would interpret a decision file at this path as the end of the run.
  for (const name of ['decision', 'decision-input', 'decision-record']) {
    const bytes = files.get(`${name}.json`);
    files.delete(`${name}.json`);
    if (bytes) files.set(`${waitingFolder}/${name}.json`, bytes);
  }
  const earlier = [...(await reportsOnRef({ store, runId })), ...everShown(attempt).map((one) => one.report)];
  for (const [path, bytes] of earlierFiles(earlier, shown.report)) files.set(path, bytes);
  const owners = ownedIn(attempt);
  files.set(
    waitingPath,
    buildWaitingRecord({
      for: decision.next === 'wait-for-budget' ? 'budget' : 'approval',
      subject: shown.subject,
      needed: neededApprovals(judged),
      authors: await authorsOf(attempt),
      groups: environment.config.approvals.groups,
      ...(owners.length === 0 ? {} : { owners }),
      specId: spec.metadata.id,
      summary: spec.intent.summary,
    }),
  );
  if (masked) files.set(maskedPath, masked.record);
  for (const [path, bytes] of await travellingFiles(attempt)) files.set(path, bytes);
  await objects.writeTree(refs.run(runId), { message, keepExisting: false, files });
  await steps.once(recorded, () => undefined);

  async function* content(kept: Uint8Array): AsyncGenerator<readonly [string, Uint8Array]> {
    yield [patchContentPath, kept];
    for (const record of attempt.box.list()) yield [record.path, await attempt.box.read(record)];
    yield* contentOfAttempts(attempt);
  }
}

/** The candidate as a commit in the person's repository, so that it travels with the run. */
async function anchorCandidate(
  {
    identity: { runId },
    services: { scratch },
    environment,
    patch,
  }: Pick<Attempt, 'identity' | 'services' | 'environment' | 'patch'>,
  nowMs: number,
): Promise<string> {
  await importObjects(scratch, environment.repository, patch);
  return createCommit(environment.repository, {
    tree: patch.candidateTree,
    parents: patch.baseCommit === undefined ? [] : [patch.baseCommit],
    message: `writ: candidate of run ${runId}\n`,
    author: scheduler,
    committer: scheduler,
    authoredAtMs: nowMs,
    committedAtMs: nowMs,
  });
}

/**
 * Returns the journal for resuming on another machine, with this runner's signature if the run has a key. Only
 * runners that the policy commit lists are trusted.
 */
async function travellingFiles({
  identity: { runId },
  services: { engine, sealing, travellingJournal },
}: Pick<Attempt, 'identity' | 'services'>): Promise<readonly (readonly [path: string, bytes: Uint8Array])[]> {
  const journal = [travelledJournal, travellingJournal()] as const;
  if (!sealing) return [journal];
  const { attestor } = engine;
  return [journal, [runnerSealPath, await attestor.signWaiting(runId, new Map([journal]), sealing)]];
}

/** Changed paths that an owner has to approve, as they are recorded. */
export function ownedIn({
  environment,
  patch,
}: Pick<Attempt, 'environment' | 'patch'>): readonly OwnedPaths[] {
  const owned = ownedPathsIn(environment.owners, patch.files);
  return owned.map((one) => ({ ...one, paths: one.paths.map(maskPath) }));
}

/** Distinct people who have to approve before a run that waits goes on; 0 where it waits for something else. */
export function neededApprovals(judged: EvaluatedRun): number {
  const { human, touchesGoverning, owners } = judged.input;
  return Math.max(
    human.needed,
    approversNeeded(human, touchesGoverning),
    owners === undefined ? 0 : 1,
    ...askedByChecks(judged),
  );
}

/** Numbers of approvals that waiting checks need, which may exceed the spec's number. */
function askedByChecks({ stages }: EvaluatedRun): readonly number[] {
  const findings = stages.flatMap(({ checks }) => checks.flatMap((check) => check.findings));
  return findings.flatMap(({ detail }) =>
    detail?.waiting === true && typeof detail.needed === 'number' ? [detail.needed] : [],
  );
}

/** Returns the policy commit if it is not the candidate's base commit. */
function policyElsewhere({ base, policy }: Attempt['environment']): readonly string[] {
  return policy.commit === undefined || policy.commit === base.commit ? [] : [policy.commit];
}

const scheduler = { name: 'writ', email: 'scheduler@writ.invalid' };

/**
 * Has the approvers of this process sign the waiting candidate, and stores each approval like any other. Whether it
 * counts is decided later.
 */
export async function approveInProcess(attempt: Attempt): Promise<void> {
  const {
    identity: { runId },
    services: { settings, store },
  } = attempt;
  const shown = lastShown(attempt);
  if (!shown) return;
  for (const approver of settings.approvers ?? []) {
    const document = await approver.approve(shown.subject, settings.clock.now());
    await storeApproval(store, runId, document, `writ: approve ${runId} in process`);
  }
}

/** Verified approvals of the exact candidate that a run waits with. */
export interface ReceivedApprovals {
  readonly verdicts: readonly ApprovalVerdict[];
  /** Those of people who may sign, as they were stored. */
  readonly stored: readonly StoredApproval[];
  /** Epoch milliseconds, by source. */
  readonly receivedAtMs: ReadonlyMap<string, number>;
}

/** These statuses do not identify the signer: anyone with write access to the ref could have created such a record. */
const ofNobody: readonly ApprovalVerdict['status'][] = [
  'malformed',
  'wrong-namespace',
  'bad-signature',
  'untrusted-signer',
];

/**
 * Verifies what people signed against the allowed signers at the policy commit. The signing time is when this
 * machine's Scheduler first saw the signature, because a time inside the record is only a claim. `differences` lists
 * how the verdict differs from verdicts that were shown before.
 */
export async function receiveApprovals(
  attempt: Attempt,
  subject: ApprovalSubject,
  stored: readonly StoredApproval[],
  differences: ReadonlyMap<string, readonly string[]>,
): Promise<ReceivedApprovals> {
  const {
    services: { engine, sealing, steps, settings },
    environment,
  } = attempt;
  // A carried-over approval needs a signature; without a key, no approval carries over.
  const carries = environment.config.approvals.carry === 'equivalent' && sealing !== undefined;
  const { approvals: reader } = engine;
  const authors = await authorsOf(attempt);
  const received = await Promise.all(
    stored.map(async ({ source, bytes }) => ({
      source,
      bytes,
      receivedAtMs: await steps.once(`local/approval/${sha256Hex(bytes)}`, () => settings.clock.now()),
    })),
  );
  const verdicts = await reader.read(received, {
    subject,
    allowedSigners: await allowedSignersOf(attempt),
    authors,
    receivedAtMs: settings.clock.now(),
    inProcess: environment.config.approvals.inProcess,
    differences,
    ...(carries ? { carryFault: carryFaultIn(environment.repository, subject) } : {}),
  });
  return {
    verdicts,
    receivedAtMs: new Map(received.map((one) => [one.source, one.receivedAtMs])),
    stored: stored.filter((_, n) => !ofNobody.includes(verdicts[n]?.status ?? 'malformed')),
  };
}

/**
 * Returns the authors of the change, who may not approve it. These are the people in the spec, the people recorded
 * when the change arrived, its submitter, and the people in the commits of a range. Resuming a run does not make a
 * person an author. A record from another machine can only add names.
 */
export async function authorsOf(
  attempt: Pick<Attempt, 'identity' | 'environment'>,
): Promise<readonly string[]> {
  const {
    identity: { contract, tip, authorship },
    environment,
  } = attempt;
  const { repository, base } = environment;
  const { metadata, objmodel } = contract.effective;
  const range = tip === undefined ? undefined : await listPeopleHere(repository, base.commit, tip);
  const people = [
    ...peopleOf(authorship),
    ...[...(range?.authors ?? []), ...(range?.committers ?? [])].map(formatIdentity),
  ];
  // Every change needs an author: if the record names none, the current git user counts as the author.
  const runner = people.length === 0 ? await identityOf(repository) : undefined;
  const named = [
    metadata.createdBy.id,
    metadata.createdBy.displayName ?? '',
    objmodel.actorMapping.coderActorId,
    ...people,
    ...(runner ? [formatIdentity(runner)] : []),
  ];
  return [...new Set(named.filter((name) => name !== ''))];
}

/** Earlier candidates that are compared, and kept reachable: each costs a diff. */
const maxCandidates = 20;

/**
 * Returns why an approval of an earlier candidate does not carry over to `subject` (`docs/reference/approval.md`,
 * Approvals over a moved target). Each candidate is compared once.
 */
export function carryFaultIn(
  repository: Repository,
  subject: ApprovalSubject,
): NonNullable<ApprovalGround['carryFault']> {
  const reader = carryReader(repository);
  const known = new Map<string, Promise<string | undefined>>();
  const compare = async (earlier: ApprovalSubject): Promise<string | undefined> => {
    const fault = await findCarryFault(reader, earlier, subject, subject.patchDigest);
    return fault && `expected ${fault.expected}, found ${fault.found}`;
  };
  return async (earlier) => {
    const key = `${earlier.baseCommit} ${earlier.candidateTree}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    if (known.size >= maxCandidates) return `expected at most ${maxCandidates} candidates, found more`;
    const found = compare(earlier);
    known.set(key, found);
    return found;
  };
}

/**
 * The earlier candidates that approvals were signed for, as commits of the user's repository, so that they travel with
 * the run: approvers see what changed since then, and a verifier compares those that carried over with the sealed one.
 */
export async function anchorEarlier(
  {
    environment: { repository },
    identity: { runId, startedAtMs },
  }: Pick<Attempt, 'environment' | 'identity'>,
  approvals: readonly ApprovalVerdict[],
): Promise<readonly string[]> {
  const found = new Map(
    approvals.flatMap(({ earlier }) =>
      earlier ? [[`${earlier.baseCommit} ${earlier.candidateTree}`, earlier] as const] : [],
    ),
  );
  const anchors: string[] = [];
  for (const { baseCommit, candidateTree } of [...found.values()].slice(0, maxCandidates)) {
    const [tree, base] = await describeObjects(repository, [candidateTree, baseCommit]);
    if (tree?.type !== 'tree' || base?.type !== 'commit') continue;
    anchors.push(
      await createCommit(repository, {
        tree: candidateTree,
        parents: [baseCommit],
        message: `writ: approved candidate of run ${runId}\n`,
        author: scheduler,
        committer: scheduler,
        authoredAtMs: startedAtMs,
        committedAtMs: startedAtMs,
      }),
    );
  }
  return anchors;
}
