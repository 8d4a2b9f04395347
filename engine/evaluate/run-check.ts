/* Runs one check and records its outcome. */
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { CheckContext, CheckOutcome } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { RuleInput } from '../../core/interfaces/rule.ts';
import type { CheckNetwork, NetworkUse } from '../../core/interfaces/scanner.ts';
import type {
  ArtifactRecord,
  CarriedPath,
  CheckRecord,
  CheckTime,
  LaidRun,
  StageName,
} from '../../core/interfaces/stage.ts';
import { metricsOf } from '../../readers/reports/metrics.ts';
import { joinNetworks } from '../../workspace/egress/command-network.ts';
import { environmentFault } from '../state/machine.ts';
import type { Attempt } from '../state/open-run.ts';
import { printedTail } from '../state/outcome.ts';
import { collectArtifacts } from './artifacts.ts';
import { blameOrigin, CheckWatch, checkOrigin, inWorkspace } from './check-workspace.ts';
import { askRule, evaluatePolicy, isMandatory, ruleQuestion } from './evaluate-rules.ts';
import { evaluateExecuted } from './executed-rules.ts';
import { givenSecrets, secretsAwaited } from './find-dependencies.ts';
import { canBeOfMachine, environmentSign, lackSign, stopIfSameAtBase } from './machine-failure.ts';
import type { TracedCommand } from './observe/under-tracer.ts';
import { type OpeningWorkspace, WorkspaceLost, type WorkspaceSide } from './open-workspace.ts';
import { type CheckUses, runCommand } from './run-command.ts';
import {
  finishedCode,
  keepScan,
  refusedByPolicy,
  type ScannedTrees,
  scanContext,
  scannedTrees,
} from './run-scanner.ts';
import { type CheckByPolicy, evaluateByPolicy } from './second-run/run-by-policy.ts';

/** One check of a stage, and what is known when it starts. */
export interface CheckTask {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  /** Index in the spec's list of checks. */
  readonly index: number;
  /** What the checks before it did: for a policy check, all commands and suites of its stage. */
  readonly earlier: readonly CheckRecord[];
  /** Artifacts that its output counts as although it claims none. */
  readonly implied: readonly string[];
  /** Paths carried over from earlier checks. */
  readonly received: readonly CarriedPath[];
  /** Paths carried over from the second runs of earlier checks (`docs/reference/tests-kept.md`), if any ran. */
  readonly receivedAtPolicy?: readonly CarriedPath[];
  /** Whether writes outside the scope are reported; default false. */
  readonly tellsWrites?: boolean;
  /** Whether a later check may receive carried paths; default true. */
  readonly handsOn?: boolean;
  /** The run gives no verdict. */
  readonly traced?: TracedCommand;
  /** Set for a scanner with a report to evaluate. */
  readonly scanned?: ScannedTrees;
}

/** What a check came to, before the entrance of the record. */
type CheckFound = CheckRecord & {
  /** Findings of its own run; `findings` holds those of everything after it. */
  readonly ownFindings: readonly Finding[];
  /** The network of its own run. */
  readonly ownNetwork?: CheckNetwork;
};

/** The record of a check. Findings about its network follow those of its own run. */
export function toCheckRecord({ ownFindings, ownNetwork, ...record }: CheckFound): CheckRecord {
  const ofNetwork = networkFindings(ownNetwork?.uses ?? []);
  return { ...record, findings: [...ownFindings, ...ofNetwork, ...record.findings] };
}

/**
 * Runs one check to what is recorded of it. A broken check kind has failed its check; only faults of the run and of its
 * machine are thrown.
 */
