import { compare, explain } from '@renovatebot/pep440';

/** Order of PEP 440, normalisation included. `undefined` if one of the two is no such version. */
export function comparePep440(left: string, right: string): number | undefined {
  const versions = [left.trim(), right.trim()] as const;
  return versions.every((version) => explain(version)) ? compare(...versions) : undefined;
}
