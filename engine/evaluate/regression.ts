/* Compares the integration checks with the base, in results and in time. */
import type { CheckOutcome } from '../../core/interfaces/check.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import {
  type CarriedPath,
  type CheckBaseline,
  type CheckRecord,
  type MeasuredMetric,
  mustPass,
  type StageRecord,
} from '../../core/interfaces/stage.ts';
import { type Metric, metricsFile, metricsOf } from '../../readers/reports/metrics.ts';
import { joinNetworks } from '../../workspace/egress/command-network.ts';
import { treeMentions } from '../../workspace/git/tree.ts';
import { type Attempt, policyOf } from '../state/open-run.ts';
import { recordOutcome, redactOutcome } from '../state/outcome.ts';
import { canBeOldFailure, compareFailure } from './machine-failure.ts';
import type { OpeningWorkspace } from './open-workspace.ts';
import { type CheckTask, runCheckOf } from './run-check.ts';

/** With `none`, only noise is tolerated, so more rounds measure it. */
const rounds = { none: 5, low: 3, medium: 3 };

/**
 * Compares the integration stage's checks with the base (spec field `maxAllowedRegression`), one check at a time. A
 * check that failed as tests fail runs there once. A check that wrote metrics is measured on both sides. A check that
 * passed without metrics runs there once if the base may write some; the gate then reports that they are missing.
 * Each comparison is a step, so it happens once even if the run is resumed several times. Other stages are returned
 * unchanged.
 */
export async function compareWithBase(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  stage: StageRecord,
): Promise<StageRecord> {
  if (stage.stage !== 'integration' || attempt.patch.baseCommit === undefined) return stage;
  const { acceptance } = attempt.identity.contract.effective;
  const level = acceptance.qualityGates.maxAllowedRegression;
  const networks: CheckNetwork[] = [];
  const noting = async (asked: ReturnType<typeof runCheckOf>): ReturnType<typeof runCheckOf> => {
    const outcome = await asked;
    if (outcome.network) networks.push(outcome.network);
    return outcome;
  };
  const base = new BaseSide(attempt, workspace, noting);
  let mentioned: Promise<boolean> | undefined;
  /** A writer of the file names it, in the command or in the tree; otherwise a run of the base would be useless. */
  const mayHaveMeasured = async ({ status, kind, command }: CheckRecord): Promise<boolean> => {
    if (status !== 'passed' || kind === 'policy') return false;
    if (command.includes(metricsFile)) return true;
    const {
      services: { scratch, settings },
      patch,
    } = attempt;
    mentioned ??= treeMentions(scratch, patch.baseTree, [metricsFile], { signal: settings.signal });
    return mentioned;
  };
  const checks: CheckRecord[] = [];
  for (const [index, record] of stage.checks.entries()) {
    const check = acceptance.verificationPlan.integrationChecks.find(({ id }) => id === record.id);
    const isMeasured = measures(record);
    const hasFailed = mustPass(record) && canBeOldFailure(record);
    const wants = hasFailed || isMeasured || (await mayHaveMeasured(record));
    if (!check || !wants || attempt.services.wallClockExceeded()) {
      checks.push(record);
      continue;
    }
    const task: CheckTask = {
      stage: 'integration',
      check,
      index,
      earlier: stage.checks,
      implied: [],
      received: record.carried?.received ?? [],
      handsOn: false,
    };
    const baseline = await recordOutcome(
      attempt,
      `baseline/${check.id}`,
      async (): Promise<CheckBaseline> => {
        const comparison = (found: CheckBaseline): CheckBaseline => {
          const network = joinNetworks(networks.splice(0));
          return { ...found, ...(network ? { network } : {}) };
        };
        if (hasFailed) {
          // The record of the candidate holds redacted names of tests.
          const ran = await base.run(task);
          const named = ran.tests && { tests: redactOutcome(ran.tests, policyOf(attempt)) };
          return comparison({ failure: compareFailure(record, { ...ran, ...named }) });
        }
        if (!isMeasured) {
          const { metrics } = metricsOf((await base.run(task)).reports);
          return comparison(metrics?.size ? { speed: speedLost(metrics) } : {});
        }
        const onSide = (side: 'base' | 'candidate') =>
          side === 'base' ? base.run(task) : noting(runCheckOf(attempt, workspace, task));
        return comparison({ speed: await measureSpeed(onSide, rounds[level]) });
      },
    );
    const isTolerated =
      level !== 'none' && record.fromPolicy !== true && baseline.failure?.outcome === 'old-failure';
    const compared = Object.keys(baseline).length > 0 ? { baseline } : {};
    checks.push({ ...record, ...compared, ...(isTolerated ? { tolerated: true as const } : {}) });
  }
  return { ...stage, checks };
}

function measures({ status, hasMetrics }: CheckRecord): boolean {
  return status === 'passed' && hasMetrics === true;
}

/**
 * The base. If paths are carried over, its fast checks run first, whatever their result, and carry their paths over
 * to those of the integration stage.
 */
