/** A compiled pattern over repository-relative POSIX paths. */
export interface Glob {
  readonly pattern: string;
  matches(path: string): boolean;
}

/** One state of the automaton: reads a code point into `next`, or moves on without reading through `free`. */
interface State {
  reads?: (codePoint: number) => boolean;
  next?: number;
  free: number[];
}

const slash = 47;
const isNotSlash = (codePoint: number): boolean => codePoint !== slash;

/** True if the text has a glob character that is not escaped. */
export function hasGlobCharacters(text: string): boolean {
  return /[*?[{]/.test(text.replace(/\\./gs, ''));
}

/**
 * Compiles a glob: `*`, `?`, `[…]`, `{a,b}`, backslash escapes, and a double star as a whole segment. The whole path
 * must match; dot files are not special. An unclosed bracket or brace matches itself. Matching costs at most path
 * length × pattern length.
 */
export function compileGlob(pattern: string): Glob {
  const states: State[] = [{ free: [] }];
  const text = [...pattern];
  const end = compileSequence(text, 0, text.length, states, 0, true);
  return { pattern, matches: (path) => simulate(states, end, path) };
}

/** Appends the automaton of `text[from, to)` after state `start`; returns its last state. */
function compileSequence(
  text: readonly string[],
  from: number,
  to: number,
  states: State[],
  start: number,
  opensSegment: boolean,
): number {
  let at = from;
  let current = start;
  let segmentStart = opensSegment;
  while (at < to) {
    const char = text[at] ?? '';
    const wasStart = segmentStart;
    segmentStart = char === '/';
    if (char === '*') {
      const isDouble = text[at + 1] === '*' && at + 1 < to;
      const after = text[at + 2];
      const endsSegment = at + 2 >= to || after === '/';
      if (isDouble && wasStart && endsSegment) {
        const isInner = at + 2 < to;
        current = isInner ? anyDirectories(states, current) : repeat(states, current, () => true, true);
        segmentStart = isInner;
        at += isInner ? 3 : 2;
        continue;
      }
      current = repeat(states, current, isNotSlash, false);
      while (text[at] === '*' && at < to) at += 1;
      continue;
    }
    if (char === '{') {
      const branches = readBranches(text, at, to);
      if (branches) {
        const join = addState(states);
        for (const [branchFrom, branchTo] of branches.ranges) {
          const entry = addState(states);
          states[current]?.free.push(entry);
          const exit = compileSequence(text, branchFrom, branchTo, states, entry, wasStart);
          states[exit]?.free.push(join);
        }
        current = join;
        at = branches.after;
        segmentStart = wasStart && branches.ranges.some(([a, b]) => a === b);
        continue;
      }
    }
    const set = char === '[' ? readSet(text, at, to) : undefined;
    if (set) {
      current = read(states, current, set.includes);
      at = set.after;
      continue;
    }
    if (char === '?') {
      current = read(states, current, isNotSlash);
      at += 1;
      continue;
    }
    const literal = char === '\\' && at + 1 < to ? (text[at + 1] ?? '') : char;
    const wanted = literal.codePointAt(0) ?? 0;
    current = read(states, current, (codePoint) => codePoint === wanted);
    at += char === '\\' && at + 1 < to ? 2 : 1;
  }
  return current;
}

function addState(states: State[]): number {
  return states.push({ free: [] }) - 1;
}

function read(states: State[], from: number, reads: (codePoint: number) => boolean): number {
  const entry = addState(states);
  const exit = addState(states);
  states[from]?.free.push(entry);
  states[entry] = { reads, next: exit, free: [] };
  return exit;
}

/**
 * Matches zero or more code points that `reads` accepts. With `once`, matches one or more: a trailing double star
 * matches only the content of the directory.
 */
function repeat(states: State[], from: number, reads: (codePoint: number) => boolean, once: boolean): number {
  const loop = addState(states);
  const exit = addState(states);
  states[from]?.free.push(loop);
  states[loop] = { reads, next: exit, free: once ? [] : [exit] };
  states[exit]?.free.push(loop);
  return exit;
}

/** Zero or more whole directories, each with its slash. */
function anyDirectories(states: State[], from: number): number {
  const boundary = addState(states);
  states[from]?.free.push(boundary);
  const name = repeat(states, boundary, isNotSlash, true);
  const past = read(states, name, (codePoint) => codePoint === slash);
  states[past]?.free.push(boundary);
  return boundary;
}

function readBranches(
  text: readonly string[],
  open: number,
  to: number,
): { ranges: [number, number][]; after: number } | undefined {
  const ranges: [number, number][] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < to; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '{') depth += 1;
    else if (char === ',' && depth === 1) {
      ranges.push([from, at]);
      from = at + 1;
    } else if (char === '}') {
      depth -= 1;
      if (depth === 0) return { ranges: [...ranges, [from, at]], after: at + 1 };
    }
  }
  return undefined;
}

function readSet(
  text: readonly string[],
  open: number,
  to: number,
): { includes: (codePoint: number) => boolean; after: number } | undefined {
  let at = open + 1;
  const negated = text[at] === '!' || text[at] === '^';
  if (negated) at += 1;
  const ranges: [number, number][] = [];
  for (let isFirst = true; at < to; isFirst = false) {
    if (text[at] === ']' && !isFirst) {
      const inSet = (codePoint: number): boolean =>
        ranges.some(([low, high]) => codePoint >= low && codePoint <= high);
      return { includes: (codePoint) => codePoint !== slash && inSet(codePoint) !== negated, after: at + 1 };
    }
    if (text[at] === '\\' && at + 1 < to) at += 1;
    const low = text[at]?.codePointAt(0) ?? 0;
    const hasRange = text[at + 1] === '-' && at + 2 < to && text[at + 2] !== ']';
    const high = hasRange ? (text[at + 2]?.codePointAt(0) ?? low) : low;
    ranges.push([low, high]);
    at += hasRange ? 3 : 1;
  }
  return undefined;
}

/** Keeps the set of all states the automaton can be in: no backtracking, so no pattern is expensive. */
function simulate(states: readonly State[], end: number, path: string): boolean {
  const seenAt = new Int32Array(states.length).fill(-1);
  let step = 0;
  let current: number[] = [];
  const enter = (into: number[], start: number): void => {
    const pending = [start];
    for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
      if (seenAt[state] === step) continue;
      seenAt[state] = step;
      into.push(state);
      pending.push(...(states[state]?.free ?? []));
    }
  };
  enter(current, 0);
  for (const char of path) {
    const codePoint = char.codePointAt(0) ?? 0;
    step += 1;
    const following: number[] = [];
    for (const state of current) {
      const { reads, next } = states[state] ?? {};
      if (next !== undefined && reads?.(codePoint)) enter(following, next);
    }
    if (following.length === 0) return false;
    current = following;
  }
  return current.includes(end);
}

/** Returns a pattern relative to the repository root, or `undefined` if it names no place inside it. */
export function normalisePattern(token: string): string | undefined {
  const text = token.replace(/^(\.\/)+/, '');
  if (text === '' || text.startsWith('/') || text.includes('\0') || text.includes('\\')) return undefined;
  const segments = text.replace(/\/$/, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return undefined;
  return text;
}
