/* Predicts the paths that an objective will write, and finds overlaps. */
import { compileGlob, hasGlobCharacters, normalisePattern } from '../../core/base/glob.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import { inScope, scopeVerdict } from '../../spec/scope-verdict.ts';
import { pathTokensOf, underRoot } from './scope.ts';

/**
 * Returns the paths that one objective is expected to write: its path-like words that can be in scope. Returns
 * `undefined` if it names none.
 */
export type PredictWrites = (objective: string) => readonly string[] | undefined;

/** Patterns of a monorepo are relative to `root`, '' for the whole repository; `rootNames` are the names there. */
export function predictWrites(scope: Scope, root: string, rootNames?: ReadonlySet<string>): PredictWrites {
  const forbidden: Scope = { write: [], forbidden: scope.forbidden, wholeRepository: true };
  const places = new WriteIndex();
  for (const pattern of scope.write) places.claim(pattern, 0);
  const isWritable = (path: string): boolean =>
    scopeVerdict(forbidden, path) !== 'forbidden' &&
    (scope.wholeRepository || places.meets(path) || inScope(scope, path));
  return (objective) => {
    const named = pathTokensOf(objective, rootNames).map((path) => underRoot(root, path));
    const written = [...new Set(named)].filter(isWritable);
    return written.length > 0 ? written : undefined;
  };
}

interface Segment {
  readonly text: string;
  readonly isGlob: boolean;
  /** What every match begins and ends with. */
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * A path, a directory or a glob, split into segments. A plain name includes everything below it, as in a scope. A
 * name with a file extension and without a trailing slash is a file.
 */
export interface WritePattern {
  readonly text: string;
  /** The plain segments before the first glob. */
  readonly directory: readonly string[];
  readonly isPlain: boolean;
  /** True if it ends at its last segment and matches no path below it. */
  readonly isFile: boolean;
  readonly segments: readonly (Segment | '**')[];
}

/** Deeper patterns count as everything below this depth. */
const maxSegments = 32;

/** Reads a pattern that `normalisePattern` has let pass. */
export function parseWritePattern(text: string): WritePattern {
  const plain = text.replace(/\/(\*\*)?$/, '');
  const names = plain === '' ? [] : plain.split('/');
  // A set or choice across a slash is not a segment: from there on, any path may match.
  const odd = names.findIndex((name, at) => at >= maxSegments || /\{[^}]*$|\[[^\]]*$/.test(name));
  const kept = odd < 0 ? names : names.slice(0, odd);
  const firstGlob = kept.findIndex(hasGlobCharacters);
  const directory = firstGlob < 0 ? kept : kept.slice(0, firstGlob);
  const last = kept.at(-1) ?? '';
  const isSubtree = odd >= 0 || plain !== text || !(hasGlobCharacters(last) || /[^.]\.\w+$/.test(last));
  return {
    text,
    directory,
    isPlain: directory.length === kept.length,
    isFile: !isSubtree,
    segments: [
      ...kept.map((name) => (name === '**' ? name : toSegment(name))),
      ...(isSubtree ? ['**' as const] : []),
    ],
  };
}

/** Returns the directory of a glob, as a plain pattern. */
function directoryOf({ text, directory }: WritePattern): WritePattern {
  return { text, directory, isPlain: true, isFile: false, segments: [...directory.map(toSegment), '**'] };
}

/**
 * Returns false only if no path can match both. Two globs in one segment count as overlapping unless their plain ends
 * exclude it.
 */
export function patternsMeet(a: WritePattern, b: WritePattern): boolean {
  const [left, right] = [a.segments, b.segments];
  // `meets[j]` speaks of the rest of `left` from the current row on and of `right` from j on.
  let meets: boolean[] = [];
  for (let i = left.length; i >= 0; i -= 1) {
    const below = meets;
    meets = new Array<boolean>(right.length + 1).fill(false);
    for (let j = right.length; j >= 0; j -= 1) {
      const [one, other] = [left[i], right[j]];
      if (one === undefined && other === undefined) meets[j] = true;
      else if (one === '**') meets[j] = below[j] === true || meets[j + 1] === true;
      else if (other === '**') meets[j] = meets[j + 1] === true || below[j] === true;
      else if (one !== undefined && other !== undefined)
        meets[j] = below[j + 1] === true && segmentsMeet(one, other);
    }
  }
  return meets[0] === true;
}

function segmentsMeet(a: Segment, b: Segment): boolean {
  if (a.text === b.text) return true;
  if (!a.isGlob && !b.isGlob) return false;
  if (!a.isGlob) return matchesName(b, a.text);
  if (!b.isGlob) return matchesName(a, b.text);
  return (
    (a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)) &&
    (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix))
  );
}

