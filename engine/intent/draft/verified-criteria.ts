/* The criteria of a person that a draft must verify by its checks. */
import { type ProposedCheck, startsKnownRunner } from '../../../spec/propose-check.ts';
import { intentDraftForm } from './intent-draft.ts';

/** What a change is held to, in a person's words. */
export interface HeldCriterion {
  readonly id: string;
  readonly text: string;
}

/** By which checks of a draft a criterion is verified. */
export interface VerifiedCriterion {
  readonly criterion: string;
  /** Check ids; empty if no check can verify the criterion. */
  readonly checks: readonly string[];
}

/** A submission without its criteria part, or the faults of that part. */
type TakenCriteria =
  | { readonly draft: unknown; readonly verified: readonly VerifiedCriterion[] }
  | { readonly faults: readonly string[] };

/** The form of a draft of a change that is held to criteria (JSON Schema). */
export const heldDraftForm = {
  ...intentDraftForm,
  properties: {
    ...intentDraftForm.properties,
    verified: {
      type: 'array',
      minItems: 1,
      description: 'every criterion once, and the checks that fail as long as it does not hold',
      items: {
        type: 'object',
        properties: {
          criterion: { type: 'string', minLength: 1, description: 'its id' },
          checks: {
            type: 'array',
            items: { type: 'string', minLength: 1, description: 'id of a check of this draft' },
            description: 'empty if no check can show whether it holds: then a person is notified',
          },
        },
        required: ['criterion', 'checks'],
        additionalProperties: false,
      },
    },
  },
  required: [...intentDraftForm.required, 'verified'],
};

/** Renders the criteria for the drafting model. */
export function criteriaText(criteria: readonly HeldCriterion[]): string {
  const lines = criteria.map(({ id, text }) => `- ${id}: ${text}`);
  return [
    'The change is held to these criteria. Each is verified by checks of the draft alone, which run when the work is done: say under `verified` which.',
    ...lines,
  ].join('\n');
}

const maxChecks = 20;

/**
 * Removes the criteria part of a submission and validates it: each criterion appears once, with checks that the
 * submission drafts. A criterion without checks is accepted as unverified. One with checks needs a `testSuite` among
 * them if the test runner is known (`withoutSuite`). Pure.
 */
export function keepVerified(
  submitted: unknown,
  criteria: readonly HeldCriterion[],
  runner?: ProposedCheck,
): TakenCriteria {
  const { verified, ...draft } = (submitted ?? {}) as Readonly<Record<string, unknown>>;
  const told = Array.isArray(verified) ? verified.slice(0, criteria.length + 1).map(toVerified) : [];
  if (told.length === 0 || told.includes(undefined))
    return { faults: ['`verified` is no list of criteria with the ids of their checks'] };
  const known = new Set(idsOf(draft.checks));
  const faults = criteria.flatMap(({ id }) => {
    const found = told.filter((one) => one?.criterion === id).length;
    return found === 1 ? [] : [`\`verified\` names the criterion \`${id}\` ${found} times, expected once`];
  });
  for (const one of told) {
    if (one === undefined) continue;
    const { criterion, checks } = one;
    if (!criteria.some(({ id }) => id === criterion))
      faults.push(`\`verified\` names \`${criterion.slice(0, 80)}\`, which is none of the criteria`);
    const strange = checks.find((id) => !known.has(id));
    if (strange !== undefined)
      faults.push(`\`verified\` names the check \`${strange.slice(0, 80)}\`, which the draft does not have`);
  }
  const drafted = Array.isArray(draft.checks) ? (draft.checks as readonly unknown[]).map(toCheck) : [];
  for (const { criterion } of withoutSuite(
    told.filter((one) => one !== undefined),
    drafted,
    runner,
  ))
    faults.push(
      `\`verified\` ties the criterion \`${criterion.slice(0, 80)}\` to no check of kind testSuite, and the test runner is known${runner === undefined ? '' : ` (${runner.found})`}: tie it to a testSuite${runner === undefined ? '' : `, for example \`${runner.command}\``}`,
    );
  if (faults.length > 0) return { faults };
  return { draft, verified: told.filter((one) => one !== undefined) };
}

/** Fields of a check that show whether it counts tests. */
export interface CriterionCheck {
  readonly id?: string | undefined;
  readonly kind?: string | undefined;
  readonly command?: string | undefined;
}

/**
 * The criteria that have checks but no `testSuite` among them, although the test runner is known: by the files of the
 * project (`runner`) or because one of these checks starts it. Only a suite's report shows whether a test that failed
 * before passes because it was rewritten. Pure.
 */
export function withoutSuite<T extends { readonly checks: readonly string[] }>(
  criteria: readonly T[],
  checks: readonly CriterionCheck[],
  runner?: ProposedCheck,
): readonly T[] {
  return criteria.filter((one) => {
    const own = checks.filter(({ id }) => id !== undefined && one.checks.includes(id));
    const isKnown = runner !== undefined || own.some(({ command = '' }) => startsKnownRunner(command));
    return isKnown && own.length > 0 && !own.some(({ kind }) => kind === 'testSuite');
  });
}

function toCheck(value: unknown): CriterionCheck {
  const { id, kind, command } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return { id: String(id), kind: String(kind), command: typeof command === 'string' ? command : '' };
}

function toVerified(value: unknown): VerifiedCriterion | undefined {
  const { criterion, checks } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof criterion !== 'string' || !Array.isArray(checks) || checks.length > maxChecks) return undefined;
  if (!checks.every((one) => typeof one === 'string')) return undefined;
  return { criterion, checks: [...new Set(checks as readonly string[])] };
}

function idsOf(checks: unknown): readonly string[] {
  if (!Array.isArray(checks)) return [];
  return checks.flatMap((one) => {
    const { id } = (one ?? {}) as Readonly<Record<string, unknown>>;
    return typeof id === 'string' ? [id] : [];
  });
}
