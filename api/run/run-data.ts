/* Converts a run to the data of its `--json` document. */
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { DescribedRule, Rule } from '../../core/interfaces/rule.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type {
  CheckBaseline,
  CheckRecord,
  LaidRun,
  StageRecord,
  TestCounts,
} from '../../core/interfaces/stage.ts';
import { describeRules } from '../../core/kernel/rules.ts';
import { approversLackingCode, rightsLackingCode } from '../../engine/state/approval-rights.ts';
import { checkUnknownCode, logUnusedCode } from '../../engine/state/checks.ts';
import { foreignPolicyCode, provenanceMissingCode } from '../../engine/state/policies.ts';
import { compact } from '../envelope.ts';
import { type RunData, runSchema } from '../schemas/run-schema.ts';
import { toShape } from '../schemas/shape.ts';
import { listedPlugins } from '../user-plugins.ts';
import type { OpenedRun } from './open-run.ts';
import type { EndedRun } from './verdict.ts';

/** Converts a run to its `--json` form. */
export function toRunData(view: EndedRun): RunData {
  const { stages, provenance = {}, would, isLost: _, ...run } = view;
  const { models, ...sealed } = provenance;
  return toShape(runSchema, {
    ...run,
    ...compact({ warnings: warningsOf(view), would: would?.type, rationale: would?.rationale }),
    stages: stages.map((stage) => ({
      ...stage,
      checks: stage.checks.map(toCheck),
      findings: stageFindings(stage).map(({ finding, ...by }) => ({ ...finding, ...by })),
    })),
    provenance: {
      ...sealed,
      ...compact({
        models: models?.map(({ data_classes: dataClasses, ...work }) => ({ ...work, dataClasses })),
      }),
    },
  });
}

/** A check with what its document names otherwise than its record. */
function toCheck(record: CheckRecord) {
  const { tests, network, baseline, atPolicy, withBaseTests, onBaseProduct, ...check } = record;
  return {
    ...check,
    ...compact({
      tests: tests && toTests(tests),
      network: network && toNetwork(network),
      baseline: baseline && toBaseline(baseline),
      atPolicy: atPolicy && toLaidRun(atPolicy),
      withBaseTests: withBaseTests && toLaidRun(withBaseTests),
      onBaseProduct: onBaseProduct && toLaidRun(onBaseProduct),
    }),
  };
}

function toLaidRun({ tests, ...run }: LaidRun) {
  return { ...run, ...compact({ tests: tests && toTests(tests) }) };
}

function toBaseline({ network, ...compared }: CheckBaseline) {
  return { ...compared, ...compact({ network: network && toNetwork(network) }) };
}

function toTests(tests: TestCounts) {
  return { flaky: 0, ...tests };
}

function toNetwork({ opened, uses }: CheckNetwork) {
  return { opened, connections: uses.map(({ connections: count, ...use }) => ({ ...use, count })) };
}

const warningCodes = [
  checkUnknownCode,
  logUnusedCode,
  approversLackingCode,
  rightsLackingCode,
  provenanceMissingCode,
];

/** Warnings with a code that stays, apart from what is merely noticed. */
function warningsOf({ notices = [], defaultRef, policyRef }: RunView) {
  const coded = (code: string): readonly string[] =>
    notices.flatMap((one) => (one.startsWith(`${code}: `) ? [one.slice(code.length + 2)] : []));
  const foreign = {
    code: foreignPolicyCode,
    message: coded(foreignPolicyCode)[0] ?? '',
    policyRef,
    defaultRef,
  };
  const warnings = [
    ...(defaultRef === undefined ? [] : [compact(foreign)]),
    ...warningCodes.flatMap((code) => coded(code).map((message) => ({ code, message }))),
  ];
  return warnings.length === 0 ? undefined : warnings;
}

/** What a stage found: its own findings, then those of its checks, each once. */
export function stageFindings(
  stage: StageRecord,
): readonly { readonly finding: Finding; readonly checkId?: string }[] {
  const own = new Set(stage.findings.map((finding) => JSON.stringify(finding)));
  const ofChecks = stage.checks.flatMap((check) =>
    check.findings
      .filter((finding) => !own.has(JSON.stringify(finding)))
      .map((finding) => ({ finding, checkId: check.id })),
  );
  return [...stage.findings.map((finding) => ({ finding })), ...ofChecks];
}

/** Every finding of a run once: about the change, then of each stage. */
export function runFindings({ findings, stages }: Pick<RunView, 'findings' | 'stages'>): readonly Finding[] {
  return [...findings, ...stages.flatMap((stage) => stageFindings(stage).map(({ finding }) => finding))];
}

/**
 * Descriptions of the rules that may have evaluated a run: built-in rules, and rules of plugins pinned at its policy
 * commit. A plugin that is missing or changed is left out. Plugins cannot replace descriptions of built-in rules.
 */
export async function describedRules(
  place: { readonly env: Environment },
  { repository, view }: Pick<OpenedRun, 'repository' | 'view'>,
  builtIn: readonly Rule[],
): Promise<readonly DescribedRule[]> {
  const ours = await describeRules(builtIn);
  if (view.policyCommit === undefined) return ours;
  const found = await listedPlugins(place, repository, view.policyCommit).catch((fault: unknown) => {
    // The policy commit does not travel with a run; its plugins are then known by their ids alone.
    if (isWritError(fault)) return [];
    throw fault;
  });
  const known = new Set([...builtIn.map(({ id }) => id), ...ours.map(({ id }) => id)]);
  const theirs = found
    .flatMap((plugin) => ('manifest' in plugin ? plugin.manifest.rules : []))
    .flatMap(({ id, text, rows = [] }) => [...(text === undefined ? [] : [{ id, ...text }]), ...rows]);
  return [...ours, ...theirs.filter(({ id }) => !known.has(id))];
}
