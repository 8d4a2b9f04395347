import { scryptSync } from 'node:crypto';

/** What `[rules.secrets]` of the config at the policy commit allows. */
export interface Allowance {
  /** Why a finding on this value is suppressed; `undefined` where it stands. */
  reasonFor(digest: string, markedLine: boolean): 'config' | 'marker' | undefined;
  digestOf(value: string): string;
  /** What is wrong with the options; each fails the rule. */
  readonly problems: readonly string[];
}

/** On a line, or the line above, at base: the value there is meant to be seen. */
export const marker = 'writ:allow-secret';

const digestForm = /^scrypt:[0-9a-f]{32}$/;
const known = new Set(['allow', 'inline', 'digest_key']);

/**
 * Reads the options `allow` (digests, as findings show them), `inline` (whether `writ:allow-secret` at base counts,
 * default true) and `digest_key`. Digests are stretched and salted with that key: a weak password is not to be guessed
 * from a report.
 */
export function readAllowance(options: Readonly<Record<string, unknown>>): Allowance {
  const { allow = [], inline = true, digest_key: key = '' } = options;
  const problems = Object.keys(options)
    .filter((name) => !known.has(name))
    .map((name) => `\`${name}\` is no option; known are ${[...known].map((one) => `\`${one}\``).join(', ')}`);
  const digests = Array.isArray(allow) ? allow : [];
  if (!Array.isArray(allow) || digests.some((one) => typeof one !== 'string' || !digestForm.test(one)))
    problems.push('`allow` is expected to be a list of `scrypt:` digests as findings show them');
  if (typeof inline !== 'boolean') problems.push('`inline` is expected to be true or false');
  if (typeof key !== 'string') problems.push('`digest_key` is expected to be text');
  const allowed = new Set(digests);
  const made = new Map<string, string>();
  return {
    problems,
    reasonFor(digest, markedLine) {
      if (allowed.has(digest)) return 'config';
      return markedLine && inline === true ? 'marker' : undefined;
    },
    digestOf(value) {
      const before = made.get(value);
      if (before !== undefined) return before;
      const salt = `writ secret finding 1\0${key}`;
      const hex = scryptSync(Buffer.from(value, 'latin1'), salt, 16, { N: 1024, r: 8, p: 1 }).toString('hex');
      const digest = `scrypt:${hex}`;
      made.set(value, digest);
      return digest;
    },
  };
}
