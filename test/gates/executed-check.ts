import type { CheckOutcome } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { ExecutedCheck, Rerun } from '../../core/interfaces/rule.ts';
import { type CaseFile, toRuleInput } from '../../testing.ts';

/** What a suite did that reports these tests. */
export function outcome(
  names: readonly string[],
  {
    failed = [],
    skipped = [],
    emptyFiles = [],
  }: Partial<Readonly<Record<'failed' | 'skipped' | 'emptyFiles', readonly string[]>>> = {},
): CheckOutcome {
  const counts = {
    passed: names.length - failed.length - skipped.length,
    failed: failed.length,
    skipped: skipped.length,
    failedTests: failed.map((name) => ({ name })),
  };
  return {
    findings: [],
    reports: [],
    tests: counts,
    executed: { counts, names: new Set(names), skipped, emptyFiles },
  };
}

export interface AskedCheck {
  readonly files: Readonly<Record<string, CaseFile>>;
  readonly changeType?: 'bugfix' | 'refactor';
  readonly objectives?: readonly string[];
  readonly ran: CheckOutcome;
  /** What each further run comes to, by its tree: `base`, `base+candidate`, `candidate+base`, `base without PATH`. */
  readonly reruns?: Readonly<Record<string, CheckOutcome>>;
  /** What the rule says of the patch. */
  readonly says?: readonly Finding[];
  readonly more?: Partial<ExecutedCheck>;
}

/** A check as a rule is asked about it, and the trees in which it ran again. */
export function executedCheck({ files, ran, reruns = {}, says = [], more, ...intent }: AskedCheck) {
  const { changeType = 'refactor', objectives = ['It is simpler'] } = intent;
  const { spec, patch } = toRuleInput({ name: 'x', files, spec: { intent: { changeType, objectives } } });
  const asked: Rerun[] = [];
  const check: ExecutedCheck = {
    spec,
    patch: { ...patch, baseCommit: 'a'.repeat(40) },
    stage: 'fast',
    check: {
      id: 'unit',
      kind: 'testSuite',
      command: 'node --test',
      expectedExitCode: 0,
      required: true,
      timeoutSeconds: 60,
      artifactsProduced: [],
    } as unknown as ExecutedCheck['check'],
    ran,
    isForGoal: false,
    testsByUse: async () => [],
    leadsToTests: async () => false,
    rerun: async (where) => {
      asked.push(where);
      const laid = [...(where.tests ?? []), ...(where.verificationInputs ?? [])];
      const other = where.tree === 'base' ? 'candidate' : 'base';
      const tree = laid.length > 0 ? `${where.tree}+${other}` : where.tree;
      return reruns[where.without ? `${tree} without ${where.without}` : tree];
    },
    readTexts: async (side, paths) =>
      new Map(
        paths.flatMap((path) => {
          const text = files[path]?.[side];
          return typeof text === 'string' ? [[path, text] as const] : [];
        }),
      ),
    ask: async () => says,
    ...more,
  };
  return { check, asked };
}
