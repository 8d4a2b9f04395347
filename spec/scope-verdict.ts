/* Decides whether a path is in the write scope of a spec. */
import { compileGlob, hasGlobCharacters } from '../core/base/glob.ts';
import type { Scope } from '../core/interfaces/patch-set.ts';

/** `forbidden` and `outside` both refuse; they differ in what the person should change. */
type ScopeVerdict = 'in' | 'forbidden' | 'outside';

/** By lockfile name, the manifest in the same directory that it follows into scope. */
const lockfileManifests: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  'package-lock.json': 'package.json',
  'pnpm-lock.yaml': 'package.json',
  'yarn.lock': 'package.json',
  'go.sum': 'go.mod',
  'poetry.lock': 'pyproject.toml',
  'uv.lock': 'pyproject.toml',
  'Cargo.lock': 'Cargo.toml',
});

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

/** `dir`, `dir/` and `dir/**` match the subtree; so does a pattern with a plain name as its last segment. */
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
