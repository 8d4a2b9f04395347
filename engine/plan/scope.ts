import { compileGlob, hasGlobCharacters } from '../../core/base/glob.ts';
import { normalisePattern } from '../../core/base/normalise-pattern.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { Scope } from '../../core/contract/scope.ts';
import { lockfileManifests } from './lockfile-manifests.ts';
import { pathTokensOf } from './path-tokens.ts';

/** `forbidden` and `outside` both refuse; they differ in what the person should change. */
export type ScopeVerdict = 'in' | 'forbidden' | 'outside';

type SpecForScope = {
  readonly intent: Pick<EffectiveIntentSpec['intent'], 'inScope' | 'outOfScope'> & {
    readonly touchHints: Pick<EffectiveIntentSpec['intent']['touchHints'], 'files'>;
  };
  readonly metadata: {
    readonly target: { readonly repo: EffectiveIntentSpec['metadata']['target']['repo'] };
  };
};

/**
 * The effective write scope: `touchHints.files` and the path-like words of `inScope`; forbidden: those of `outOfScope` (4-resolutions,
 * Scope). A monorepo's locator is the root that every pattern is taken under. `rootNames` are the names at the root of the base tree
 * (for a monorepo: at the locator); they tell a directory from a word.
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

/** True where a run may write `path`. Forbidden wins; a lockfile follows its manifest. */
export function inScope(scope: Scope, path: string): boolean {
  return scopeVerdict(scope, path) === 'in';
}

/** Why `path` is in scope or not. */
export function scopeVerdict(scope: Scope, path: string): ScopeVerdict {
  const { writes, forbids } = compiled(scope);
  if (forbids(path)) return 'forbidden';
  if (scope.wholeRepository || writes(path)) return 'in';
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  const manifest = lockfileManifests[path.slice(directory.length)];
  if (manifest === undefined) return 'outside';
  return writes(directory + manifest) && !forbids(directory + manifest) ? 'in' : 'outside';
}

interface CompiledScope {
  readonly writes: (path: string) => boolean;
  readonly forbids: (path: string) => boolean;
}

const compiledScopes = new WeakMap<Scope, CompiledScope>();

function compiled(scope: Scope): CompiledScope {
  const known = compiledScopes.get(scope);
  if (known) return known;
  const made = { writes: anyPattern(scope.write), forbids: anyPattern(scope.forbidden) };
  compiledScopes.set(scope, made);
  return made;
}

function anyPattern(patterns: readonly string[]): (path: string) => boolean {
  const matchers = patterns.map(matcherOf);
  return (path) => matchers.some((matches) => matches(path));
}

/** `dir`, `dir/` and `dir/**` are the subtree; so is a pattern whose last segment is a plain name. */
function matcherOf(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/\/(\*\*)?$/, '');
  const isDirectory = plain !== pattern;
  if (!hasGlobCharacters(plain)) {
    const literal = plain.replace(/\\(.)/gs, '$1');
    return (path) => (!isDirectory && path === literal) || path.startsWith(`${literal}/`);
  }
  const isSubtree = isDirectory || !hasGlobCharacters(plain.slice(plain.lastIndexOf('/') + 1));
  const globs = [...(isDirectory ? [] : [pattern]), ...(isSubtree ? [`${plain}/**`] : [])].map(compileGlob);
  // `app/[id]/page.tsx` is a set to a glob and a file name to its author: both readings count.
  const isLiteral = (path: string): boolean =>
    path === pattern || (isSubtree && path.startsWith(`${plain}/`));
  return (path) => isLiteral(path) || globs.some((glob) => glob.matches(path));
}

/** A pattern as seen from the top of the repository; one that begins with `root` already stays. */
export function underRoot(root: string, pattern: string): string {
  return root === '' || pattern === root || pattern.startsWith(`${root}/`) ? pattern : `${root}/${pattern}`;
}

function unique(patterns: readonly string[]): readonly string[] {
  return [...new Set(patterns)];
}
