import { compare, valid } from '@renovatebot/pep440';
import type { Ecosystem } from '../packages/package-set.ts';
import { compareComposer } from './order/composer-order.ts';
import { compareMaven } from './order/maven-order.ts';
import { compareRubyGems } from './order/rubygems-order.ts';
import { compareSemver } from './order/semver-order.ts';

/** Negative, 0 or positive; `undefined` where one of the two is no version of that order. */
export type VersionOrder = (left: string, right: string) => number | undefined;

const maxLength = 256;

const orders: Readonly<Record<Ecosystem, VersionOrder>> = {
  npm: compareSemver,
  cargo: compareSemver,
  go: compareSemver,
  pypi: comparePep440,
  maven: compareMaven,
  rubygems: compareRubyGems,
  packagist: compareComposer,
};

/** The order of an ecosystem's versions; texts over 256 characters are not compared. */
export function versionOrder(ecosystem: Ecosystem): VersionOrder {
  const order = orders[ecosystem];
  return (left, right) =>
    left === '' || right === '' || left.length > maxLength || right.length > maxLength
      ? undefined
      : order(left, right);
}

/** PEP 440. The library reads numbers as doubles, so versions with longer numbers are not compared. */
function comparePep440(left: string, right: string): number | undefined {
  const [one, other] = [left.trim(), right.trim()];
  if (/\d{16}/.test(`${one} ${other}`) || !valid(one) || !valid(other)) return undefined;
  return compare(one, other);
}
