/* Which policy fields a draft may make stricter. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../core/base/json-pointer.ts';
import type { IntentSpec } from '../core/interfaces/intentspec.gen.ts';

/** The strictness order of one field of the spec: which of two values is at least as strict. */
export interface StrictField {
  /** Path of the field, with its members joined by dots. */
  readonly field: string;
  /** Whether a value is one at all, and as strict as `given`. */
  readonly holds: (asked: unknown, given: unknown) => boolean;
}

/** Named values, the loosest first; a value that is not among them is never granted. */
function inOrder(...values: readonly unknown[]): StrictField['holds'] {
  return (asked, given) => values.includes(asked) && values.indexOf(asked) >= values.indexOf(given);
}

/** Whole numbers, the lowest the strictest, down to `least`. */
function lower(least: number): StrictField['holds'] {
  return (asked, given) => isCount(asked) && asked >= least && (!isCount(given) || asked <= given);
}

/** Whole numbers, the highest the strictest, up to `most`. */
function higher(most: number): StrictField['holds'] {
  return (asked, given) => isCount(asked) && asked <= most && (!isCount(given) || asked >= given);
}

/** Lists of words; fewer words are stricter. `empty` states how strict the empty list is. */
function fewer(empty: 'strictest' | 'loosest' | 'none'): StrictField['holds'] {
  return (asked, given) => {
    if (!isWords(asked)) return false;
    if (asked.length === 0) return empty === 'strictest' || (empty === 'loosest' && isEmpty(given));
    if (empty === 'loosest' && isEmpty(given)) return true;
    return isWords(given) && asked.every((word) => given.includes(word));
  };
}

/** Lists of words, of which more are stricter. */
const more: StrictField['holds'] = (asked, given) =>
  isWords(asked) && (isWords(given) ? given : []).every((word) => asked.includes(word));

const yes = inOrder(false, true);

/**
 * Every policy field that a draft may request, with the direction in which it may change the values of profile and
 * policy commit. A field that is not listed cannot be requested.
 */
export const strictFields: readonly StrictField[] = [
  { field: 'acceptance.qualityGates.requireNewTestsWhenBugfix', holds: yes },
  { field: 'acceptance.qualityGates.maxAllowedRegression', holds: inOrder('medium', 'low', 'none') },
  { field: 'constraints.security.networkPolicy', holds: inOrder('allow', 'deny') },
  {
    field: 'constraints.security.dependencyPolicy',
    holds: inOrder('allow', 'allow-with-review', 'no-new'),
  },
  { field: 'constraints.privacy.dataClassesAllowed', holds: fewer('strictest') },
  { field: 'constraints.privacy.redactionRequired', holds: yes },
  { field: 'constraints.privacy.retentionDays', holds: lower(1) },
  { field: 'constraints.licensing.allowedSpdx', holds: fewer('loosest') },
  { field: 'constraints.licensing.forbidNewLicenses', holds: yes },
  { field: 'constraints.resources.maxWallClockSeconds', holds: lower(60) },
  {
    field: 'constraints.resources.maxCostUnits',
    // 0 is unlimited (`constraints.resources`).
    holds: (asked, given) =>
      isCount(asked) && asked > 0 && (!isCount(given) || given === 0 || asked <= given),
  },
  { field: 'risk.humanInLoop.required', holds: yes },
  { field: 'risk.humanInLoop.minApprovers', holds: higher(10) },
  { field: 'evidence.strategy', holds: inOrder('open-web', 'pinned-official', 'repo-first') },
  { field: 'evidence.trustTiers', holds: fewer('none') },
  { field: 'evidence.domainAllowlistMode', holds: inOrder('disabled', 'allowlist-only') },
  { field: 'evidence.allowedDomains', holds: fewer('strictest') },
  { field: 'evidence.blockedDomains', holds: more },
  { field: 'evidence.minCitationsPerDecision', holds: higher(20) },
  { field: 'security.secrets.policy', holds: inOrder('allow-scoped', 'read-only-scoped', 'deny-all') },
  { field: 'security.secrets.allowedScopes', holds: fewer('strictest') },
  { field: 'security.promptInjection.treatRetrievedContentAsUntrusted', holds: yes },
  { field: 'security.promptInjection.enforceOutputSchema', holds: yes },
  { field: 'security.promptInjection.disallowInstructionFromEvidence', holds: yes },
  { field: 'security.outputHandling.encodingPolicy', holds: inOrder('none', 'contextual-escape') },
  { field: 'security.outputHandling.noDirectEval', holds: yes },
  { field: 'execution.retry.maxRetries', holds: lower(0) },
  { field: 'execution.concurrency.maxParallelTasks', holds: lower(1) },
  { field: 'artifacts.retention.days', holds: lower(1) },
  { field: 'provenance.requireSlsaProvenance', holds: yes },
  { field: 'provenance.requireSbom', holds: yes },
  // A public log exposes the repository's activity to everyone, so it has no rank as stricter.
  { field: 'provenance.transparencyLog.mode', holds: inOrder('none', 'internal-ledger') },
  { field: 'objmodel.decisionPolicy.abandonOnSecurityGateFail', holds: yes },
  { field: 'objmodel.decisionPolicy.rollbackOnProvenanceFail', holds: yes },
];

/** A draft's request to change a policy field. */
export interface PolicyWish {
  readonly field: string;
  readonly value: unknown;
}

/** A wish and what became of it: granted, where it is stricter; else what is given stays. */
export interface CheckedWish {
  readonly field: string;
  readonly asked: unknown;
  readonly given: unknown;
  readonly granted: boolean;
}

/**
 * Returns the spec with the stricter values that were requested. `given` holds the values that apply without a
 * request: the document with its defaults. A request that is looser, or not valid for the field, has no effect. Pure.
 */
export function tighten(
  document: IntentSpec,
  given: object,
  wishes: readonly PolicyWish[],
): { readonly document: IntentSpec; readonly judged: readonly CheckedWish[] } {
  const judged: CheckedWish[] = [];
  let tightened: unknown = document;
  const before = new Map<string, unknown>();
  for (const { field, value } of wishes) {
    const row = strictFields.find((one) => one.field === field);
    const path = field.split('.');
    const now = before.has(field) ? before.get(field) : valueAt(given, path);
    const granted = row?.holds(value, now) === true;
    if (granted && isDeepStrictEqual(value, now)) continue;
    judged.push({ field, asked: value, given: now, granted });
    if (!granted) continue;
    before.set(field, value);
    tightened = withValue(tightened, path, value);
  }
  return { document: tightened as IntentSpec, judged };
}

export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    root,
  );
}

function withValue(root: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const record = isRecord(root) ? root : {};
  return { ...record, [name]: withValue(record[name], rest, value) };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

function isEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}
