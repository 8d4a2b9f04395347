import { canonicalize } from '../../../core/base/canonical.ts';
import type { Difference } from '../../../core/contract/difference.ts';
import { madeByPlugins, stageNames } from '../../../core/contract/stage.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { DecisionInput } from '../record/decision-input.ts';

type Evidence = StoredObject<'evidence'>;

/** What the stages of a decision input are compared with. */
export interface StagesQuestion {
  readonly file: string;
  readonly input: DecisionInput;
  /** In the order of their paths. */
  readonly evidence: readonly { readonly path: string; readonly object: Evidence }[];
  /** `gate-report.json`, where the record has one: only for the candidate that was decided on. */
  readonly report: unknown;
}

/** The first place where the evidence, the gate report and the decision's input do not say the same. */
export function compareStages({ file, input, evidence, report }: StagesQuestion): Difference | undefined {
  for (const [index, name] of stageNames.entries()) {
    const decided = input.stages[index];
    const at = `/stages/${index}`;
    if (decided?.stage !== name) return differs(file, `${at}/stage`, name, decided?.stage);
    const own = evidence.filter(({ object }) => object.stage === name);
    const whole = own.find(({ object }) => object.check_id === undefined);
    const checks = own.filter(({ object }) => object.check_id !== undefined);
    if (!whole) {
      if (checks.length > 0 || decided.status !== 'not-started')
        return differs(file, `${at}/status`, 'not-started', decided.status);
      continue;
    }
    const found =
      compared(file, `${at}/status`, whole.object.status, decided.status) ??
      compared(file, `${at}`, whole.object.summary, `${decided.ran} of ${decided.expected} checks ran`) ??
      compared(file, `${at}/findings`, whole.object.findings.map(toDecided), decided.findings) ??
      compared(
        file,
        `${at}/checks`,
        checks.map(({ object }) => ({
          id: object.check_id,
          status: object.status,
          required: object.required,
          ...(object.tolerated === undefined ? {} : { tolerated: object.tolerated }),
        })),
        decided.checks,
      );
    if (found) return found;
    if (report === undefined) continue;
    const stage = reported(report, name);
    for (const { path, object } of checks) {
      const check = stage?.checks?.find(({ id }) => id === object.check_id);
      const parted =
        compared(path, '/command', check?.command, object.command) ??
        compared(path, '/exit_code', check?.exitCode, object.exit_code) ??
        compared(path, '/tests', check?.tests, object.tests) ??
        compared(path, '/carried', check?.carried, object.carried) ??
        compared(path, '/wrote_outside', check?.wroteOutside, object.wrote_outside) ??
        compared(path, '/at_policy', check?.atPolicy, object.at_policy) ??
        compared(path, '/with_base_tests', check?.withBaseTests, object.with_base_tests) ??
        compared(path, '/on_base_product', check?.onBaseProduct, object.on_base_product) ??
        compared(path, '/observed', check?.observed, object.observed) ??
        compared(path, '/scan', check?.scan, object.scan) ??
        compared(path, '/findings', check?.findings, object.findings) ??
        compared(
          path,
          '/reports',
          check?.artifacts?.map(({ sha256 }) => sha256),
          object.reports.map(({ sha256 }) => sha256),
        );
      if (parted) return parted;
    }
    const parted =
      compared(whole.path, '/findings', stage?.findings, whole.object.findings) ??
      compared(whole.path, '/asked', stage?.asked, whole.object.asked) ??
      compared(whole.path, '/made_by', madeByPlugins(madeAt(report, name)), whole.object.made_by ?? []);
    if (parted) return parted;
  }
  return input.stages.length === stageNames.length
    ? undefined
    : differs(file, '/stages', `${stageNames.length} stages`, `${input.stages.length}`);
}

interface ReportedStage {
  readonly stage: string;
  readonly findings?: unknown;
  readonly asked?: unknown;
  readonly checks?: readonly {
    readonly id: string;
    readonly command?: unknown;
    readonly exitCode?: unknown;
    readonly tests?: unknown;
    readonly carried?: unknown;
    readonly wroteOutside?: unknown;
    readonly atPolicy?: unknown;
    readonly withBaseTests?: unknown;
    readonly onBaseProduct?: unknown;
    readonly observed?: unknown;
    readonly scan?: unknown;
    readonly findings?: unknown;
    readonly artifacts?: readonly { readonly sha256: string }[];
  }[];
}

/** Artifacts of a stage that no check delivered. */
function madeAt(
  report: unknown,
  name: string,
): readonly { readonly sha256: string; readonly plugin?: string }[] {
  const { artifacts = [] } = report as {
    readonly artifacts?: readonly { stage: string; checkId?: string; sha256: string; plugin?: string }[];
  };
  return artifacts.filter(({ stage, checkId }) => stage === name && checkId === undefined);
}

/** Its digest is in the input, so that what it says was there at the decision. */
function reported(report: unknown, name: string): ReportedStage | undefined {
  const { stages } = report as { readonly stages: readonly ReportedStage[] };
  return stages.find(({ stage }) => stage === name);
}

function toDecided({ rule, severity, path, line }: Evidence['findings'][number]): unknown {
  return { rule, severity, ...(path === undefined ? {} : { path }), ...(line === undefined ? {} : { line }) };
}

function compared(file: string, field: string, expected: unknown, found: unknown): Difference | undefined {
  return toText(expected) === toText(found) ? undefined : differs(file, field, expected, found);
}

function differs(file: string, field: string, expected: unknown, found: unknown): Difference {
  return { file, field, expected: toText(expected).slice(0, 300), found: toText(found).slice(0, 300) };
}

function toText(value: unknown): string {
  return value === undefined ? 'nothing' : canonicalize(value);
}
