import type { Finding } from '../../core/contract/finding.ts';

/** What tools print when a package or a program is not there; group 1 is its name. Each is linear. */
const signs: readonly RegExp[] = [
  /Cannot find (?:module|package) ['"]([^'"\x00-\x1f\x7f]{1,200})['"]/g,
  /No module named ['"]?([\w.-]{1,200})/g,
  /^(?:# )?(?:[\w./-]{0,40}sh|env): (?:line )?(?:\d{1,6}: )?['"‘]?([\w@.+-]{1,100})['"’]?: (?:command )?not found/gm,
  /^(?:# )?env: ['"‘]?([\w@.+-]{1,100})['"’]?: No such file or directory/gm,
  /no required module provides package ([\w.~/-]{1,200})/g,
  /no matching package named `([\w-]{1,200})` found/g,
];

/**
 * Explains a failed check whose output looks as if an untracked dependency were missing; `undefined` where it does not,
 * and for files of the repository itself (relative or absolute specifiers). A note: it changes no outcome.
 */
export function dependenciesMissingHint(
  output: Uint8Array | string,
  skipped: readonly string[] = [],
): Finding | undefined {
  const text = typeof output === 'string' ? output : Buffer.from(output).toString('utf8');
  for (const sign of signs) {
    const name = firstForeignName(text, sign);
    if (name === undefined) continue;
    const remedy =
      skipped.length > 0
        ? skipped.join('; ')
        : 'set `[workspace] prepare` or `[workspace] share` in `.writ/config.toml` at the policy commit';
    return {
      rule: 'check-outcome',
      severity: 'note',
      message: `\`${name}\` was not found, which git may not track: ${remedy}`,
      detail: { code: 'WORKSPACE_DEPENDENCIES_MISSING', name },
    };
  }
  return undefined;
}

function firstForeignName(text: string, sign: RegExp): string | undefined {
  for (const [, name] of text.matchAll(sign)) {
    if (name !== undefined && !/^(?:[./#]|node:|file:|[A-Za-z]:\\)/.test(name)) return name;
  }
  return undefined;
}
