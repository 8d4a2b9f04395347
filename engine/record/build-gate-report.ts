/* Builds the gate report of an attempt. */
import { toRfc3339 } from '../../core/base/clock.ts';
import { namePaths } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { type ArtifactRecord, type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import { maskPath } from '../../readers/sensitive/redact.ts';
import type { GateReport } from '../../store/record/gate-report.ts';
import type { IncludedChanges } from '../../workspace/git/include-local.ts';
import { waiverNotices } from '../config/waivers.ts';
import { type LostCall, lostCallNotices } from '../state/calls.ts';
import {
  checksWithoutUse,
  checkUnknownCode,
  factorsWithoutChecks,
  factorWithoutChecks,
  logUnusedCode,
  logWithoutUse,
  type ObservedChecks,
} from '../state/checks.ts';
import { hooksNotice } from '../state/commit-hooks.ts';
import type { Attempt, OpenRun, RunIdentity, RunServices } from '../state/open-run.ts';
import { foreignPolicyCode, foreignPolicyWords } from '../state/policies.ts';

/** The parts of a run that a report describes. */
type ReportedRun = Omit<RunIdentity, 'scope' | 'isWorked' | 'wording'> &
  Pick<RunServices, 'store'> & {
    readonly environment: Pick<
      OpenRun['environment'],
      'target' | 'base' | 'policy' | 'lag' | 'foreign' | 'config' | 'waivers' | 'passedOver' | 'unrunHooks'
    >;
  };

/** The report that `show` prints before any rule or check ran. */
export function openingReport(run: ReportedRun, patch: PatchSet | undefined): GateReport {
  return report(run, patch, { findings: [], stages: [], artifacts: [], lost: [], skipped: [] });
}

/** Builds the report of an attempt. It reads no clock: every time in it was recorded when the event happened. */
export function gateReport(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
): GateReport {
  const { identity, services, environment, patch, box } = attempt;
  const lost = services.calls.lost().filter((call) => isWhole(attempt) || call.attempt === attempt.name);
  const { skipped = [], observed } = attempt;
  const judged = { findings, stages, artifacts: box.list(), lost, skipped, observed };
  const { localNow: local } = attempt;
  return report({ ...identity, store: services.store, environment, local }, patch, judged);
}

/** A candidate speaks for the run; an attempt for itself, whatever came later. */
function isWhole({ name }: Attempt): boolean {
  return name.startsWith('candidate-');
}

/** Notice for a change that starts behind the policy commit, and whether its merge was checked instead. */
function lagNotice({ lag, base, policy, target }: ReportedRun['environment']): readonly string[] {
  if (lag === undefined) return [];
  const { from, commits } = lag;
  const behind = `the change starts at ${from.slice(0, 12)}, ${commits} ${commits === 1 ? 'commit' : 'commits'} behind \`${policy.ref ?? ''}\``;
  return [
    base.commit === from
      ? `${behind}, whose policy applies; it lands on \`${target.ref}\` without them`
      : `${behind}: writ evaluates and lands its merge onto ${base.commit?.slice(0, 12) ?? ''}`,
  ];
}

/** Notice that results recorded before do not count: of another target, or of a record that is not proven here. */
function againNotice({ anewAtMs, environment: { lag } }: ReportedRun): readonly string[] {
  if (anewAtMs === undefined) return [];
  const why =
    lag === undefined
      ? ': what the run had recorded before, its spec included, could not be authenticated on this machine'
      : ', because the target moved or the record is of another machine';
  return [`evaluated again from ${toRfc3339(anewAtMs)} on${why}`];
}

const maxNamed = 20;

/** Notice of the uncommitted working-tree changes that are part of the change. */
function includedNotice({ paths, digest }: IncludedChanges): string {
  const named = namePaths(paths.map(maskPath), maxNamed);
  return `the change includes local changes of the working tree at ${named} (SHA-256 ${digest})`;
}

/** Notice that the spec chose which branch's policy applies. */
function foreignNotice({ foreign, policy, target }: ReportedRun['environment']): readonly string[] {
  return foreign ? [`${foreignPolicyCode}: ${foreignPolicyWords(foreign, policy, target)}`] : [];
}

/** Notices of checks and steps of `prepare` that were not traced beforehand, with the reasons. */
function observationNotices(observed: ObservedChecks | undefined): readonly string[] {
  const steps = Object.entries(observed?.unseenSteps ?? {}).map(
    ([command, reason]) => `\`[[workspace.prepare]]\` \`${command}\` was not observed: ${reason}`,
  );
  const checks = Object.entries(observed?.checks ?? {}).flatMap(([id, { by, reason = '' }]) => {
    if (by === 'trace') return [];
    return by === 'filling'
      ? [`check \`${id}\` was observed by filling, not by a trace: ${reason}`]
      : [`check \`${id}\` was not observed: ${reason}`];
  });
  return [...checks, ...steps];
}

/** Findings of the patch rules, of stages and of their checks. */
export function everyFinding(
  findings: readonly Finding[],
  stages: readonly StageRecord[],
): readonly Finding[] {
  const ofStages = stages.flatMap((stage) => [
    ...stage.findings,
    ...stage.checks.flatMap((one) => one.findings),
  ]);
  return [...findings, ...ofStages];
}

/** What was found of a patch, and under which circumstances. */
interface Judged {
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
  readonly artifacts: readonly ArtifactRecord[];
  readonly lost: readonly LostCall[];
  readonly skipped: readonly string[];
  readonly observed?: ObservedChecks | undefined;
}

function report(
  run: ReportedRun,
  patch: PatchSet | undefined,
  { findings, stages, artifacts, lost, skipped, observed }: Judged,
): GateReport {
  const { contract, runId, threadId, tip, authorship, store, environment } = run;
  const spec = contract.effective;
  const included = run.local?.included;
  const notices = [
    ...foreignNotice(environment),
    ...lagNotice(environment),
    ...(included === undefined || included.paths.length === 0 ? [] : [includedNotice(included)]),
    ...(environment.passedOver ?? []).map((words) => `${words}; checks ran under \`${run.sandboxName}\``),
    ...hooksNotice(environment.unrunHooks),
    ...skipped,
    ...observationNotices(observed),
    ...waiverNotices(everyFinding(findings, stages), environment.waivers),
    ...againNotice(run),
    ...lostCallNotices(lost),
    ...factorsWithoutChecks(spec, environment.config).map(factorWithoutChecks),
    ...checksWithoutUse(spec, environment.config).map((words) => `${checkUnknownCode}: ${words}`),
    ...logWithoutUse(spec).map((words) => `${logUnusedCode}: ${words}`),
    ...(run.lacking === undefined ? [] : run.lacking),
  ];
  return {
    schema: 'urn:writ:gate-report:v1',
    runId,
    threadId,
    startedAt: toRfc3339(run.startedAtMs),
    spec: {
      id: spec.metadata.id,
      digest: contract.digest,
      summary: spec.intent.summary,
      changeType: spec.intent.changeType,
      riskLevel: spec.risk.level,
      objectives: spec.intent.objectives,
    },
    ...(environment.base.commit === undefined ? {} : { baseCommit: environment.base.commit }),
    ...(environment.policy.commit === undefined ? {} : { policyCommit: environment.policy.commit }),
    ...(environment.policy.ref === undefined ? {} : { policyRef: environment.policy.ref }),
    ...(environment.foreign === undefined ? {} : { defaultRef: environment.foreign.defaultRef }),
    targetRef: environment.target.ref,
    contentRef: store.refs.content(runId),
    sandbox: run.sandboxName,
    authorship: { ...authorship, ...(tip === undefined ? {} : { tip }) },
    ...(patch === undefined
      ? {}
      : {
          patch: {
            digest: patch.digest,
            candidateTree: patch.candidateTree,
            files: patch.files.map(({ path, changeType, linesAdded, linesDeleted }) => ({
              path: maskPath(path),
              changeType,
              linesAdded,
              linesDeleted,
            })),
          },
        }),
    ...(included === undefined
      ? {}
      : { localChanges: { paths: included.paths.map(maskPath), digest: included.digest } }),
    stages,
    ...(notices.length === 0 ? {} : { notices }),
    findings,
    artifacts,
  };
}

/** The final report of a run. A stage that never started is listed as `skipped` with zero checks run. */
export function finalReport(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
): GateReport {
  const plan = attempt.identity.contract.effective.acceptance.verificationPlan;
  const all = stageNames.map(
    (stage): StageRecord =>
      stages.find((record) => record.stage === stage) ?? {
        stage,
        status: 'skipped',
        expected: plan[`${stage}Checks`].length,
        ran: 0,
        checks: [],
        findings: [],
      },
  );
  return gateReport(attempt, findings, all);
}