class BaseSide {
  readonly #attempt: Attempt;
  readonly #workspace: OpeningWorkspace;
  readonly #noting: (asked: ReturnType<typeof runCheckOf>) => ReturnType<typeof runCheckOf>;
  #prepared: Promise<readonly CarriedPath[]> | undefined;

  constructor(
    attempt: Attempt,
    workspace: OpeningWorkspace,
    noting: (asked: ReturnType<typeof runCheckOf>) => ReturnType<typeof runCheckOf>,
  ) {
    this.#attempt = attempt;
    this.#workspace = workspace;
    this.#noting = noting;
  }

  async run(task: CheckTask): ReturnType<typeof runCheckOf> {
    this.#prepared ??= this.#prepare();
    const received = await this.#prepared;
    return this.#noting(runCheckOf(this.#attempt, this.#workspace.base, { ...task, received }));
  }

  async #prepare(): Promise<readonly CarriedPath[]> {
    let received: readonly CarriedPath[] = [];
    if (this.#attempt.environment.config.workspace.carry.length === 0) return received;
    const { fastChecks } = this.#attempt.identity.contract.effective.acceptance.verificationPlan;
    for (const [index, check] of fastChecks.entries()) {
      if (check.kind === 'policy') continue;
      const { carried } = await this.#noting(
        runCheckOf(this.#attempt, this.#workspace.base, {
          stage: 'fast',
          check,
          index,
          earlier: [],
          implied: [],
          received,
        }),
      );
      received = carried?.handedOn ?? received;
    }
    return received;
  }
}

type Speed = NonNullable<CheckBaseline['speed']>;
type Side = 'base' | 'candidate';

const maxShown = 5;

/** One run of a check on one side. */
type RunOnce = (side: Side) => Promise<CheckOutcome>;

/**
 * Runs a check `rounds` times at the base and in the candidate, sequentially and with alternating order. A temporary
 * slowdown of the machine then affects both. If a side fails or writes no metrics, it stops early and reports that.
 */
export async function measureSpeed(run: RunOnce, rounds: number): Promise<Speed> {
  const seen: Record<Side, ReadonlyMap<string, Metric>[]> = { base: [], candidate: [] };
  for (let round = 0; round < rounds; round += 1) {
    const sides: readonly Side[] = round % 2 === 0 ? ['base', 'candidate'] : ['candidate', 'base'];
    for (const side of sides) {
      const outcome = await run(side);
      const { metrics, finding } = metricsOf(outcome.reports);
      const failed = [...outcome.findings, ...(finding ? [finding] : [])].find(
        ({ severity }) => severity === 'error',
      );
      if (failed || !metrics) {
        const reason = failed ? failed.message : `it wrote no \`${metricsFile}\``;
        return { ...compare(seen), unmeasured: { side, reason: `round ${round + 1}: ${reason}` } };
      }
      seen[side].push(metrics);
    }
  }
  return compare(seen);
}

/** Result for a check that writes metrics at the base but none in the candidate. */
function speedLost(base: ReadonlyMap<string, Metric>): Speed {
  const shown = [...base].slice(0, maxShown).map(([name, metric]) => `\`${name}\` ${withUnit(metric)}`);
  const more = base.size > maxShown ? ` and ${base.size - maxShown} more` : '';
  const reason = `it wrote no \`${metricsFile}\`, and at the base one with ${shown.join(', ')}${more}`;
  return { measured: [], incomparable: [], onlyInCandidate: [], unmeasured: { side: 'candidate', reason } };
}

function withUnit({ value, unit }: Metric): string {
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

/** The base defines each metric's unit and better direction, so the candidate cannot choose how it is measured. */
function compare({ base, candidate }: Record<Side, readonly ReadonlyMap<string, Metric>[]>): Speed {
  const [first] = base;
  const measured: MeasuredMetric[] = [];
  const incomparable: { name: string; reason: string }[] = [];
  for (const [name, expected] of first ?? []) {
    const { unit, better } = expected;
    const reason = [...base, ...candidate]
      .map((round) => mismatch(round.get(name), expected))
      .find((one) => one !== undefined);
    const valuesOf = (rounds: readonly ReadonlyMap<string, Metric>[]): number[] =>
      rounds.flatMap((round) => round.get(name)?.value ?? []);
    if (reason !== undefined) incomparable.push({ name, reason });
    else
      measured.push({
        name,
        ...(unit === undefined ? {} : { unit }),
        better,
        base: valuesOf(base),
        candidate: valuesOf(candidate),
      });
  }
  const added = new Set(candidate.flatMap((round) => [...round.keys()]).filter((name) => !first?.has(name)));
  return { measured, incomparable, onlyInCandidate: first ? [...added].slice(0, 20) : [] };
}

function mismatch(metric: Metric | undefined, expected: Metric): string | undefined {
  const { unit, better } = expected;
  if (!metric)
    return `expected it in every round, as at the base (${withUnit(expected)}), found a round without it`;
  if (metric.unit !== unit)
    return `expected the unit of the base, \`${unit ?? 'none'}\`, found \`${metric.unit ?? 'none'}\``;
  return metric.better === better
    ? undefined
    : `expected \`better\` to be "${better}" as at the base, found "${metric.better}"`;
}
