/* Runs the checks, rules and plugins of one stage. */
import { isWritError, messageOf } from '../../core/base/errors.ts';
import type {
  CheckFacts,
  StageCheck,
  StageCheckInput,
  StandingFinding,
} from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import {
  type CarriedPath,
  type CheckRecord,
  mustPass,
  type StageName,
  type StageRecord,
} from '../../core/interfaces/stage.ts';
import { storable } from '../../core/kernel/answer.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { isApproverCheck } from '../../spec/facts.ts';
import { limitTails } from '../record/failure-text.ts';
import type { Production } from '../state/evidence.ts';
import { inParallel, parallelLimit } from '../state/machine.ts';
import { type Attempt, policyOf, withSteps } from '../state/open-run.ts';
import { recordAnswer, recordOutcome } from '../state/outcome.ts';
import { withValues } from '../state/run-secrets.ts';
import { impliedArtifacts, produceArtifacts } from './artifacts.ts';
import { evaluateRules, ruleQuestion } from './evaluate-rules.ts';
import { evaluateExecutedStage } from './executed-rules.ts';
import type { OpeningWorkspace } from './open-workspace.ts';
import { compareWithBase } from './regression.ts';
import type { Elsewhere } from './reuse-verdicts.ts';
import { runCheck, toCheckRecord } from './run-check.ts';

/**
 * Runs one stage. Commands and suites run concurrently, or sequentially if `carry` is set. Then policy checks
 * evaluate their results, and then every rule of the stage runs. Records keep the spec's order. A stage that waits
 * for people runs again in the next process.
 */
export async function runStage(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  stage: StageName,
  before: readonly StageRecord[],
  elsewhere?: Elsewhere,
): Promise<StageRecord> {
  const steps = attempt.services.steps.under(stage);
  const record = await recordAnswer(
    withSteps(attempt, steps),
    'settled',
    () => settleStage(withSteps(attempt, steps), workspace, stage, before, elsewhere),
    async ({ stage: ran, findings }) => {
      const settled = settle({ ...ran, findings: [...findings, ...ran.findings] });
      await attempt.services.engine.hooks.stage.settled.call({
        runId: attempt.identity.runId,
        stage: settled,
      });
      return settled;
    },
    { isFinal: ({ status }) => status !== 'waiting' },
  );
  for (const check of record.checks) attempt.box.keep(check.artifacts);
  for (const made of ['made-by-commands', 'made-by-policies'])
    takeUp(attempt, steps.ended(made)?.answer as Production | undefined);
  return record;
}

/** A stage with what its checks and plugins recorded, and what its rules found, which is not recorded yet. */
interface SettledStage {
  readonly stage: StageRecord;
  readonly findings: readonly Finding[];
}

