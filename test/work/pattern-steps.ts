/*
 * Counts what a backtracking engine does for a pattern. V8 reports no such count, and its clock depends on the machine,
 * so this is a plain backtracking matcher of the patterns that JavaScript knows. Its answer is compared with V8's on
 * every call: a count that belongs to another match would be worth nothing.
 */

/** A place in a text, from which the rest of a pattern is tried; answers the end of the match, or -1. */
type Next = (at: number) => number;
type Node = (at: number, next: Next) => number;

interface Run {
  text: string;
  steps: number;
  captures: (readonly [start: number, end: number] | undefined)[];
}

/** A match takes about as many frames as it has turns of loops: the caller has a stack for that (`count-work.ts`). */
export interface CountedPattern {
  /** The match that begins at `from`, or behind it unless the pattern is sticky, and the steps it took. */
  find(text: string, from: number): { readonly start: number; readonly end: number; readonly steps: number };
}

/** Answers a counter for a pattern. Throws where the pattern uses what this matcher does not know. */
export function countedPattern({ source, flags }: RegExp): CountedPattern {
  const run: Run = { text: '', steps: 0, captures: [] };
  const root = new Reader(source, flags, run).read();
  // A pattern that begins with `^` is tried in one place, as V8 does.
  const isOneTry = flags.includes('y') || (/^\^[^|]*$/.test(source) && !flags.includes('m'));
  return {
    find(text, from) {
      run.text = text;
      run.steps = 0;
      for (let start = from; start <= text.length; start += 1) {
        run.captures = [];
        const end = root(start, (at) => at);
        if (end >= 0) return { start, end, steps: run.steps };
        if (isOneTry) break;
        run.steps += 1;
      }
      return { start: -1, end: -1, steps: run.steps };
    },
  };
}

class Reader {
  #at = 0;
  #groups = 0;
  readonly #names: readonly string[];
  readonly #isUnicode: boolean;
  readonly #isMultiline: boolean;
  readonly #classFlags: string;
  readonly #source: string;
  readonly #run: Run;

  constructor(source: string, flags: string, run: Run) {
    this.#source = source;
    this.#run = run;
    this.#isUnicode = /[uv]/.test(flags);
    this.#isMultiline = flags.includes('m');
    this.#classFlags = flags.replace(/[^isuv]/g, '');
    // The number of each named group is its place among all that capture.
    const opened = source
      .replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, 'x')
      .match(/\((?!\?(?!<[^=!]))(?:\?<[^>]+>)?/g);
    this.#names = (opened ?? []).map((text) => text.slice(3, -1));
  }

  read(): Node {
    const node = this.#alternatives(1);
    if (this.#at < this.#source.length) throw new Error(`not understood: ${this.#source.slice(this.#at)}`);
    return node;
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #alternatives(direction: 1 | -1): Node {
    const run = this.#run;
    const branches = [this.#sequence(direction)];
    while (this.#takes('|')) branches.push(this.#sequence(direction));
    if (branches.length === 1) return branches[0] as Node;
    return (at, next) => {
      for (const branch of branches) {
        run.steps += 1;
        const end = branch(at, next);
        if (end >= 0) return end;
      }
      return -1;
    };
  }

  #sequence(direction: 1 | -1): Node {
    const terms: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at)))
      terms.push(this.#term(direction));
    if (direction < 0) terms.reverse();
    const [first, ...rest] = terms;
    if (first === undefined) return (at, next) => next(at);
    return rest.reduce<Node>((before, term) => (at, next) => before(at, (mid) => term(mid, next)), first);
  }

