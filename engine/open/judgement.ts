import { WritError } from '../../core/base/errors.ts';
import { type Issue, warning } from '../../core/interfaces/finding.ts';
import { builtInLedger } from '../../spec/built-in-ledger.ts';
import { contractRows } from '../../spec/contract-rows.ts';
import { requireSupportedVersion } from '../../spec/lifecycle.ts';
import { compileMetricsSchema } from '../context/run-metrics.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { requireNotEnded } from '../intent/require-active.ts';
import { requireDistinctObjectives } from '../plan/plan-tasks.ts';
import { logUnusedCode, logWithoutUse } from '../state/checks.ts';
import type { Opening } from './opening.ts';

/**
 * The data that a preflight check needs: only the spec; the repository and its policy; this machine, its user's keys
 * and trust; or the change.
 */
type Sight = 'contract' | 'repository' | 'machine' | 'change';

type Part = keyof Opening;

/**
 * One preflight check, which can refuse a run before any work: `writ run` stops at the first failure, and `writ plan`
 * reports them all.
 */
export interface Judgement {
  readonly id: string;
  readonly sees: Sight;
  /** JSON Pointer to the part of the spec that it checks; '' for the whole spec, or for data outside it. */
  readonly about: string;
  /** Results of earlier preflight checks that it needs. If one is missing, it is skipped. */
  readonly needs: readonly Part[];
  /** Throws a catalogued refusal, or answers what it found. */
  judge(known: Partial<Opening>): Promise<Partial<Opening>>;
}

/** Builds a preflight check: its function receives the results that it needs, and may read other known results. */
export function judgement<const N extends Part, G extends Part = never>(given: {
  readonly id: string;
  readonly sees: Sight;
  readonly about?: string;
  readonly needs: readonly N[];
  // biome-ignore lint/suspicious/noConfusingVoidType: a judgement that only refuses answers nothing.
  judge(known: Pick<Opening, N> & Partial<Opening>): Promise<Pick<Opening, G> | void>;
}): Judgement {
  // `judgeOpening` calls only checks with every name in `needs` present.
  return { about: '', ...given, judge: async (known) => (await given.judge(known as Opening)) ?? {} };
}

/** Called with a refusal; checks that do not need the missing result still run. */
type HearRefusal = (refused: Judgement, fault: WritError) => void;

/**
 * Runs the preflight checks in order; each sees the earlier results. Throws the first refusal. With `hear` it reports
 * every refusal instead, but still throws errors that are not refusals (INTERNAL, RUN_INTERRUPTED).
 */
export async function judgeOpening(
  judgements: readonly Judgement[],
  known: Partial<Opening>,
  hear?: HearRefusal,
): Promise<Partial<Opening>> {
  let all = known;
  for (const one of judgements) {
    if (!one.needs.every((part) => Object.hasOwn(all, part))) continue;
    try {
      all = { ...all, ...(await one.judge(all)) };
    } catch (fault) {
      if (!hear || !(fault instanceof WritError) || [70, 130].includes(fault.exitCode)) throw fault;
      hear(one, fault);
    }
  }
  return all;
}

/** Preflight checks that need only a parsed spec. They are cheap: `spec validate` runs them without a repository. */
export const contractJudgements: readonly Judgement[] = [
  judgement({
    id: 'version-supported',
    sees: 'contract',
    about: '/apiVersion',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireSupportedVersion(admitted.document.apiVersion),
  }),
  judgement({
    id: 'rows-enforced',
    sees: 'contract',
    needs: ['ledger', 'admitted'],
    judge: async ({ ledger, admitted, worker }) =>
      ledger.check(admitted.effective, { model: worker?.usesModel === true }),
  }),
  judgement({
    id: 'not-ended',
    sees: 'contract',
    about: '/lifecycle/status',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireNotEnded(admitted.document),
  }),
  judgement({
    id: 'metrics-readable',
    sees: 'contract',
    about: '/objmodel/runPolicy/metricsSchema',
    needs: ['admitted'],
    judge: async ({ admitted }) => {
      await compileMetricsSchema(admitted.effective.objmodel.runPolicy.metricsSchema);
    },
  }),
  judgement({
    id: 'objectives-differ',
    sees: 'contract',
    about: '/intent/objectives',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireDistinctObjectives(admitted.effective.intent.objectives),
  }),
];

/** Returns warnings about any run of a spec with the built-in plugins, without reading a repository. */
export async function contractIssues(admitted: AdmittedContract): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  await judgeOpening(contractJudgements, { ledger: builtInLedger(), admitted }, (judgement, fault) =>
    refused.push(...refusalIssues(judgement, fault)),
  );
  return [
    ...refused,
    ...logWithoutUse(admitted.effective).map((words) =>
      warning(logUnusedCode, '/provenance/transparencyLog/mode', words),
    ),
  ];
}

/**
 * Converts a run's refusal to warnings for a user who validates the spec, because the document itself may be valid.
 * One warning for each unenforced row, and for each issue that the refusal names.
 */
export function refusalIssues({ about }: Judgement, { code, message, detail }: WritError): readonly Issue[] {
  const words = (what: string): string => `${what}; a run is refused`;
  if (code === 'SPEC_UNENFORCED') {
    const rows = new Set(detail.rows as readonly string[]);
    return contractRows
      .filter(({ id }) => rows.has(id))
      .map(({ id, path, rule }) =>
        warning(code, path.replace(/\/\*.*$/, ''), words(`nothing loaded here enforces \`${id}\` (${rule})`)),
      );
  }
  if (code === 'INTENTSPEC_INVALID')
    return (detail.issues as readonly Issue[]).map((issue) =>
      warning(issue.code, issue.path, words(issue.message)),
    );
  return [warning(code, about, words(message))];
}