async function settleStage(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  stage: StageName,
  before: readonly StageRecord[],
  elsewhere: Elsewhere | undefined,
): Promise<SettledStage> {
  const {
    identity: { contract, runId },
    services: { engine, steps },
    patch,
    box,
  } = attempt;
  const spec = contract.effective;
  const listed = spec.acceptance.verificationPlan[`${stage}Checks`].map((check, index) => ({ check, index }));
  const implied = impliedArtifacts(spec, stage);
  const settled: (CheckRecord | undefined)[] = listed.map(() => undefined);
  const { config } = attempt.environment;
  // What a check finds must not depend on which of two was quicker.
  const limit = config.workspace.carry.length > 0 ? 1 : parallelLimit(spec, config.checks.maxParallel);
  let received = before.reduce((found, { checks }) => handedOn(inRunOrder(checks), found), nothing);
  let receivedAtPolicy = before.reduce(
    (found, { checks }) => handedOnAtPolicy(inRunOrder(checks), found),
    nothing,
  );
  // Approvals come before any check that may have side effects.
  const isHeld = stage === 'release' && spec.security.secrets.policy === 'allow-scoped';
  const first = isHeld ? listed.filter(({ check }) => isApproverCheck(check)) : [];
  const askAll = async (tasks: typeof listed): Promise<void> => {
    const earlier = settled.filter((record) => record !== undefined);
    await inParallel(tasks, limit, async (task) => {
      attempt.services.settings.signal.throwIfAborted();
      const ended = steps.ended(`check/${task.check.id}`);
      if (!ended && attempt.services.wallClockExceeded()) return;
      const record = await recordAnswer(
        attempt,
        `check/${task.check.id}`,
        () => runCheck(attempt, workspace, { stage, earlier, implied, received, receivedAtPolicy, ...task }),
        toCheckRecord,
        { isFinal: ({ status }) => status !== 'waiting' },
      );
      box.keep(record.artifacts);
      received = handedOn([record], received);
      receivedAtPolicy = handedOnAtPolicy([record], receivedAtPolicy);
      settled[task.index] = record;
    });
  };
  const runAll = async (tasks: typeof listed, made: string): Promise<StageRecord> => {
    await askAll(tasks);
    const ran = settled.filter((record) => record !== undefined);
    const record: StageRecord = {
      stage,
      status: 'passed',
      expected: listed.length,
      ran: ran.length,
      checks: limitTails(ran),
      findings: [],
    };
    const isFinal = !ran.some(({ status }) => status === 'waiting');
    const production = await recordOutcome(attempt, made, () => produceArtifacts(attempt, record, before), {
      isFinal: () => isFinal,
    });
    takeUp(attempt, production);
    return record;
  };
  await askAll(first);
  await runAll(
    listed.filter(({ check }) => check.kind !== 'policy'),
    'made-by-commands',
  );
  const unjudged = await runAll(
    listed.filter((task) => task.check.kind === 'policy' && !first.includes(task)),
    'made-by-policies',
  );
  const compared = await compareWithBase(attempt, workspace, unjudged);
  const findings = [
    ...(await judgeStage(attempt, compared)),
    ...(await evaluateExecutedStage(attempt, compared)),
    ...((await elsewhere?.findings()) ?? []),
  ];
  const judged: StageRecord = { ...compared, findings };
  const added = await engine.hooks.stage.judge.call({ runId, spec, patch, stage: judged });
  const found = [...findings, ...added];
  const further = await runStageChecks(attempt, { ...judged, findings: found }, before);
  return { stage: { ...judged, ...further }, findings: found };
}

const nothing: readonly CarriedPath[] = [];

/** Returns the carried paths after these checks; a check that ran no command does not change them. */
function handedOn(checks: readonly CheckRecord[], before: readonly CarriedPath[]): readonly CarriedPath[] {
  return checks.findLast(({ carried }) => carried !== undefined)?.carried?.handedOn ?? before;
}

/** The same for second runs with the policy commit's verification inputs: each continues from the previous one. */
function handedOnAtPolicy(
  checks: readonly CheckRecord[],
  before: readonly CarriedPath[],
): readonly CarriedPath[] {
  const last = checks.findLast(({ carried }) => carried !== undefined);
  return (last?.atPolicy?.carried ?? last?.carried)?.handedOn ?? before;
}

function inRunOrder(checks: readonly CheckRecord[]): readonly CheckRecord[] {
  const isPolicy = ({ kind }: CheckRecord): boolean => kind === 'policy';
  return [...checks.filter((check) => !isPolicy(check)), ...checks.filter(isPolicy)];
}

function takeUp({ box }: Pick<Attempt, 'box'>, production: Production | undefined): void {
  if (production === undefined) return;
  box.keep(production.records);
  box.note(production);
}

async function judgeStage(attempt: Attempt, stage: StageRecord): Promise<readonly Finding[]> {
  const {
    identity: { contract, scope },
    environment,
    patch,
    box,
  } = attempt;
  const spec = contract.effective;
  const question = ruleQuestion(attempt, {
    spec,
    patch,
    scope,
    stage: { name: stage.stage, checks: stage.checks },
    artifacts: box.list(),
  });
  return evaluateRules(question, environment.rules.at(stage.stage, spec));
}

