import { mustPass, type StageName, stageNames } from '../../../core/contract/stage.ts';
import type { DecidedFinding, DecidedStage, DecisionInput } from '../record/decision-input.ts';
import { approversNeeded } from './approvers-needed.ts';

/**
 * One thing that speaks against the change. `final`: no further attempt can change it. `again`: a further attempt may.
 * `people`: it goes away when people have spoken.
 */
export interface Objection {
  readonly reason: string;
  readonly weight: 'final' | 'again' | 'people';
}

/** Everything that speaks against the change, most decisive first, before it is asked what can still be done. Pure. */
export function objectionsTo(input: DecisionInput): readonly Objection[] {
  const before = [
    ...wallClockObjections(input),
    ...rejectionObjections(input),
    ...workObjections(input),
    ...findingObjections('patch', input.patchFindings, 'again'),
  ];
  const refusals = findingObjections('guard', input.refusals, 'final');
  const found = [...before, ...stageObjections(input, before.length + refusals.length > 0), ...refusals];
  if (found.some(({ weight }) => weight !== 'people')) return found;
  return [
    ...nothingPassedObjections(input),
    ...citationObjections(input),
    ...found,
    ...approvalObjections(input),
  ];
}

function wallClockObjections({ wallClock }: DecisionInput): Objection[] {
  const reason = `wall clock of ${wallClock.limitSeconds} s exceeded`;
  return wallClock.exceeded ? [{ reason, weight: 'final' }] : [];
}

/** A rejection ends the run, whether or not approval was asked for (resolutions, Approvals). */
function rejectionObjections({ human }: DecisionInput): Objection[] {
  const people = human.rejected === 1 ? '1 person' : `${human.rejected} people`;
  return human.rejected > 0 ? [{ reason: `rejected by ${people}`, weight: 'final' }] : [];
}

const maxNamedConflicts = 5;

function workObjections({ worker, workerReason, conflicts }: DecisionInput): Objection[] {
  const objections: Objection[] = [];
  const why = workerReason === undefined ? '' : `: ${workerReason}`;
  if (worker === 'nothing') objections.push({ reason: `the worker answered nothing${why}`, weight: 'again' });
  if (worker === 'failed')
    objections.push({ reason: `the worker answered no usable patch${why}`, weight: 'again' });
  if (conflicts.length > 0) {
    const named = conflicts.slice(0, maxNamedConflicts).map((path) => `\`${path}\``);
    const rest = conflicts.length > named.length ? ` and ${conflicts.length - named.length} more` : '';
    objections.push({ reason: `merge conflict in ${named.join(', ')}${rest}`, weight: 'again' });
  }
  return objections;
}

function findingObjections(
  where: string,
  findings: readonly DecidedFinding[],
  weight: Objection['weight'],
): Objection[] {
  const rules = new Set(
    findings.filter((finding) => finding.severity === 'error').map((finding) => finding.rule),
  );
  return [...rules].map((rule) => ({ reason: `${where} refused by \`${rule}\``, weight }));
}

/** That a stage did not start is a reason where nothing says why; else it only repeats the cause. */
function stageObjections(input: DecisionInput, wasStopped: boolean): Objection[] {
  const objections: Objection[] = [];
  let stopped = wasStopped;
  for (const name of stageNames) {
    const found = input.stages.filter((stage) => stage.stage === name);
    const [stage] = found;
    if (!stage || found.length > 1) {
      const reason = `stage \`${name}\` has ${found.length} records, expected 1`;
      objections.push({ reason, weight: 'final' });
      stopped = true;
    } else if (stage.status === 'not-started') {
      if (!stopped && !isForLater(input, name))
        objections.push({ reason: `stage \`${name}\` did not start`, weight: 'final' });
    } else {
      const against = objectionsToStage(stage, input);
      objections.push(...against);
      stopped ||= against.length > 0;
    }
  }
  return objections;
}

/** An attempt is judged by the fast stage; the others judge what it is merged into. */
function isForLater({ subject }: DecisionInput, name: StageName): boolean {
  return subject === 'attempt' && name !== 'fast';
}

/**
 * A stage that says anything but `failed` while something in it failed contradicts itself: no further attempt mends
 * that.
 */
function objectionsToStage(stage: DecidedStage, { policy }: DecisionInput): Objection[] {
  const { stage: name, status, checks } = stage;
  const endsHere = name === 'security' && policy.abandonOnSecurityGateFail;
  const failing = status === 'failed' && !endsHere ? 'again' : 'final';
  const objections = findingObjections(`stage \`${name}\``, stage.findings, failing);
  for (const check of checks) {
    const isTolerated = check.tolerated === true && check.status === 'failed' && name === 'integration';
    if (!mustPass(check) || check.status === 'passed' || isTolerated) continue;
    const waits = check.status === 'waiting' && status === 'waiting';
    objections.push({ reason: `check \`${check.id}\` ${check.status}`, weight: waits ? 'people' : failing });
  }
  if (stage.ran !== stage.expected || checks.length !== stage.ran) {
    const reason = `stage \`${name}\` ran ${stage.ran} of ${stage.expected} checks`;
    objections.push({ reason, weight: failing });
  }
  const settled = stage.expected === 0 ? ['skipped', 'passed'] : ['passed'];
  if (objections.length === 0 && !settled.includes(status))
    objections.push({ reason: `stage \`${name}\` ${status}`, weight: failing });
  return objections;
}

/** People approve what is merged. */
function approvalObjections({ subject, human, touchesGoverning }: DecisionInput): Objection[] {
  const needed = approversNeeded(human, touchesGoverning);
  if (subject !== 'candidate' || human.approved >= needed) return [];
  const what = touchesGoverning ? 'what governs writ is changed: ' : '';
  return [{ reason: `${what}approved by ${human.approved} of ${needed} people`, weight: 'people' }];
}

/**
 * The final decision cites the evidence of checks that passed, each a source of the repository's tier (resolutions,
 * Evidence); one that waits for people may still pass.
 */
function citationObjections({ subject, stages, citations }: DecisionInput): Objection[] {
  if (subject === 'attempt' || citations === undefined) return [];
  const cited = citations.trusted ? settledWell(stages) : 0;
  if (cited >= citations.needed) return [];
  const untrusted = citations.trusted ? '' : ' (the tier `repo` is not trusted)';
  const reason = `passed checks to cite: ${cited}${untrusted}, expected at least ${citations.needed}`;
  return [{ reason, weight: 'final' }];
}

/**
 * A run in which no check passed cannot commit (resolutions, Stages); the part of one Task need not have checks of its
 * own. Before citations were asked for, a check that ran was enough.
 */
function nothingPassedObjections({ subject, stages, citations }: DecisionInput): Objection[] {
  const ran = stages.some((stage) => stage.ran > 0);
  const isEnough = citations === undefined ? ran : settledWell(stages) > 0;
  if (subject === 'attempt' || isEnough) return [];
  return [{ reason: ran ? 'no check passed' : 'no check ran', weight: 'final' }];
}

/** Checks that passed, or may still once people have spoken. */
function settledWell(stages: readonly DecidedStage[]): number {
  return stages
    .flatMap(({ checks }) => checks)
    .filter(({ status }) => status === 'passed' || status === 'waiting').length;
}
