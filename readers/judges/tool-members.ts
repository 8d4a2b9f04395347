/** Members of `package.json` that tools of tests and of lint read. */
export const toolMembers: readonly string[] = [
  ...[
    'jest',
    'vitest',
    'mocha',
    'ava',
    'tap',
    'nyc',
    'c8',
    'c8rc',
    'jasmine',
    'uvu',
    'tsd',
    'playwright',
    'stryker',
  ],
  ...[
    'eslintConfig',
    'eslintIgnore',
    'prettier',
    'stylelint',
    'babel',
    'xo',
    'standard',
    'lint-staged',
    'commitlint',
  ],
  ...['wireit', 'nx', 'knip', 'size-limit', 'ts-node'],
];

/** The text of those members of a `package.json`; empty where it cannot be read. */
export function toolSettings(text: string): string {
  try {
    const members: unknown = JSON.parse(text);
    if (typeof members !== 'object' || members === null) return '';
    const kept = Object.entries(members).filter(([name]) => toolMembers.includes(name));
    return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept), null, 1);
  } catch {
    return '';
  }
}
