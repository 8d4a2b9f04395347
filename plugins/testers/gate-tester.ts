/* Tests a rule on cases in memory. */
import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../core/base/clock.ts';
import { compileGlob } from '../../core/base/glob.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { FileSides, Rule, RuleInput } from '../../core/interfaces/rule.ts';
import type { ArtifactRecord } from '../../core/interfaces/stage.ts';
import { evaluateRule } from '../../core/kernel/rules.ts';
import { createPool } from '../../core/kernel/worker/pool.ts';
import { effectiveScope } from '../../engine/plan/scope.ts';
import { type CaseRunner, type DeepPartial, reportPassed, sampleSpecWith } from './run-cases.ts';
import { type CaseFile, toPatchSet, toSideBytes } from './tiny-diff.ts';

/** One case: what the rule is given and which findings it must answer, in order. */
export interface GateCase {
  readonly name: string;
  /** By candidate path. The rule is given the content of those that its `reads` match, as in a run. */
  readonly files?: Readonly<Record<string, CaseFile>>;
  /** Merged over a spec with every default. */
  readonly spec?: DeepPartial<EffectiveIntentSpec>;
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly artifacts?: readonly ArtifactRecord[];
  /** By SHA-256, for a rule with `readsArtifacts`. */
  readonly artifactBytes?: Readonly<Record<string, Uint8Array>>;
  readonly stage?: RuleInput['stage'];
  readonly approvals?: RuleInput['approvals'];
  readonly rehearsal?: RuleInput['rehearsal'];
  readonly approvalGroups?: RuleInput['approvalGroups'];
  /** For the module of a policy engine. */
  readonly policy?: RuleInput['policy'];
  /**
   * One entry per expected finding; only the fields that it names are compared. Empty or absent: the rule must pass.
   */
  readonly expect?: readonly Partial<Finding>[];
}

/** Cases in two groups: `valid` ones must end in no `error` finding, `invalid` ones in at least one. */
export interface GateCases {
  readonly valid: readonly GateCase[];
  readonly invalid: readonly GateCase[];
}

const pool = createPool({ clock: systemClock, threads: 2 });

/**
 * Runs a rule's module over cases in memory; rejects with an AssertionError that names rule and case. No cases at all
 * is a failure.
 */
export async function gateTester(
  runner: CaseRunner | undefined,
  rule: Rule,
  cases: readonly GateCase[] | GateCases,
): Promise<void> {
  const all = toProbes(cases);
  if (all.length === 0) throw new AssertionError({ message: `rule \`${rule.id}\`: no case was given` });
  for (const { gateCase, refuses } of all) {
    const findings = async () => compare(rule, gateCase, refuses, await ask(rule, gateCase));
    if (runner === undefined) await findings();
    else {
      await runner.test(`${rule.id}: ${gateCase.name}`, async (t) => {
        await findings();
        reportPassed(t, gateCase.name);
      });
    }
  }
}