  #term(direction: 1 | -1): Node {
    const run = this.#run;
    const isWordAt = (at: number): boolean => isWord(run.text.charCodeAt(at));
    const isEndAt = (at: number): boolean => this.#isMultiline && isLineEnd(run.text.charCodeAt(at));
    const zero =
      (holds: (at: number) => boolean): Node =>
      (at, next) => {
        run.steps += 1;
        return holds(at) ? next(at) : -1;
      };
    if (this.#takes('^')) return zero((at) => at === 0 || isEndAt(at - 1));
    if (this.#takes('$')) return zero((at) => at === run.text.length || isEndAt(at));
    if (this.#takes('\\b')) return zero((at) => isWordAt(at - 1) !== isWordAt(at));
    if (this.#takes('\\B')) return zero((at) => isWordAt(at - 1) === isWordAt(at));
    for (const [sign, way, wanted] of [
      ['(?=', 1, true],
      ['(?!', 1, false],
      ['(?<=', -1, true],
      ['(?<!', -1, false],
    ] as const)
      if (this.#takes(sign)) {
        const inner = this.#alternatives(way);
        this.#closes();
        return (at, next) => {
          run.steps += 1;
          const before = run.captures;
          run.captures = [...before];
          const holds = inner(at, (end) => end) >= 0;
          if (!holds || !wanted) run.captures = before;
          const end = holds === wanted ? next(at) : -1;
          if (end < 0) run.captures = before;
          return end;
        };
      }
    const firstGroup = this.#groups;
    const atom = this.#atom(direction);
    return this.#repeated(atom, firstGroup);
  }

  #closes(): void {
    if (!this.#takes(')')) throw new Error(`no end of a group: ${this.#source}`);
  }

  /** What one turn of a loop matches: a sign, of which `signs` counts those in a row, or a whole group. */
  #atom(direction: 1 | -1): { readonly node: Node; readonly sign?: (at: number) => number } {
    const run = this.#run;
    if (this.#takes('(?:')) {
      const node = this.#alternatives(direction);
      this.#closes();
      return { node };
    }
    if (/^\((?!\?)|^\(\?<[^=!]/.test(this.#source.slice(this.#at, this.#at + 4))) {
      if (this.#takes('(?<')) this.#at = this.#source.indexOf('>', this.#at) + 1;
      else this.#at += 1;
      this.#groups += 1;
      const group = this.#groups;
      const inner = this.#alternatives(direction);
      this.#closes();
      return {
        node: (at, next) =>
          inner(at, (end) => {
            const before = run.captures[group];
            run.captures[group] = direction > 0 ? [at, end] : [end, at];
            const found = next(end);
            if (found < 0) run.captures[group] = before;
            return found;
          }),
      };
    }
    const reference = /^\\(?:k<([^>]+)>|([1-9]\d*))/.exec(this.#source.slice(this.#at, this.#at + 40));
    if (reference !== null && (reference[2] === undefined || Number(reference[2]) <= this.#names.length)) {
      this.#at += reference[0].length;
      const group = Number(reference[2] ?? this.#names.indexOf(reference[1] ?? '') + 1);
      const isBlind = this.#classFlags.includes('i');
      const folded = (text: string): string => (isBlind ? text.toLowerCase() : text);
      return {
        node: (at, next) => {
          const capture = run.captures[group];
          if (capture === undefined) return next(at);
          const said = run.text.slice(...capture);
          run.steps += said.length + 1;
          const end = at + direction * said.length;
          const there = direction > 0 ? run.text.slice(at, end) : run.text.slice(Math.max(0, end), at);
          return end >= 0 && folded(there) === folded(said) ? next(end) : -1;
        },
      };
    }
    const sign = this.#sign(direction);
    return {
      sign,
      node: (at, next) => {
        run.steps += 1;
        const end = sign(at);
        return end < 0 ? -1 : next(end);
      },
    };
  }

  /** Answers where one sign of the pattern ends that begins at a place, or -1. V8 says which signs a class holds. */
  #sign(direction: 1 | -1): (at: number) => number {
    const run = this.#run;
    const text =
      /^(?:\\(?:u\{[^}]*\}|u[\da-fA-F]{4}(?:\\u[\da-fA-F]{4})?|x[\da-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|0|.))/su.exec(
        this.#source.slice(this.#at, this.#at + 120),
      )?.[0] ??
      (this.#source.charAt(this.#at) === '['
        ? wholeClass(this.#source, this.#at, this.#classFlags.includes('v'))
        : this.#isUnicode
          ? String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
          : this.#source.charAt(this.#at));
    const single =
      /^\\u[\da-fA-F]{4}\\u/.test(text) &&
      !(this.#isUnicode && /^\\u[dD][89abAB]..\\u[dD][c-fC-F]/.test(text))
        ? text.slice(0, 6)
        : text;
    this.#at += single.length;
    const own = new RegExp(`^(?:${single})$`, this.#classFlags);
    /** Of each sign: 0 not yet looked, 1 no, 2 yes. */
    const known = new Uint8Array(this.#isUnicode ? 0x110000 : 0x10000);
    const fits = (code: number): boolean => {
      if (known[code] === 0) known[code] = own.test(String.fromCodePoint(code)) ? 2 : 1;
      return known[code] === 2;
    };
    if (!this.#isUnicode)
      return direction > 0
        ? (at) => (at < run.text.length && fits(run.text.charCodeAt(at)) ? at + 1 : -1)
        : (at) => (at > 0 && fits(run.text.charCodeAt(at - 1)) ? at - 1 : -1);
    if (direction > 0)
      return (at) => {
        if (at >= run.text.length) return -1;
        const code = run.text.codePointAt(at) ?? 0;
        return fits(code) ? at + (code > 0xffff ? 2 : 1) : -1;
      };
    return (at) => {
      if (at <= 0) return -1;
      const pair = run.text.slice(Math.max(0, at - 2), at);
      const width = /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair) ? 2 : 1;
      return fits(run.text.codePointAt(at - width) ?? 0) ? at - width : -1;
    };
  }

  #repeated(
    { node, sign }: { readonly node: Node; readonly sign?: (at: number) => number },
    firstGroup: number,
  ): Node {
    const run = this.#run;
    const said = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)/.exec(this.#source.slice(this.#at, this.#at + 24));
    if (said === null) return node;
    this.#at += said[0].length;
    const [whole, low, comma, high, lazy] = said;
    const kind = whole.charAt(0);
    const least = low === undefined ? (kind === '+' ? 1 : 0) : Number(low);
    const most =
      low === undefined
        ? kind === '?'
          ? 1
          : Infinity
        : comma === ''
          ? least
          : high === ''
            ? Infinity
            : Number(high);
    const isLazy = lazy === '?';
    if (sign !== undefined) return signs(run, sign, { least, most, isLazy });
    const groups = this.#groups;
    const turn = (at: number, done: number, next: Next): number => {
      run.steps += 1;
      const again = (): number => {
        if (done >= most) return -1;
        const before = run.captures.slice(firstGroup + 1, groups + 1);
        for (let group = firstGroup + 1; group <= groups; group += 1) run.captures[group] = undefined;
        const end = node(at, (mid) => (mid === at && done >= least ? -1 : turn(mid, done + 1, next)));
        if (end < 0) for (const [index, one] of before.entries()) run.captures[firstGroup + 1 + index] = one;
        return end;
      };
      if (done < least) return again();
      if (isLazy) {
        const end = next(at);
        return end >= 0 ? end : again();
      }
      const end = again();
      return end >= 0 ? end : next(at);
    };
    return (at, next) => turn(at, 0, next);
  }
}

/** A loop over single signs needs no frame for each. */
function signs(
  run: Run,
  sign: (at: number) => number,
  { least, most, isLazy }: { readonly least: number; readonly most: number; readonly isLazy: boolean },
): Node {
  return (from, next) => {
    let at = from;
    let count = 0;
    const takeOne = (): boolean => {
      run.steps += 1;
      const end = count < most ? sign(at) : -1;
      if (end < 0) return false;
      at = end;
      count += 1;
      return true;
    };
    while (count < least) if (!takeOne()) return -1;
    if (isLazy)
      for (;;) {
        const end = next(at);
        if (end >= 0) return end;
        if (!takeOne()) return -1;
      }
    const start = at;
    const turns = count;
    while (takeOne());
    // Signs of two units stand seldom enough in loops that each may be gone through again.
    const isEven = Math.abs(at - start) === count - turns;
    const ends: number[] = [];
    if (!isEven) for (let end = start; end !== at; end = sign(end)) ends.push(end);
    const step = at < start ? 1 : -1;
    for (let end = at; ; end = isEven ? end + step : (ends.pop() ?? start)) {
      run.steps += 1;
      const found = next(end);
      if (found >= 0) return found;
      if (end === start) return -1;
    }
  };
}

function wholeClass(source: string, from: number, isNested: boolean): string {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const sign = source.charAt(at);
    if (sign === '\\') at += 1;
    else if (sign === '[' && (depth === 0 || isNested)) depth += 1;
    else if (sign === ']') {
      depth -= 1;
      if (depth === 0) return source.slice(from, at + 1);
    }
  }
  throw new Error(`no end of a class: ${source.slice(from)}`);
}

function isWord(code: number): boolean {
  return (code > 47 && code < 58) || (code > 64 && code < 91) || code === 95 || (code > 96 && code < 123);
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13 || code === 0x2028 || code === 0x2029;
}