/**
 * A stage is `skipped` only if the spec lists no checks and no rule reported an error. A stage with listed checks
 * that ran none has failed.
 */
function settle(stage: StageRecord): StageRecord {
  const required = stage.checks.filter(mustPass);
  const failed =
    stage.findings.some((finding) => finding.severity === 'error') ||
    stage.ran !== stage.expected ||
    required.some((check) => check.status === 'failed' && !check.tolerated);
  if (failed) return { ...stage, status: 'failed' };
  if (required.some((check) => check.status === 'waiting')) return { ...stage, status: 'waiting' };
  return { ...stage, status: stage.expected === 0 ? 'skipped' : 'passed' };
}

/** Maximum number of calls if a plugin process breaks, because a machine fault is not the change's fault. */
const maxTries = 3;
const waitMs = 1000;
const asksAgain: readonly unknown[] = ['threw', 'crashed', 'sandbox-failed'];

/**
 * Runs the checks of third-party plugins at a stage, in the order of the configuration, and returns the stage's
 * findings plus theirs. A check without an answer is an `error` that names it, its plugin, the stage and the reason.
 * Each check runs once per candidate and stage; its recorded answer is reused when the run resumes. `asked` names
 * each check.
 */
export async function runStageChecks(
  attempt: Attempt,
  stage: Pick<StageRecord, 'stage' | 'checks' | 'findings'>,
  before: readonly StageRecord[],
): Promise<Pick<StageRecord, 'asked' | 'findings'>> {
  const { plugins, config } = attempt.environment;
  const ranOn = config.workers === undefined ? {} : { ranOn: { here: 'it is code of a third-party plugin' } };
  const asked = [...plugins.stageChecks.values()].filter(({ stages }) => stages.includes(stage.stage));
  if (asked.length === 0) return { findings: [] };
  const policy = withValues(policyOf(attempt), await plugins.secrets());
  let input: StageCheckInput | undefined;
  const standing = (): StageCheckInput => {
    input ??= redactTexts(stageCheckInput(attempt, stage, before), policy);
    return input;
  };
  let diff: { readonly text: string | undefined } | undefined;
  const withDiff = (): StageCheckInput | undefined => {
    diff ??= { text: redactTexts(diffText(attempt.patch), policy) };
    return diff.text === undefined
      ? undefined
      : { ...standing(), patch: { ...standing().patch, diff: diff.text } };
  };
  const find = async (one: StageCheck): Promise<readonly Finding[]> => {
    const given = one.readsDiff ? withDiff() : standing();
    return given === undefined
      ? [noAnswer(one, stage.stage, 'input-too-large', `a diff of more than ${maxDiffBytes} bytes`, 0)]
      : await ask(attempt, one, given);
  };
  const answers = await Promise.all(
    asked.map((one) =>
      recordOutcome(attempt, `stage-check/${one.name}`, () => find(one), { policyFor: () => policy }),
    ),
  );
  return {
    findings: answers.flat(),
    asked: asked.map(({ name, plugin }, at) => {
      const isRefused = answers[at]?.some(({ severity }) => severity === 'error') ?? true;
      return { name, plugin, status: isRefused ? 'failed' : 'passed', ...ranOn };
    }),
  };
}

async function ask(
  { services: { settings, signal } }: Attempt,
  check: StageCheck,
  input: StageCheckInput,
): Promise<readonly Finding[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await check.judge(input, signal);
    } catch (fault) {
      signal.throwIfAborted();
      const reason = isWritError(fault) ? (fault.detail.reason ?? fault.code) : 'failed';
      if (tries < maxTries && asksAgain.includes(reason))
        await settings.clock.sleep(waitMs * 2 ** (tries - 1), signal);
      else return [noAnswer(check, input.stage, String(reason), messageOf(fault), tries)];
    }
  }
}

