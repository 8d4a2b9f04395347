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
 * What a judgement has to see: the contract alone; the repository and its policy; this machine, its user's keys and
 * trust; the change itself.
 */
type Sight = 'contract' | 'repository' | 'machine' | 'change';

type Part = keyof Opening;

/** One thing that can refuse a run before any work: `writ run` stops at the first, `writ plan` tells them all. */
export interface Judgement {
  readonly id: string;
  readonly sees: Sight;
  /** JSON Pointer to what of the contract it is about; '' for the whole of it, or something else. */
  readonly about: string;
  /** What earlier judgements have to have found; without it nothing is judged. */
  readonly needs: readonly Part[];
  /** Throws a catalogued refusal, or answers what it found. */
  judge(known: Partial<Opening>): Promise<Partial<Opening>>;
}

/** A judgement whose function is handed what it needs, and may look at what else is known. */
export function judgement<const N extends Part, G extends Part = never>(given: {
  readonly id: string;
  readonly sees: Sight;
  readonly about?: string;
  readonly needs: readonly N[];
  // biome-ignore lint/suspicious/noConfusingVoidType: a judgement that only refuses answers nothing.
  judge(known: Pick<Opening, N> & Partial<Opening>): Promise<Pick<Opening, G> | void>;
}): Judgement {
  // What `needs` names is there: `judgeOpening` asks nobody else.
  return { about: '', ...given, judge: async (known) => (await given.judge(known as Opening)) ?? {} };
}

/** Told of a refusal; the judgements that need nothing of it go on. */
type HearRefusal = (refused: Judgement, fault: WritError) => void;

/**
 * Asks the judgements in order, each knowing what the ones before it found. The first refusal is thrown; with `hear`
 * all are told instead, and what is no refusal (INTERNAL, RUN_INTERRUPTED) is still thrown.
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

/** What a contract that was read shows by itself. Light: `spec validate` asks these where there is no repository. */
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

/** What a contract shows by itself of any run with the built-in plugins, as warnings; no repository is looked at. */
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
 * A refusal of a run as whoever validates the contract is told: warnings, because the document itself may be sound. One
 * for each row that nobody enforces, and for each issue that the refusal names.
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
