/* The effective write scope of a spec. */
import { hasGlobCharacters, normalisePattern } from '../../core/base/glob.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';

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

/**
 * Endings that make a word without a slash a file name; a closed list, because `console.log` and `req.body` are none.
 */
const fileEndings = new Set(
  `astro bash bat bzl c cc cfg cjs clj cmake conf cpp cs css csv cts cxx dart ex exs fish go gradle graphql groovy h hbs hcl
  hpp hs html hxx ini ipynb java jl js json json5 jsonc jsx kt kts less lock lua m md mdx mjs ml mod mts nix patch php pl plist proto ps1 py
  pyi r rb rs rst sass scala scss sh snap sol sql sum svelte svg swift tap tf toml ts tsx txt vue xml yaml yml zig zsh`.split(
    /\s+/,
  ),
);
const bareFileNames = new Set(
  'brewfile codeowners dockerfile gemfile jenkinsfile justfile license makefile notice procfile rakefile readme vagrantfile'.split(
    ' ',
  ),
);
/** Product names that look like script files. */
const proseNames = new Set(
  'node.js next.js nuxt.js vue.js react.js express.js three.js d3.js ember.js backbone.js'.split(' '),
);

/**
 * Returns the path-like words of one `inScope` or `outOfScope` entry, in order, as repository-relative patterns.
 * Prose gives none. `rootNames` (names at the root of the base tree) distinguishes `src` and `lib/http` from `auth`
 * and `read/write`. Without it a doubtful word counts as a path. A scope that is too narrow refuses a change; one
 * that is too wide does not.
 */
export function pathTokensOf(entry: string, rootNames?: ReadonlySet<string>): readonly string[] {
  const words = entry.trim().split(/\s+/);
  const found: string[] = [];
  for (const word of words) {
    const isQuoted = /^[([{<]*[`'"]/.test(word);
    const token = stripPunctuation(word);
    const path = normalisePattern(token);
    if (path !== undefined && isPathLike(token, path, isQuoted || words.length === 1, rootNames))
      found.push(path);
  }
  return found;
}

function stripPunctuation(word: string): string {
  const inner = word.replace(/^[`'"(<,;:]+/, '').replace(/[`'">,;:!]+$/, '');
  const unclosed = inner.endsWith(')') && !inner.includes('(') ? inner.replace(/\)+$/, '') : inner;
  return unclosed
    .replace(/[`'">,;:!]+$/, '')
    .replace(/(?<=[^./])\.+$/, '')
    .replace(/[`'"]+$/, '')
    .replace(/(?<=[\w/])\?$/, '');
}

function isPathLike(
  token: string,
  path: string,
  isAlone: boolean,
  rootNames: ReadonlySet<string> | undefined,
): boolean {
  if (token.includes('://') || token.includes('(') || /^[^/]+@[^/]+$/.test(token)) return false;
  const first = path.split('/')[0] ?? '';
  const last = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  const isShaped =
    token.startsWith('./') || path.endsWith('/') || (hasGlobCharacters(path) && /[/.*]/.test(path));
  if (isShaped) return /[\p{L}\p{N}*]/u.test(path);
  if (!path.includes('/')) {
    if (isFileName(last)) return true;
    if (!isAlone || !/^[\p{L}\p{N}._@-]+$/u.test(path)) return false;
    return rootNames === undefined ? true : rootNames.has(path);
  }
  if (!/^[\p{L}\p{N}._@+~#,=[\]{}$/-]+$/u.test(path)) return false;
  if (path.startsWith('@') && !isFileName(last)) return rootNames?.has(first) ?? false;
  return isAlone || isFileName(last) || rootNames === undefined || rootNames.has(first);
}

function isFileName(name: string): boolean {
  const lower = name.toLowerCase();
  if (proseNames.has(lower)) return false;
  if (bareFileNames.has(lower))
    return lower !== 'license' && lower !== 'notice' && lower !== 'readme'
      ? true
      : name === name.toUpperCase();
  if (/^\.[a-z][\w.-]*$/.test(lower)) return true;
  const dot = lower.lastIndexOf('.');
  return dot > 0 && /\p{L}/u.test(lower.slice(0, dot)) && fileEndings.has(lower.slice(dot + 1));
}