function noAnswer(
  { name, plugin }: StageCheck,
  stage: string,
  reason: string,
  found: string,
  tries: number,
): Finding {
  const told = found.replace(`plugin \`${plugin}\` gave no answer (${reason}): `, '');
  const said = `stage check \`${name}\` of plugin \`${plugin}\` gave no answer at stage \`${stage}\` (${reason})`;
  return {
    rule: name,
    severity: 'error',
    message: storable(`${said}: ${told}`.slice(0, 4000)),
    detail: { code: 'PLUGIN_PROCESS_FAULT', plugin, stage, reason, tries },
  };
}

/** Limits of reported findings, and of characters per message. */
const maxFindings = 2000;
const maxMessage = 500;
/** Octets of the diff. */
const maxDiffBytes = 8 * 1024 * 1024;

/** Builds the input of a stage check, without the diff: bounded data about the stage and the run before it. Pure. */
function stageCheckInput(
  { identity: { contract, runId }, patch, box, patchFindings = [] }: StandingAttempt,
  stage: Pick<StageRecord, 'stage' | 'checks' | 'findings'>,
  before: readonly Pick<StageRecord, 'stage' | 'checks' | 'findings'>[],
): StageCheckInput {
  const { digest, baseCommit, baseTree, candidateTree, files } = patch;
  const stages = [...before, stage];
  const found = [
    ...patchFindings.map((one) => toStanding(one, {})),
    ...stages.flatMap((one) => [
      ...one.checks.flatMap((check) =>
        check.findings.map((finding) => toStanding(finding, { stage: one.stage, check: check.id })),
      ),
      ...one.findings.map((finding) => toStanding(finding, { stage: one.stage })),
    ]),
  ];
  const isError = ({ severity }: StandingFinding): boolean => severity === 'error';
  const sorted = [...found.filter(isError), ...found.filter((one) => !isError(one))];
  return {
    runId,
    stage: stage.stage,
    spec: contract.effective,
    patch: {
      digest,
      ...(baseCommit === undefined ? {} : { baseCommit }),
      baseTree,
      candidateTree,
      files: files.map(({ start: _start, end: _end, ...file }) => file),
    },
    checks: stages.flatMap(({ checks }) => checks.map(toFacts)),
    findings: sorted.slice(0, maxFindings),
    omittedFindings: Math.max(0, sorted.length - maxFindings),
    artifacts: box.list().map(({ name, stage, checkId, sha256, sizeBytes, contentType }) => ({
      name,
      stage,
      ...(checkId === undefined ? {} : { checkId }),
      sha256,
      sizeBytes,
      contentType,
    })),
  };
}

/** Returns the diff as text; `undefined` if it exceeds the size that a check receives. */
function diffText({ diff }: Attempt['patch']): string | undefined {
  if (diff.length > maxDiffBytes) return undefined;
  return Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength).toString('utf8');
}

type StandingAttempt = Pick<Attempt, 'patch' | 'patchFindings'> & {
  readonly identity: Pick<Attempt['identity'], 'contract' | 'runId'>;
  readonly box: Pick<Attempt['box'], 'list'>;
};

function toStanding(
  { detail: _detail, message, ...finding }: Finding,
  place: Pick<StandingFinding, 'stage' | 'check'>,
): StandingFinding {
  return { ...finding, message: message.slice(0, maxMessage), ...place };
}

function toFacts({ tests, ...check }: CheckRecord): CheckFacts {
  const { id, kind, stage, status, required, fromPolicy, tolerated } = check;
  const { command, expectedExitCode, exitCode, timedOut } = check;
  return {
    id,
    kind,
    stage,
    status,
    required,
    ...(fromPolicy ? { fromPolicy } : {}),
    ...(tolerated ? { tolerated } : {}),
    command,
    expectedExitCode,
    ...(exitCode === undefined ? {} : { exitCode }),
    timedOut,
    ...(tests ? { tests: { passed: tests.passed, failed: tests.failed, skipped: tests.skipped } } : {}),
  };
}
