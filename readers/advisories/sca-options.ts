/* Reads the options of the rules `sca` and `sbom`. */
import { endOfDay } from '../../core/base/clock.ts';
import type { AdvisorySeverity } from './advisory.ts';

/** An advisory that the repository's people look away from until a day. */
export interface IgnoredAdvisory {
  /** Of the advisory or of one of its aliases. */
  readonly id: string;
  /** Package URL without version; absent: whatever package it is about. */
  readonly package?: string;
  /** `YYYY-MM-DD`, the last day on which it holds. */
  readonly until: string;
  readonly reason: string;
}

/** `[rules.sca]` of the config at the policy commit. */
export interface ScaOptions {
  /** The least severity that fails the gate. */
  readonly failOn: AdvisorySeverity;
  readonly maxAgeDays: number;
  readonly ignore: readonly IgnoredAdvisory[];
  /** Globs of dependency files that are not looked at. */
  readonly exclude: readonly string[];
}

type Options = Readonly<Record<string, unknown>>;
const maxIgnored = 500;
const known = new Set(['fail_on', 'max_age_days', 'ignore', 'exclude']);

/** Reads the options, or returns every problem found in them. */
export function readScaOptions(options: Options): ScaOptions | { readonly problems: readonly string[] } {
  const problems = Object.keys(options)
    .filter((key) => !known.has(key))
    .map((key) => `no such option \`${key}\``);
  const { fail_on: failOn = 'high', max_age_days: maxAgeDays = 30, ignore = [] } = options;
  if (failOn !== 'low' && failOn !== 'medium' && failOn !== 'high' && failOn !== 'critical')
    problems.push('`fail_on` is none of `low`, `medium`, `high` and `critical`');
  if (!Number.isInteger(maxAgeDays) || Number(maxAgeDays) < 1 || Number(maxAgeDays) > 3650)
    problems.push('`max_age_days` is no integer from 1 to 3650');
  const { exclude, problem } = readExclude(options);
  if (problem !== undefined) problems.push(problem);
  const listed = Array.isArray(ignore) ? ignore : [];
  if (!Array.isArray(ignore) || listed.length > maxIgnored)
    problems.push(`\`ignore\` is no list of at most ${maxIgnored} tables`);
  const ignored = listed.slice(0, maxIgnored).map((entry: unknown, index) => {
    const one = readIgnored(entry);
    if (typeof one === 'string') problems.push(`\`ignore[${index}]\`: ${one}`);
    return one;
  });
  if (problems.length > 0) return { problems };
  return {
    failOn: failOn as AdvisorySeverity,
    maxAgeDays: Number(maxAgeDays),
    ignore: ignored.filter((one) => typeof one !== 'string'),
    exclude,
  };
}

/** `exclude` of `[rules.sca]` or `[rules.sbom]`: dependency files that are fixtures, not dependencies. */
export function readExclude({ exclude = [] }: Options): {
  readonly exclude: readonly string[];
  readonly problem?: string;
} {
  const isList =
    Array.isArray(exclude) &&
    exclude.length <= 256 &&
    exclude.every((glob) => typeof glob === 'string' && glob !== '' && glob.length <= 1024);
  return isList
    ? { exclude: exclude as readonly string[] }
    : { exclude: [], problem: '`exclude` is no list of at most 256 globs' };
}

/**
 * The entry that looks away from an advisory about a package, and whether it still does at a time. Of several the one
 * that lasts longest.
 */
export function ignoredBy(
  { ignore }: Pick<ScaOptions, 'ignore'>,
  ids: readonly string[],
  purls: readonly string[],
  nowMs: number | undefined,
): { readonly entry: IgnoredAdvisory; readonly isInForce: boolean } | undefined {
  const about = ignore
    .filter((entry) => ids.includes(entry.id))
    .filter((entry) => entry.package === undefined || purls.every((purl) => isOf(purl, entry.package ?? '')))
    .sort((a, b) => (a.until < b.until ? 1 : -1));
  const [entry] = about;
  if (entry === undefined) return undefined;
  // Without a current time, the entry cannot be shown to be in force.
  return { entry, isInForce: nowMs !== undefined && nowMs < endOfDay(entry.until) };
}

function isOf(purl: string, pattern: string): boolean {
  return purl.split(/[@?]/, 1)[0] === pattern.split(/[@?]/, 1)[0];
}

function readIgnored(entry: unknown): IgnoredAdvisory | string {
  if (typeof entry !== 'object' || entry === null) return 'expected a table with `id`, `until` and `reason`';
  const { id, until, reason, package: about, ...rest } = entry as Options;
  const [surplus] = Object.keys(rest);
  if (surplus !== undefined) return `no such key \`${surplus}\``;
  if (typeof id !== 'string' || !/^[\w.:-]{1,200}$/.test(id)) return 'no `id` of an advisory';
  if (typeof until !== 'string' || Number.isNaN(endOfDay(until)))
    return 'no day `until` in the form "YYYY-MM-DD"';
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > 1000) return 'no `reason`';
  if (about === undefined) return { id, until, reason };
  if (typeof about !== 'string' || !/^pkg:[a-z]+\/[^\s@?#]+$/.test(about.replace('/%40', '/')))
    return '`package` is no package URL without version';
  return { id, until, reason, package: about };
}
