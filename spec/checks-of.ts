import type { Check, IntentSpec, VerificationPlan } from '../core/interfaces/intentspec.gen.ts';
import type { Partly } from './facts.ts';

/** The four lists in the order in which their stages run. */
export const checkLists = [
  'fastChecks',
  'integrationChecks',
  'securityChecks',
  'releaseChecks',
] as const satisfies readonly (keyof VerificationPlan)[];
export type CheckList = (typeof checkLists)[number];

export interface ListedCheck {
  readonly list: CheckList;
  readonly path: string;
  readonly check: Partly<Check>;
}

/** Every check that a document lists, with its pointer; what is missing or of the wrong type is left out. */
export function checksOf(
  spec: Partly<IntentSpec>,
  lists: readonly CheckList[] = checkLists,
): readonly ListedCheck[] {
  const plan = spec.acceptance?.verificationPlan;
  return lists.flatMap((list) =>
    (plan?.[list] ?? []).flatMap((check, index) =>
      check ? [{ list, path: `/acceptance/verificationPlan/${list}/${index}`, check }] : [],
    ),
  );
}

/** Every constraint key that a ToolRule may have. */
const toolConstraintKeys = [
  'writeRoots',
  'denyPaths',
  'allowCommands',
  'denySubstrings',
  'maxOutputBytes',
  'maxWriteBytes',
  'maxResultBytes',
  'networkReason',
  'networkHosts',
] as const;
export type ToolConstraintKey = (typeof toolConstraintKeys)[number];

/** Narrows to a known key; own names of the list only, so `constructor` is unknown. */
export function isToolConstraintKey(key: string): key is ToolConstraintKey {
  return (toolConstraintKeys as readonly string[]).includes(key);
}
