import { compareNumbers } from '../../readers/advisories/order/numbers-order.ts';

/** A version as a tool says it. */
export interface Version {
  /** One to four numbers. */
  readonly numbers: readonly number[];
  /** A release candidate and the like, which comes before the release of the same numbers. */
  readonly early: boolean;
  /** As printed. */
  readonly text: string;
}

const printed =
  /(?<![\d.])(\d{1,6}(?:\.\d{1,6}){0,3})(?:_\d+)?((?:[-.+]?(?:rc|alpha|beta|pre|preview|nightly|dev|canary|ea)(?![a-z])[-.]?\d*|[ab]\d+)?)/i;

/** The first version in a tool's output; `undefined` where there is none. Java's `1.8` is 8. */
export function findVersion(output: string): Version | undefined {
  const found = printed.exec(output.slice(0, 4096));
  if (!found) return undefined;
  const [, numbers = '', suffix = ''] = found;
  return { numbers: numbers.split('.').map(Number), early: suffix !== '', text: `${numbers}${suffix}` };
}

/**
 * Whether a version meets a demand of as many numbers as were written: `>3.11` begins at 3.12, `=22` is any 22, `~3.11`
 * any 3.11 from there on.
 */
export function meets(
  found: Version,
  operator: '>=' | '>' | '=' | '^' | '~',
  wanted: readonly number[],
): boolean {
  const whole = compareNumbers(found.numbers, wanted);
  const atLeast = whole > 0 || (whole === 0 && !found.early);
  const same = (length: number): boolean => compareNumbers(found.numbers, wanted, length) === 0;
  switch (operator) {
    case '>=':
      return atLeast;
    case '>':
      return compareNumbers(found.numbers, wanted, wanted.length) > 0;
    case '=':
      return same(wanted.length) && atLeast;
    case '~':
      return atLeast && same(Math.min(2, wanted.length));
    case '^': {
      // As packages have it: below 1.0 the first number that is not 0 is the one that may not change.
      const leading = wanted.findIndex((number) => number !== 0);
      return atLeast && same(leading < 0 ? wanted.length : leading + 1);
    }
  }
}