/** What a rule would be given in this case; without `rule`, every changed file and artifact. */
export function toRuleInput(
  gateCase: GateCase,
  rule?: Pick<Rule, 'reads' | 'readsArtifacts' | 'readsUnchanged'>,
): RuleInput {
  const given = gateCase.files ?? {};
  const spec = sampleSpecWith(gateCase.spec ?? {});
  const patch = toPatchSet(given);
  const globs = rule && (rule.reads ?? []).map((pattern) => compileGlob(pattern));
  const wanted = patch.files.filter(
    ({ path, oldPath }) =>
      globs === undefined ||
      globs.some((glob) => glob.matches(path) || (oldPath !== undefined && glob.matches(oldPath))),
  );
  const changed = new Set(patch.files.map(({ path }) => path));
  const unchanged =
    wanted.length > 0 && rule?.readsUnchanged
      ? Object.keys(given).filter((path) => !changed.has(path) && globs?.some((glob) => glob.matches(path)))
      : [];
  const baseNames = Object.entries(given).flatMap(([path, { base, oldPath }]) =>
    base === undefined ? [] : [(oldPath ?? path).split('/', 1)[0] ?? ''],
  );
  const readsArtifacts = rule === undefined || rule.readsArtifacts === true;
  return {
    spec,
    args: gateCase.args ?? [],
    patch,
    scope: effectiveScope(spec, new Set(baseNames)),
    files: Object.fromEntries(
      [...wanted.map(({ path }) => path), ...unchanged].map((path) => [path, toSides(given[path] ?? {})]),
    ),
    ...(gateCase.stage === undefined ? {} : { stage: gateCase.stage }),
    ...(gateCase.approvals === undefined ? {} : { approvals: gateCase.approvals }),
    ...(gateCase.rehearsal === undefined ? {} : { rehearsal: gateCase.rehearsal }),
    ...(gateCase.approvalGroups === undefined ? {} : { approvalGroups: gateCase.approvalGroups }),
    ...(gateCase.policy === undefined ? {} : { policy: gateCase.policy }),
    artifacts: gateCase.artifacts ?? [],
    ...(readsArtifacts ? { artifactBytes: gateCase.artifactBytes ?? {} } : {}),
    options: gateCase.options ?? {},
  };
}

function toSides({ base, candidate }: CaseFile): FileSides {
  return {
    ...(base === undefined ? {} : { base: toSideBytes(base) }),
    ...(candidate === undefined ? {} : { candidate: toSideBytes(candidate) }),
  };
}

/**
 * As a run evaluates it, and once more in a worker thread, because a rule is pure; a rule that gave no answer passes no
 * case.
 */
async function ask(rule: Rule, gateCase: GateCase): Promise<readonly Finding[]> {
  const fail = (sentence: string) => {
    throw new AssertionError({ message: `rule \`${rule.id}\`, case \`${gateCase.name}\`: ${sentence}` });
  };
  const input = toRuleInput(gateCase, rule);
  const findings = await evaluateRule(rule, input, pool);
  const fault = findings.find((finding) => finding.detail?.code === 'RULE_FAULT');
  if (fault) fail(fault.message);
  const { linear: _, ...inThread } = rule;
  if (!isDeepStrictEqual(await evaluateRule(inThread, input, pool), findings)) {
    fail('asked twice, it answered twice differently');
  }
  return findings;
}

function toProbes(
  cases: readonly GateCase[] | GateCases,
): { gateCase: GateCase; refuses: boolean | undefined }[] {
  if (!('valid' in cases)) return cases.map((gateCase) => ({ gateCase, refuses: undefined }));
  return [
    ...cases.valid.map((gateCase) => ({ gateCase, refuses: false })),
    ...cases.invalid.map((gateCase) => ({ gateCase, refuses: true })),
  ];
}

function compare(
  rule: Rule,
  gateCase: GateCase,
  refuses: boolean | undefined,
  found: readonly Finding[],
): void {
  const fail = (sentence: string, expected: unknown) => {
    const shown = found.map((finding) => `  ${JSON.stringify(finding)}`).join('\n') || '  (none)';
    const message = `rule \`${rule.id}\`, case \`${gateCase.name}\`: ${sentence}\nfindings:\n${shown}`;
    throw new AssertionError({ message, expected, actual: found });
  };
  const refused = found.some((finding) => finding.severity === 'error');
  if (refuses === true && !refused) fail('expected a finding of severity `error`', gateCase.expect ?? []);
  if (refuses === false && refused) fail('expected no finding of severity `error`', gateCase.expect ?? []);
  if (refuses !== undefined && gateCase.expect === undefined) return;
  const expected = gateCase.expect ?? [];
  if (expected.length !== found.length)
    fail(`expected ${expected.length} finding(s), got ${found.length}`, expected);
  expected.forEach((wanted, index) => {
    const got: Partial<Finding> = found[index] ?? {};
    for (const [field, value] of Object.entries(wanted)) {
      if (!isDeepStrictEqual(got[field as keyof Finding], value)) {
        fail(`finding ${index + 1}: expected \`${field}\` to be ${JSON.stringify(value)}`, expected);
      }
    }
  });
}
