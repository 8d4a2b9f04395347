import type { CheckOutcome } from '../../../core/contract/check-runner.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { EffectiveCheck } from '../../../core/contract/intentspec.gen.ts';
import type { StageName, StageRecord } from '../../../core/contract/stage.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import type { Attempt } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { askRule } from './ask-rules.ts';
import { type NewCase, type RanAmong, ranAmong } from './ran-among.ts';
import { ruleQuestion } from './rule-question.ts';

const rule = 'new-tests';
const maxNamed = 20;

/** Languages whose runners report a case by the name that it is written with. */
const named: ReadonlySet<string> = new Set(['javascript', 'python', 'go', 'rust']);

/** What is remembered of a suite. */
interface Noted {
  readonly ran: RanAmong;
  /** Without what the run may not store. */
  readonly cases: readonly NewCase[];
}

/**
 * Writes down whether a suite of the fast stage ran one of the new test cases that the contract asks for: what a report
 * names is not recorded, and the stage is judged when every check has ended, by another process perhaps.
 */
export async function noteNewTests(
  attempt: Attempt,
  { stage, check }: { readonly stage: StageName; readonly check: EffectiveCheck },
  { executed }: CheckOutcome,
): Promise<void> {
  if (stage !== 'fast' || check.kind !== 'testSuite') return;
  const cases = await listNewTests(attempt);
  if (cases.length === 0) return;
  await attempt.means.steps.once(
    `new-tests/${check.id}`,
    (): Noted => ({
      ran: ranAmong(cases, executed),
      cases: redactTexts(cases.slice(0, maxNamed), policyOf(attempt)),
    }),
  );
}

/**
 * The fast checks include a new test case where the contract asks for one (document 1, requireNewTestsWhenBugfix): an
 * error where every suite of the stage passed and none of them ran one, a warning where runners need not report it by
 * the name that it is written with. Nothing where a suite does not say what it ran, or there is none.
 */
export function newTestFindings(
  { means: { steps } }: { readonly means: Pick<Attempt['means'], 'steps'> },
  { stage, checks }: Pick<StageRecord, 'stage' | 'checks'>,
): readonly Finding[] {
  if (stage !== 'fast') return [];
  const suites = checks.filter(({ kind }) => kind === 'testSuite');
  const noted = suites.map(({ id }) => steps.ended(`new-tests/${id}`)?.answer as Noted | undefined);
  const cases = noted[0]?.cases ?? [];
  if (cases.length === 0 || suites.some(({ status }) => status !== 'passed')) return [];
  if (noted.some((one) => one?.ran !== 'did-not-run')) return [];
  const tests = cases.map(({ name }) => name);
  const list = tests.map((name) => `\`${name}\``).join(', ');
  return [
    {
      rule,
      severity: cases.every(({ language }) => named.has(language)) ? 'error' : 'warning',
      message: `the contract is for a bugfix, and no fast check ran a test case that the patch adds: ${list}`,
      detail: { code: 'NEW_TEST_NOT_RUN', tests },
    },
  ];
}

/** The new cases, where this contract asks for any; nothing where there is none, which the rule refuses itself. */
async function listNewTests(attempt: Attempt): Promise<readonly NewCase[]> {
  const {
    identity: { contract, scope },
    ground,
    patch,
    box,
  } = attempt;
  const spec = contract.effective;
  const asked = ground.rules.get(rule);
  if (!asked || asked.appliesTo?.(spec) === false) return [];
  const question = ruleQuestion(attempt, { spec, patch, scope, artifacts: box.list() });
  const [found] = await askRule(question, asked, ['--cases']);
  return found?.severity === 'note' ? ((found.detail?.cases ?? []) as readonly NewCase[]) : [];
}
