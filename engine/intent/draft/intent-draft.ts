/* The form of a model's draft. */
import type { ChangeType, RiskLevel } from '../../../core/interfaces/intentspec.gen.ts';
import { type PolicyWish, strictFields } from '../../../spec/stricter.ts';

/** The fields of a spec that a model supplies: text, checks and risk. */
export interface IntentDraft {
  readonly summary: string;
  readonly problemStatement: string;
  readonly changeType: ChangeType;
  readonly objectives: readonly string[];
  readonly inScope: readonly string[];
  readonly outOfScope: readonly string[];
  readonly files: readonly string[];
  readonly symbols: readonly string[];
  readonly successCriteria: readonly string[];
  readonly checks: readonly DraftedCheck[];
  readonly risk: {
    readonly level: RiskLevel;
    readonly rationale: string;
    readonly factors: readonly string[];
  };
  readonly questions: readonly string[];
  readonly policy: readonly PolicyWish[];
}

export interface DraftedCheck {
  readonly id: string;
  readonly stage: 'fast' | 'integration';
  readonly kind: 'command' | 'testSuite';
  readonly command: string;
}

const text = (description: string) => ({ type: 'string', minLength: 1, description });
const word = (description: string, values: readonly string[]) => ({
  type: 'string',
  enum: values,
  description,
});
const list = (items: object, description: string, least = 0) => ({
  type: 'array',
  items,
  minItems: least,
  description,
});
const record = (properties: Readonly<Record<string, object>>, optional: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const changeTypes: readonly ChangeType[] = [
  'bugfix',
  'feature',
  'refactor',
  'performance',
  'security',
  'docs',
  'chore',
  'unknown',
];

/** The schema of a draft (JSON Schema). The spec's own schema limits text lengths. */
export const intentDraftForm = record(
  {
    summary: text('the goal in one sentence, 5 to 256 characters'),
    problemStatement: text('what is wrong or missing, for whom, and how it shows'),
    changeType: word('kind of change', changeTypes),
    objectives: list(text('one result that can be observed, with the files it is about'), 'in order', 1),
    inScope: list(text('a file or directory that may change'), 'as narrow as can be', 1),
    outOfScope: list(text('a file or directory that must not change, or why'), 'may be empty'),
    files: list(text('a file or glob that will be touched'), 'may be empty'),
    symbols: list(text('a name in the code'), 'may be empty'),
    successCriteria: list(text('how anyone can see that it works'), 'at least one', 1),
    checks: list(
      record({
        id: text('short and unique, such as `unit`'),
        stage: word('fast: after every change; integration: at the end', ['fast', 'integration']),
        kind: word('command: its exit code; testSuite: its report, too', ['command', 'testSuite']),
        command: text('one plain command'),
      }),
      'at least one fast check',
      1,
    ),
    risk: record({
      level: word('low: docs, input validation, chores; medium: features, refactors; high: security', [
        'low',
        'medium',
        'high',
      ]),
      rationale: text('what could go wrong'),
      factors: list(text('a tag'), 'may be empty'),
    }),
    questions: list(text('what only a person can decide'), 'may be empty'),
    policy: list(
      record({
        field: word(
          'what to be stricter in',
          strictFields.map(({ field }) => field),
        ),
        value: text('the value, as JSON text'),
      }),
      'only what is to be stricter than the risk level makes it',
    ),
  },
  ['outOfScope', 'files', 'symbols', 'questions', 'policy'],
);

/** Entries of a draft, at most: more is a plan of many contracts, and each of them costs a person reading. */
const most = {
  objectives: 30,
  inScope: 100,
  outOfScope: 100,
  files: 100,
  symbols: 100,
  successCriteria: 100,
  checks: 20,
  policy: 40,
} as const satisfies Partial<Record<keyof IntentDraft, number>>;
const maxQuestionCharacters = 1000;

type Validate = (value: unknown) => string | undefined;
let compiled: Promise<Validate> | undefined;

/** A submitted draft, filled in; or what is wrong with its form. */
export async function readIntentDraft(
  value: unknown,
): Promise<{ readonly draft: IntentDraft } | { readonly faults: readonly string[] }> {
  compiled ??= compile();
  const fault = (await compiled)(value);
  if (fault !== undefined) return { faults: [fault] };
  const given = value as Partial<Omit<IntentDraft, 'policy'>> & {
    readonly policy?: readonly { readonly field: string; readonly value: string }[];
  };
  const tooMany = Object.entries(most).flatMap(([name, bound]) => {
    const found = given[name as keyof typeof most]?.length ?? 0;
    return found > bound ? [`\`${name}\` has ${found} entries, expected at most ${bound}`] : [];
  });
  if (tooMany.length > 0) return { faults: tooMany };
  const wishes: PolicyWish[] = [];
  for (const { field, value: json } of given.policy ?? []) {
    try {
      wishes.push({ field, value: JSON.parse(json) });
    } catch {
      return { faults: [`the value of \`${field}\` under \`policy\` is not JSON`] };
    }
  }
  const { outOfScope = [], files = [], symbols = [] } = given;
  const questions = (given.questions ?? [])
    .map((question) => question.trim().slice(0, maxQuestionCharacters).toWellFormed())
    .filter((question) => question !== '');
  return { draft: { ...(given as IntentDraft), outOfScope, files, symbols, questions, policy: wishes } };
}

async function compile(): Promise<Validate> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(intentDraftForm);
  return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'draft' }));
}
