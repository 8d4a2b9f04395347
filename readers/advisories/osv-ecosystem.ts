import type { Ecosystem } from '../packages/package-set.ts';

const names: Readonly<Record<string, Ecosystem>> = {
  npm: 'npm',
  PyPI: 'pypi',
  'crates.io': 'cargo',
  Go: 'go',
  Maven: 'maven',
  RubyGems: 'rubygems',
  Packagist: 'packagist',
};

/** The ecosystem that OSV calls `name`; what follows a colon names a repository of it (`Maven:https://…`). */
export function ecosystemOfOsv(name: string): Ecosystem | undefined {
  const [base = ''] = name.split(':', 1);
  return Object.hasOwn(names, base) ? names[base] : undefined;
}

/** A package name as `LockedPackage.name` writes it. */
export function normalName(ecosystem: Ecosystem, name: string): string {
  if (ecosystem === 'pypi') return name.toLowerCase().replace(/[-_.]+/g, '-');
  // npm has names with capitals from before they were forbidden: they are other packages.
  return ecosystem === 'packagist' ? name.toLowerCase() : name;
}
