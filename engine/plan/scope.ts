import { normalisePattern } from '../../core/base/glob.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/scope.ts';
import { pathTokensOf } from './path-tokens.ts';

type SpecForScope = {
  readonly intent: Pick<EffectiveIntentSpec['intent'], 'inScope' | 'outOfScope'> & {
    readonly touchHints: Pick<EffectiveIntentSpec['intent']['touchHints'], 'files'>;
  };
  readonly metadata: {
    readonly target: { readonly repo: EffectiveIntentSpec['metadata']['target']['repo'] };
  };
};

/**
 * Returns the effective write scope: `touchHints.files` and the path-like words of `inScope`, with those of
 * `outOfScope` forbidden. Patterns of a monorepo are relative to its locator. `rootNames` are the names at the root
 * of the base tree (for a monorepo: at the locator); they distinguish a directory from a word.
 */
export function effectiveScope(spec: SpecForScope, rootNames?: ReadonlySet<string>): Scope {
  const { intent, metadata } = spec;
  const root = scopeRootOf(metadata.target.repo);
  const hints = intent.touchHints.files.flatMap((pattern) => normalisePattern(pattern.trim()) ?? []);
  const inside = intent.inScope.flatMap((entry) => pathTokensOf(entry, rootNames));
  const outside = intent.outOfScope.flatMap((entry) => pathTokensOf(entry, rootNames));
  const write = unique([...hints, ...inside].map((pattern) => underRoot(root, pattern)));
  const forbidden = unique(outside.map((pattern) => underRoot(root, pattern)));
  // A hint that names no place in the repository (`../x`) still is a wish to be narrow.
  const names = write.length + intent.touchHints.files.length;
  if (names > 0) return { write, forbidden, wholeRepository: false };
  return root === ''
    ? { write: [], forbidden, wholeRepository: true }
    : { write: [`${root}/`], forbidden, wholeRepository: false };
}

/** The directory that the scope is confined to, '' for the whole repository. */
export function scopeRootOf(repo: EffectiveIntentSpec['metadata']['target']['repo']): string {
  if (repo.type !== 'monorepo') return '';
  return repo.locator
    .replace(/:.*$/s, '')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

/** A pattern as seen from the top of the repository; one that begins with `root` already stays. */
export function underRoot(root: string, pattern: string): string {
  return root === '' || pattern === root || pattern.startsWith(`${root}/`) ? pattern : `${root}/${pattern}`;
}

function unique(patterns: readonly string[]): readonly string[] {
  return [...new Set(patterns)];
}
