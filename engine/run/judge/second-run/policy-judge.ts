import { WritError } from '../../../../core/base/errors.ts';
import type { Finding } from '../../../../core/contract/finding.ts';
import type { LaidPath } from '../../../../core/contract/judge-reach.ts';
import type { Attempt } from '../../state/attempt.ts';
import { askRule } from '../ask-rules.ts';
import { ruleQuestion } from '../rule-question.ts';
import { layJudge } from './lay-judge.ts';
import { mayBeJudged } from './may-be-judged.ts';

const rule = 'judge-changed';
/** A longer list of checks is cut by the rule. */
const maxChecks = 50;

/** A tree in which some paths are as the policy commit has them. */
export interface LaidTree {
  readonly tree: string;
  readonly laid: readonly LaidPath[];
}

/** The candidate with what judges it as the policy commit has it. */
export interface PolicyJudge extends LaidTree {
  /** The same without what may be the product that scripts of the judge lead to, where both have changed. */
  readonly apart?: LaidTree;
  /** Whether a check judges by any of it. */
  judges(checkId: string): boolean;
}

/**
 * Whether the patch rules left it to the policy commit's version to judge the change too: nobody is asked then. Costs
 * nothing.
 */
export function leavesJudging({ patchFindings }: Pick<Attempt, 'patchFindings'>): boolean {
  return patchFindings?.some(isLeft) ?? false;
}

/** Whether the policy commit refuses to evaluate checks that no tracer observes. */
export function demandsTracer({ ground }: Pick<Attempt, 'ground'>): boolean {
  return ground.config.rules[rule]?.observe === 'required';
}

/**
 * Asks the rule what of the judge the patch changes, and lays the policy commit's version over the candidate;
 * `undefined` where it is left to nobody. INTERNAL where the rule now says something else: nothing would judge then.
 */
export async function findPolicyJudge(attempt: Attempt): Promise<PolicyJudge | undefined> {
  const {
    identity: { contract, scope },
    ground,
    patch,
  } = attempt;
  const asked = ground.rules.get(rule);
  if (!leavesJudging(attempt)) return undefined;
  // Anew, since what was recorded of its answer was redacted.
  const question = ruleQuestion(attempt, { spec: contract.effective, patch, scope, artifacts: [] });
  const found = (asked ? await askRule(question, asked, []) : []).filter(isLeft);
  const expected = (attempt.patchFindings ?? []).filter(isLeft).length;
  if (found.length !== expected)
    throw new WritError('INTERNAL', {
      message: `rule \`${rule}\` told ${expected} changes of the judge, and ${found.length} when it was asked again`,
      detail: { rule, expected, found: found.length },
    });
  const laid = laidBy(found);
  const sure = laidBy(sureOf(found));
  const isMixed = sure.length > 0 && sure.length < laid.length;
  const lists = found.map(({ detail }) => (detail?.checks ?? []) as readonly string[]);
  const all = lists.some(({ length }) => length === 0 || length >= maxChecks);
  const checks = new Set(lists.flat());
  return {
    tree: await layJudge(attempt, laid),
    laid,
    ...(isMixed ? { apart: { tree: await layJudge(attempt, sure, false), laid: sure } } : {}),
    judges: (checkId) => all || checks.has(checkId),
  };
}

/** What judges by its place or its name; where that is nothing, what no other changed file leads to. */
function sureOf(found: readonly Finding[]): readonly Finding[] {
  const sure = found.filter((one) => !mayBeJudged(one));
  const paths = new Set(found.map(({ path }) => `\`${path}\``));
  return sure.length > 0 ? sure : found.filter(({ detail }) => !paths.has(String(detail?.via)));
}

function laidBy(found: readonly Finding[]): readonly LaidPath[] {
  return found.flatMap(({ detail }) => (detail?.lay ?? []) as readonly LaidPath[]);
}

function isLeft({ rule: by, detail }: Finding): boolean {
  return by === rule && detail?.judgedBy === 'policy';
}
