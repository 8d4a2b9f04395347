import { plainLine } from './plain-text.ts';
import type { Tally } from './tally.ts';
import type { Contradiction } from './test-report.ts';

/** A whole number as tools write it, in an attribute or as a text: blanks around it, a sign, decimals of zero. */
const numeral = /^\s*\+?(\d{1,15})(?:\.0{1,15})?\s*$/;

/**
 * The count that a report claims under `label`; 0 for an absent or empty one. What is there and is no count contradicts
 * the report, since it may hide a failure.
 */
export function claimedCount(
  tally: Tally,
  label: string,
  value: unknown,
  severity: Contradiction['severity'] = 'error',
): number {
  if (value === undefined || value === null || value === '') return 0;
  const text = typeof value === 'number' ? String(value) : value;
  const count = typeof text === 'string' ? Number(numeral.exec(text)?.[1] ?? Number.NaN) : Number.NaN;
  if (!Number.isNaN(count)) return count;
  const found = typeof text === 'string' ? `\`${plainLine(text, 40)}\`` : `a ${typeof value}`;
  tally.contradict(severity, `${label}: expected a count, found ${found}`);
  return 0;
}
