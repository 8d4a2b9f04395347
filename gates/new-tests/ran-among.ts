import type { CheckOutcome } from '../../core/contract/check-runner.ts';

/** A test case that a patch adds, as rule `new-tests` names it. */
export interface NewCase {
  readonly name: string;
  readonly language: string;
  /** A row of a table, or what a layout pattern found, and not a declared case. */
  readonly isRow?: true;
}

/** What the report of a suite says of new cases: one ran, none did, or it does not say. */
export type RanAmong = 'ran' | 'did-not-run' | 'unknown';

/** Reports cut long names. */
const comparedLength = 60;

/** Whether a suite ran one of these cases. Letters and digits count: runners write names in their own way. Pure. */
export function ranAmong(
  cases: readonly NewCase[],
  executed: Pick<NonNullable<CheckOutcome['executed']>, 'names' | 'skipped'> | undefined,
): RanAmong {
  if (executed === undefined || executed.names.size === 0) return 'unknown';
  const wanted = cases.map(({ name }) => (isWorkedOut(name) ? '' : plain(name).slice(0, comparedLength)));
  if (wanted.includes('')) return 'unknown';
  const idle = new Set(executed.skipped);
  const reported = [...executed.names].filter((name) => !idle.has(name)).map(plain);
  return wanted.some((name) => reported.some((one) => one.includes(name))) ? 'ran' : 'did-not-run';
}

/** A name that is worked out when tests run cannot be looked for. */
function isWorkedOut(name: string): boolean {
  return /[\\%$#{]/.test(name);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
