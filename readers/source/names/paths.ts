/* Resolves which functions of libraries an expression may refer to. */
import type { SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Binding, Names } from './names.ts';

/** Where the names on a way were given, the nearest one first. */
interface Origin {
  readonly at: number;
  readonly before: Origin | undefined;
}

/** One function or value of the language or a library that an expression may refer to: `eval`, `os.system`. */
export interface Way {
  readonly path: string;
  readonly origin?: Origin | undefined;
}

/** Follows expressions within one question. */
export interface Follow {
  ways(node: SyntaxNode | undefined): readonly Way[];
  /** The same for a node that the grammar does not call a name by itself. */
  name(node: SyntaxNode): readonly Way[];
  /** Counts one step; returns false after too many in one query. */
  step(): boolean;
}

/**
 * How a language's expressions lead to the names of its libraries. Its query `values` captures what an expression may
 * be: each `@choice`; the `@part` of an `@object`, or its entry under a `@key`; the result of a called `@target`, which
 * has a `@list` of arguments.
 */
export interface PathLanguage {
  /** The value of a name that the file does not give. */
  free(name: string): string | undefined;
  /** The part of a value, also one that a name is given (`const { exec } = value`); absent: parts are not followed. */
  part?(value: SyntaxNode, part: string, follow: Follow, isKey: boolean): readonly Way[];
  /** What the text of a key comes to, where it is known. */
  said?(key: SyntaxNode, follow: Follow): string | undefined;
  /** What the result of a call is, by what is called: `getattr(os, 'system')`. */
  call?(way: Way, given: readonly SyntaxNode[], follow: Follow, node: SyntaxNode): readonly Way[];
}

const maxDepth = 300;
/** Limit for one query; ordinary source needs a handful. */
const maxSteps = 400;
const maxWays = 200;
const none: readonly Way[] = [];

/**
 * Resolves everything in a file that an expression may refer to; every value that a name receives counts. The result
 * for a name is cached. If names refer to one another, the cycle is cut, and only the result for its first name is
 * complete. A query has a bound of steps and of depth; beyond either, it follows no more.
 */
export function followPaths(names: Names, language: PathLanguage) {
  /** Complete answers. */
  const known = new Map<object, readonly Way[]>();
  /** Answers of the present question that lack a part: a cycle, or what is beyond a bound. */
  const partial = new Map<object, readonly Way[]>();
  const open = new Set<object>();
  let steps = 0;
  let isWhole = true;
  const inner: Follow = { ways: follow, name: followName, step };
  return {
    ways: (node: SyntaxNode | undefined) => begin().ways(node),
    /** The first of these of a form. */
    reaches: (node: SyntaxNode | undefined, form: RegExp) =>
      begin()
        .ways(node)
        .find(({ path }) => form.test(path)),
    begin,
  };

  /** Begins a question of several steps. */
  function begin(): Follow {
    steps = 0;
    isWhole = true;
    partial.clear();
    return inner;
  }

  function step(): boolean {
    steps += 1;
    return steps <= maxSteps;
  }

  function follow(node: SyntaxNode | undefined): readonly Way[] {
    const same = names.same(node);
    if (!same) return none;
    return names.isPlain(same) ? followName(same) : remember(same, () => waysOfValue(same));
  }

  function waysOfValue(node: SyntaxNode): readonly Way[] {
    const match = names.valueOf(node);
    if (!match) return /^(?:import|this)$/.test(node.type) ? [{ path: node.type }] : none;
    const target = match.one('target');
    const given = match.one('list')?.children ?? [];
    if (target) return follow(target).flatMap((way) => language.call?.(way, given, inner, node) ?? none);
    const [object, key] = [match.one('object'), match.one('key')];
    if (!object) return match.all('choice').flatMap(follow);
    const part = key ? language.said?.(key, inner) : names.nameOf(match.one('part') ?? node);
    return [
      ...names.membersOf(node).flatMap(follow),
      ...((part !== undefined && language.part?.(object, part, inner, key !== undefined)) || none),
    ];
  }

  function followName(node: SyntaxNode): readonly Way[] {
    const name = names.nameOf(node);
    const given = names.find(name, node);
    if (given) return remember(given, () => given.flatMap(waysOf));
    const path = language.free(name);
    return path === undefined ? none : [{ path }];
  }

  function waysOf({ path, value, pick, at }: Binding): readonly Way[] {
    if (path !== undefined) return [{ path, origin: { at, before: undefined } }];
    const ways = value && (pick ? language.part?.(value, pick, inner, false) : follow(value));
    return ways?.map((way) => ({ path: way.path, origin: { at, before: way.origin } })) ?? none;
  }

  function remember(key: object, compute: () => readonly Way[]): readonly Way[] {
    const before = known.get(key) ?? partial.get(key);
    if (before) return before;
    if (open.has(key) || open.size >= maxDepth || !step()) {
      isWhole = false;
      return none;
    }
    open.add(key);
    const ways = distinct(compute());
    open.delete(key);
    (isWhole ? known : partial).set(key, ways);
    return ways;
  }
}

/** The offsets at which the names on a way were given. */
export function originsOf({ origin }: Way): readonly number[] {
  const found: number[] = [];
  for (let at = origin; at; at = at.before) found.push(at.at);
  return found;
}

/** The same ways with other paths; those without a path are left out. */
export function mapPaths(ways: readonly Way[], change: (path: string) => string | undefined): readonly Way[] {
  return ways.flatMap(({ path, origin }) => {
    const changed = change(path);
    return changed === undefined ? [] : [{ path: changed, origin }];
  });
}

function distinct(ways: readonly Way[]): readonly Way[] {
  if (ways.length < 2) return ways;
  const byPath = new Map<string, Way>();
  for (const way of ways) if (!byPath.has(way.path) && byPath.size < maxWays) byPath.set(way.path, way);
  return [...byPath.values()];
}