export async function runCheck(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: CheckTask,
): Promise<CheckFound> {
  const { stage, check } = task;
  const { box, patch, services } = attempt;
  const scanned = await scannedTrees(attempt, workspace, check);
  const ran = await runCheckOf(attempt, scanned?.candidate.side ?? workspace, {
    ...task,
    tellsWrites: true,
    ...(scanned ? { scanned } : {}),
  });
  const scan = scanned && (await keepScan(attempt, scanned, { stage, checkId: check.id }, ran));
  const isComparable = patch.baseCommit !== undefined && !scanned;
  const sure = isComparable ? environmentSign(check, ran) : undefined;
  const isOfMachine = sure !== undefined && (await canBeOfMachine(sure, check, patch, services.scratch));
  const worked = attempt.identity.isWorked ? attempt.name : undefined;
  const { qualityGates } = attempt.identity.contract.effective.acceptance;
  // There the failure at the base is compared, and can be tolerated.
  const isTolerant = stage === 'integration' && qualityGates.maxAllowedRegression !== 'none';
  const sign = isOfMachine ? sure : isComparable && !isTolerant ? lackSign(check, ran, worked) : undefined;
  if (sign !== undefined)
    stopIfSameAtBase(
      check,
      sign,
      await runCheckOf(attempt, workspace.base, { ...task, received: [], handsOn: false }),
      workspace.skipped(),
    );
  const further: AskedFurther = scanned
    ? {
        outcome: { ...ran, findings: await askByPolicy(attempt, scanned, task, ran) },
        artifacts: scan?.artifacts ?? [],
      }
    : await askFurther(attempt, workspace, task, ran, (side, other) =>
        runCheckOf(attempt, side, { ...task, ...other }),
      );
  const asked = { ...ran, ...further.outcome };
  const metrics = stage === 'integration' ? metricsOf(asked.reports) : undefined;
  const { records: artifacts, findings: untaken } = await collectArtifacts(
    box,
    stage,
    check,
    asked,
    task.implied,
  );
  const origin = checkOrigin(check.id, attempt.identity.contract, attempt.environment.config);
  const blamed = (found: readonly Finding[]): readonly Finding[] =>
    found.map((one) => blameOrigin(one, origin));
  const ownFindings = blamed(ran.findings);
  const findings = blamed([...asked.findings, ...(metrics?.finding ? [metrics.finding] : []), ...untaken]);
  const { result } = asked;
  const failed = [...ownFindings, ...findings].some(({ severity }) => severity === 'error');
  const tail = failed ? printedTail(result) : undefined;
  return {
    id: check.id,
    kind: check.kind,
    stage,
    status: failed ? 'failed' : asked.waiting ? 'waiting' : 'passed',
    required: check.required,
    ...(isMandatory(attempt, check) ? { fromPolicy: true as const } : {}),
    command: check.command ?? '',
    expectedExitCode: scanned ? finishedCode(scanned, check, result) : check.expectedExitCode,
    ...(result?.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...(result?.signal === undefined ? {} : { signal: result.signal }),
    timedOut: result?.timedOut ?? false,
    ...asked.time,
    ...(asked.tests ? { tests: asked.tests } : {}),
    ...(asked.tools ? { tools: asked.tools } : {}),
    ...(metrics?.metrics ? { hasMetrics: true as const } : {}),
    ...(asked.network ? { network: asked.network } : {}),
    ...(attempt.observed?.checks[check.id] ? { observed: attempt.observed.checks[check.id] } : {}),
    ...(further.atPolicy ? { atPolicy: further.atPolicy } : {}),
    ...(further.withBaseTests ? { withBaseTests: further.withBaseTests } : {}),
    ...(further.onBaseProduct ? { onBaseProduct: further.onBaseProduct } : {}),
    ...(scan ? { scan: scan.record } : {}),
    ...(asked.carried ? { carried: asked.carried } : {}),
    ...(ran.wroteOutside ? { wroteOutside: ran.wroteOutside } : {}),
    ...(ran.ranOn ? { ranOn: ran.ranOn } : {}),
    ...(tail ? { outputTail: tail } : {}),
    artifacts: [...artifacts, ...further.artifacts],
    findings,
    ownFindings,
    ...(ran.network ? { ownNetwork: ran.network } : {}),
  };
}

/** Scans a second time if the change edits the scan's verification inputs. Both scans cover the whole change. */
async function askByPolicy(
  attempt: Attempt,
  { judged, ...scanned }: ScannedTrees,
  task: CheckTask,
  ran: CheckOutcome,
): Promise<readonly Finding[]> {
  if (judged === undefined) return [];
  const trees = { ...scanned, candidate: judged };
  return refusedByPolicy(
    ran,
    await runCheckOf(attempt, judged.side, { ...task, handsOn: false, scanned: trees }),
  );
}

/** Runs a check in a workspace and keeps only its outcome. */
export async function runCheckOf(
  attempt: Attempt,
  workspace: WorkspaceSide,
  task: CheckTask,
): Promise<CheckOutcome & { readonly time: CheckTime }> {
  const watch = new CheckWatch(attempt.services.settings.clock);
  const uses: CheckUses = { networks: [], tools: [], findings: [], watch };
  const awaited = secretsAwaited(attempt, task);
  const outcome: CheckOutcome = awaited
    ? { findings: [{ ...awaited, rule: 'check-outcome' }], reports: [], waiting: true }
    : await judgeCheck(attempt, checkContext(attempt, workspace, task, uses), task.check);
  const time = watch.read();
  attempt.services.settings.signal.throwIfAborted();
  const network = joinNetworks(uses.networks);
  const isUnguarded = outcome.result !== undefined && attempt.environment.sandbox.unconfined === true;
  const {
    network: _network,
    tools: _tools,
    carried: _carried,
    wroteOutside: _wrote,
    ranOn: _ranOn,
    time: _time,
    ...said
  } = outcome;
  return {
    ...said,
    time,
    findings: [...outcome.findings, ...uses.findings, ...(isUnguarded ? [unguardedNetwork] : [])],
    ...(uses.tools.length === 0 ? {} : { tools: uses.tools }),
    ...(network ? { network } : {}),
    ...(uses.carried ? { carried: uses.carried } : {}),
    ...(uses.wroteOutside ? { wroteOutside: uses.wroteOutside } : {}),
    ...(uses.ranOn ? { ranOn: uses.ranOn } : {}),
  };
}

async function judgeCheck(
  attempt: Attempt,
  context: CheckContext,
  check: EffectiveCheck,
): Promise<CheckOutcome> {
  try {
    const runner = await attempt.services.engine.slots.check.pick(check.kind);
    return await runner.run(context);
  } catch (fault) {
    if (fault instanceof WorkspaceLost) throw fault;
    if (attempt.services.settings.signal.aborted) throw attempt.services.settings.signal.reason;
    const broken = environmentFault(fault);
    if (broken !== undefined) throw broken;
    const code = isWritError(fault) ? fault.code : 'INTERNAL';
    const finding: Finding = {
      rule: 'check-outcome',
      severity: 'error',
      message: `the check could not be run: ${messageOf(fault)}`,
      detail: { code },
    };
    return { findings: [finding], reports: [] };
  }
}

function checkContext(
  attempt: Attempt,
  workspace: WorkspaceSide,
  task: CheckTask,
  uses: CheckUses,
): CheckContext {
  const { stage, check, earlier, received, handsOn = true, tellsWrites = false, traced } = task;
  const {
    identity: { contract, scope },
    environment,
    patch,
    box,
  } = attempt;
  const ruleInput: Omit<RuleInput, 'args' | 'files' | 'options'> = {
    spec: contract.effective,
    patch,
    scope,
    stage: { name: stage, checks: earlier },
    // Sorted when a policy reads it: sorting all of them for each check would grow with their square.
    get artifacts() {
      return box.list();
    },
  };
  const report = environment.config.checks.reports.get(check.id);
  const run = (side: WorkspaceSide, passing: Parameters<typeof inWorkspace>[2], used: CheckUses) =>
    inWorkspace(attempt, side, passing, used, (world) =>
      runCommand(
        attempt,
        world,
        {
          stage,
          check,
          secrets: givenSecrets(attempt, task),
          ...(traced === undefined ? {} : { traced }),
          ...(environment.scanners.byCheck.get(check.id)?.shown ?? {}),
        },
        used,
      ),
    );
  // A scanner run at the base does not count toward the time, and its findings are not about the candidate.
  const atBase = { findings: [], watch: new CheckWatch(attempt.services.settings.clock) };
  return {
    check,
    ...(report === undefined ? {} : { report }),
    ruleInput,
    runCommand: () => run(workspace, { received, handsOn, tellsWrites }, uses),
    ...(task.scanned
      ? {
          scan: scanContext(attempt, task.scanned, (side) =>
            run(side, { received: [], handsOn: false, tellsWrites: false }, { ...uses, ...atBase }),
          ),
        }
      : {}),
    async askRule(id, args) {
      const rule = environment.rules.get(id);
      const question = ruleQuestion(attempt, ruleInput);
      return rule ? askRule(question, rule, args) : evaluatePolicy(question, environment.policies, id, args);
    },
  };
}

/** What running a check again, elsewhere, adds to what it did in the candidate. */
interface AskedFurther {
  /** Findings that come to its own, and members of its outcome that are others now. */
  readonly outcome: Pick<CheckOutcome, 'findings' | 'network' | 'tools'>;
  readonly atPolicy?: LaidRun;
  readonly withBaseTests?: LaidRun;
  readonly onBaseProduct?: LaidRun;
  readonly artifacts: readonly ArtifactRecord[];
}

/** Carried paths that another run receives, and whether a later check receives its output. */
interface OtherRun {
  readonly received: readonly CarriedPath[];
  readonly handsOn?: boolean;
}

/**
 * Runs a passed check again in other workspaces if the change requires it. One reason is a rule that compares
 * executions. The other is a change to verification inputs: the check then runs with those of the policy commit.
 */
async function askFurther(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: CheckByPolicy,
  ran: CheckOutcome,
  ask: (side: WorkspaceSide, other: OtherRun) => Promise<CheckOutcome>,
): Promise<AskedFurther> {
  // Paths carried over from candidates must not influence a run on the base.
  const { findings, outcomes, artifacts, ...records } = await evaluateExecuted(
    attempt,
    workspace,
    task,
    ran,
    (side) => ask(side, { received: side === workspace.base ? [] : task.received, handsOn: false }),
  );
  const second = await evaluateByPolicy(attempt, workspace, task, ran, (side, received) =>
    ask(side, { received }),
  );
  const all = [ran, ...outcomes, ...(second.outcome ? [second.outcome] : [])];
  const network = joinNetworks(all.flatMap((one) => one.network ?? []));
  const tools = all.flatMap((one) => one.tools ?? []);
  return {
    outcome: {
      findings: [...findings, ...second.findings],
      ...(network ? { network } : {}),
      ...(tools.length === 0 ? {} : { tools }),
    },
    ...(second.run ? { atPolicy: second.run } : {}),
    ...records,
    artifacts: [...artifacts, ...second.artifacts],
  };
}

const maxFindings = 20;

/** A warning for each host that was refused to a check. Pure. */
export function networkFindings(uses: readonly NetworkUse[]): readonly Finding[] {
  const refused = uses.filter(({ outcome }) => outcome === 'refused');
  const findings = refused.slice(0, maxFindings).map((use): Finding => {
    const { host, port, why, address, connections, via } = use;
    const at = host === '' ? 'a host that it did not name' : quoted(port === 0 ? host : `${host}:${port}`);
    return {
      rule: 'network',
      severity: 'warning',
      message: `the check was refused ${at}: ${obstacles[why ?? 'not-listed']}`,
      detail: { host, port, via, why, connections, ...(address === undefined ? {} : { address }) },
    };
  });
  const left = refused.length - findings.length;
  return left <= 0
    ? findings
    : [
        ...findings,
        {
          rule: 'network',
          severity: 'warning',
          message: `the check was refused ${left} further hosts; the record lists them`,
          detail: { hosts: left },
        },
      ];
}

/** Reported for every command that ran without a sandbox: its network was neither restricted nor observed. */
const unguardedNetwork: Finding = {
  rule: 'network',
  severity: 'note',
  message:
    'the check had the whole network of this machine: without a sandbox nothing is refused or recorded',
  detail: { why: 'no-sandbox' },
};

const obstacles: Readonly<Record<NonNullable<NetworkUse['why']>, string>> = {
  malformed: 'the request names no host in a form that can be authorized',
  'not-listed': 'no rule that matches its commands opens that host',
  port: 'only ports 80 and 443 are open, and those that an entry of `networkHosts` names',
  address: 'it has an address that is not public',
  'host-header': 'the `Host` of the request names another host',
  'not-tls': 'a tunnel carries TLS only',
  'no-server-name': 'the TLS connection does not name its host (SNI)',
  'encrypted-hello': 'the TLS connection hides its host (ECH)',
  'server-name': 'the TLS connection is for another host',
  limit: 'it made too many connections or moved too many bytes',
  unresolved: 'it has no address',
  unreachable: 'there is no answer from there',
  time: 'it took too long',
};