function toSegment(text: string): Segment {
  if (!hasGlobCharacters(text)) return { text, isGlob: false, prefix: text, suffix: text };
  const suffix = /[^*?[\]{}]*$/.exec(text)?.[0] ?? '';
  return { text, isGlob: true, prefix: text.slice(0, text.search(/[*?[{]/)), suffix };
}

/** Compiled only when its plain ends leave the answer open. */
function matchesName({ text, prefix, suffix }: Segment, name: string): boolean {
  return name.startsWith(prefix) && name.endsWith(suffix) && compileGlob(text).matches(name);
}

/**
 * Returns a matcher for an entry of `touchHints.files`, relative to `root` ('' or a directory): a path, everything
 * under a directory, or a glob. Returns `undefined` if the entry is not a path in the repository.
 */
export function hintPattern(entry: string, root: string): ((path: string) => boolean) | undefined {
  const normal = normalisePattern(entry.trim());
  if (normal === undefined) return undefined;
  const isUnderRoot = root === '' || normal === root || normal.startsWith(`${root}/`);
  const pattern = isUnderRoot ? normal : `${root}/${normal}`;
  const plain = pattern.replace(/\/(?:\*\*)?$/, '');
  const isLiteral = (path: string): boolean => path === plain || path.startsWith(`${plain}/`);
  if (!hasGlobCharacters(plain)) return isLiteral;
  const start = literalStart(plain);
  const globs = plain === pattern ? [compileGlob(plain)] : [compileGlob(`${plain}/**`)];
  // `app/[id]/page.tsx` is a set to a glob and a file name to its author: both readings count.
  return (path) => isLiteral(path) || (path.startsWith(start) && globs.some((glob) => glob.matches(path)));
}

/** What every match begins with: spares most paths the automaton. */
function literalStart(pattern: string): string {
  return pattern.slice(0, pattern.search(/[*?[{\\]/));
}

/** An earlier claim that a pattern meets. */
interface Claim {
  readonly owner: number;
  /** The deeper of the two patterns. */
  readonly path: string;
}

interface Entry {
  readonly pattern: WritePattern;
  readonly owner: number;
}

interface Node {
  readonly children: Map<string, Node>;
  readonly globs: Map<string, Entry>;
  whole?: Entry;
}

/** Globs under one directory, and comparisons for one pattern, before a glob counts as its whole directory. */
const maxComparisons = 64;

/**
 * Claims on paths, by path segment. A plain path replaces all claims below it, so n claims cost at most n × 64
 * comparisons, however they overlap. Above that limit a glob counts as its whole directory, so no overlap is missed.
 */
export class WriteIndex {
  readonly #root: Node = newNode();

  /**
   * Claims `text` for `owner` (owners come in rising order) and answers claims that it meets: together with the claims
   * that those met, every earlier one.
   */
  claim(text: string, owner: number): readonly Claim[] {
    return this.#claim(parseWritePattern(text), owner);
  }

  /** True where `text` meets any claim. */
  meets(text: string): boolean {
    let found = false;
    const pattern = parseWritePattern(text);
    let left = maxComparisons;
    this.#walk(pattern, (entry, isCertain) => {
      left -= 1;
      found = isCertain || left < 0 || (entry !== undefined && patternsMeet(pattern, entry.pattern));
      return !found;
    });
    return found;
  }

  #claim(pattern: WritePattern, owner: number): readonly Claim[] {
    const found = new Map<number, string>();
    let left = maxComparisons;
    const isComplete = this.#walk(pattern, (entry, isCertain) => {
      if (!isCertain) left -= 1;
      if (left < 0 && !pattern.isPlain) return false;
      if (entry === undefined || (!isCertain && left >= 0 && !patternsMeet(pattern, entry.pattern)))
        return true;
      const isDeeper = entry.pattern.directory.length >= pattern.directory.length;
      if (entry.owner !== owner) found.set(entry.owner, isDeeper ? entry.pattern.text : pattern.text);
      return true;
    });
    const node = isComplete ? this.#nodeAt(pattern.directory) : undefined;
    if (node === undefined) return this.#claim(directoryOf(pattern), owner);
    if (pattern.isPlain) {
      const hadMore = node.children.size + node.globs.size > 0 || node.whole?.pattern.isFile === false;
      node.children.clear();
      node.globs.clear();
      // A file at a claimed directory now claims the whole directory.
      node.whole = { pattern: hadMore ? directoryOf(pattern) : pattern, owner };
    } else if (node.globs.size < maxComparisons || node.globs.has(pattern.text)) {
      node.globs.set(pattern.text, { pattern, owner });
    } else {
      return this.#claim(directoryOf(pattern), owner);
    }
    return Array.from(found, ([earlier, path]) => ({ owner: earlier, path }));
  }

  /**
   * Calls `take` with each entry that may meet `pattern`, until `take` returns false. A directory that it only passes
   * has no entry. Of the claims on whole directories around it, the deepest is enough: it was made last and met the
   * others.
   */
  #walk(pattern: WritePattern, take: (entry: Entry | undefined, isCertain: boolean) => boolean): boolean {
    let node: Node | undefined = this.#root;
    let deepest = node.whole;
    for (const name of pattern.directory) {
      for (const entry of node.globs.values()) if (!take(entry, false)) return false;
      node = node.children.get(name);
      if (node === undefined) break;
      deepest = node.whole ?? deepest;
    }
    if (deepest && !take(deepest, true)) return false;
    const below: Node[] = node === undefined ? [] : [node];
    for (let at = below.pop(); at !== undefined; at = below.pop()) {
      if (at !== node && !take(at.whole, pattern.isPlain && at.whole !== undefined)) return false;
      for (const entry of at.globs.values()) if (!take(entry, pattern.isPlain)) return false;
      for (const child of at.children.values()) below.push(child);
    }
    return true;
  }

  #nodeAt(directory: readonly string[]): Node {
    let node = this.#root;
    for (const name of directory) {
      let child = node.children.get(name);
      if (child === undefined) {
        child = newNode();
        node.children.set(name, child);
      }
      node = child;
    }
    return node;
  }
}

function newNode(): Node {
  return { children: new Map(), globs: new Map() };
}
