import { Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { Job, Jobs, Work } from './count-work.ts';
import { type CountedPattern, countedPattern } from './pattern-steps.ts';

/*
 * A thread that counts what a job does. Blocks of JavaScript are counted by V8, which can do so only for functions that
 * are compiled after it was told: therefore a thread of its own, which loads the job afterwards.
 */

type Measure = (self: { readonly length: number }, given: readonly unknown[], answer: unknown) => number;

/** How many were looked at from a place to what was found there, or else to the end. */
const toFound: Measure = ({ length }, [, from], answer) => {
  const start = Math.min(Math.max(0, typeof from === 'number' ? from : 0), length);
  return 1 + (typeof answer === 'number' && answer >= 0 ? answer - start : length - start);
};
const whole: Measure = ({ length }) => 1 + length;

// Calls that optimised code inlines are not counted.
for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag);

const session = new Session();
session.connect();
ask('Profiler.enable');
ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** Signs, elements and octets that built-in functions went over, and steps of patterns. */
let inside = 0;
/** What the counting itself does is no work of the job. */
let isCounting = false;
let patternsByMatch = false;

countTexts();
countLists();
countBytes();
countPatterns();

const { jobs } = (await import(workerData as string)) as { readonly jobs: Jobs };
const works: Work[] = [];
for (const [name, job] of Object.entries(jobs)) {
  const { size = 2_000, slack = 1.25 } = job;
  // What is made once, at the first use, is not what grows.
  await (await job.prepare(size))();
  const counts = [
    await workOf(name, job, size),
    await workOf(name, job, 2 * size),
    await workOf(name, job, 4 * size),
  ] as const;
  works.push({ name, size, counts, slack });
}
parentPort?.postMessage(works);

async function workOf(name: string, job: Job, size: number): Promise<number> {
  const run = await job.prepare(size);
  blocks();
  inside = 0;
  patternsByMatch = job.patternsByMatch ?? false;
  isCounting = true;
  try {
    await run();
  } catch (fault) {
    throw new Error(`${name}, ${size}: ${fault instanceof Error ? fault.stack : fault}`);
  } finally {
    isCounting = false;
  }
  return blocks() + inside;
}

/** How often blocks ran since the last look. */
function blocks(): number {
  const { result } = ask('Profiler.takePreciseCoverage') as {
    readonly result: readonly {
      readonly url: string;
      readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
    }[];
  };
  let count = 0;
  for (const { url, functions } of result)
    if (url.startsWith('file:') && !url.includes('/test/work/'))
      for (const { ranges } of functions) for (const range of ranges) count += range.count;
  return count;
}

function ask(method: string, params: object = {}): unknown {
  let answer: unknown;
  session.post(method, params, (fault: Error | null, result?: object) => {
    if (fault !== null) throw new Error(`${method}: ${JSON.stringify(fault)}`);
    answer = result;
  });
  return answer;
}

/** Lets a built-in method say how much it went over, each time. */
function counted(prototype: object, names: readonly string[], measure: Measure): void {
  const methods = prototype as { [name: string]: (...given: unknown[]) => unknown };
  for (const name of names) {
    const own = methods[name];
    if (own === undefined) throw new Error(`no method ${name}`);
    const value = function (this: { readonly length: number }, ...given: unknown[]): unknown {
      const answer = Reflect.apply(own, this, given);
      if (isCounting) inside += measure(this, given, answer);
      return answer;
    };
    Object.defineProperty(methods, name, { value, writable: true, configurable: true });
  }
}

function countTexts(): void {
  counted(String.prototype, ['indexOf'], toFound);
  counted(String.prototype, ['lastIndexOf'], ({ length }, [, from], answer) => {
    const start = typeof from === 'number' ? Math.min(from, length) : length;
    return 1 + Math.max(0, start - Math.max(0, Number(answer)));
  });
  counted(String.prototype, ['includes'], (self, [, from], answer) =>
    answer === true ? 1 : toFound(self, ['', from], -1),
  );
  counted(String.prototype, ['toLowerCase', 'toUpperCase', 'normalize', 'isWellFormed'], whole);
  counted(String.prototype, ['repeat', 'padStart', 'padEnd'], (_, __, answer) => String(answer).length);
  counted(
    String.prototype,
    ['trim', 'trimStart', 'trimEnd'],
    ({ length }, _, answer) =>
      // What is cut off was looked at, what is left was not.
      1 + length - String(answer).length,
  );
  // With a pattern, `exec` counts.
  counted(String.prototype, ['split', 'replace', 'replaceAll'], (self, [by]) =>
    typeof by === 'string' ? 1 + self.length : 1,
  );
  counted(JSON, ['parse'], (_, [text]) => String(text).length);
  counted(JSON, ['stringify'], (_, __, answer) => String(answer).length);
}

function countLists(): void {
  const lists = Array.prototype;
  counted(lists, ['indexOf'], toFound);
  counted(
    lists,
    ['lastIndexOf', 'includes', 'reverse', 'join', 'fill', 'copyWithin', 'flat', 'shift', 'unshift'],
    whole,
  );
  counted(lists, ['toReversed', 'toSpliced', 'with'], whole);
  counted(lists, ['slice', 'concat'], (_, __, answer) => 1 + (answer as readonly unknown[]).length);
  counted(lists, ['push'], (_, given) => given.length);
  // What is behind a place moves.
  counted(lists, ['splice'], (self, [from]) => {
    const start = Number(from ?? 0);
    return 1 + (start < 0 ? -start : Math.max(0, self.length - start));
  });
  counted(Array, ['from'], (_, __, answer) => 1 + (answer as readonly unknown[]).length);
  counted(
    Object,
    ['keys', 'values', 'entries'],
    (_, __, answer) => 1 + (answer as readonly unknown[]).length,
  );
  counted(
    Object,
    ['fromEntries', 'assign'],
    (_, __, answer) => 1 + Object.getOwnPropertyNames(answer).length,
  );
}

function countBytes(): void {
  const bytes = Object.getPrototypeOf(Uint8Array.prototype) as object;
  counted(bytes, ['indexOf', 'includes', 'fill', 'slice', 'join', 'copyWithin', 'toReversed'], whole);
  counted(
    bytes,
    ['set'],
    (_, [from]) => 1 + ((from as { readonly length?: number } | undefined)?.length ?? 0),
  );
  counted(Buffer.prototype, ['indexOf'], toFound);
  counted(Buffer.prototype, ['includes', 'equals', 'fill'], whole);
  counted(Buffer.prototype, ['copy'], (_, __, answer) => 1 + Number(answer));
  counted(Buffer.prototype, ['toString'], (_, __, answer) => 1 + String(answer).length);
  counted(Buffer, ['concat', 'alloc'], (_, __, answer) => 1 + (answer as Uint8Array).length);
  counted(Buffer, ['from'], (_, [given], answer) =>
    // A view of what is there already copies nothing.
    given instanceof ArrayBuffer ? 1 : 1 + (answer as Uint8Array).length,
  );
  counted(TextDecoder.prototype, ['decode'], (_, __, answer) => 1 + String(answer).length);
  counted(TextEncoder.prototype, ['encode'], (_, __, answer) => 1 + (answer as Uint8Array).length);
}

/** Every method that takes a pattern comes to `exec`. */
function countPatterns(): void {
  const own = RegExp.prototype.exec;
  const known = new Map<string, CountedPattern>();
  RegExp.prototype.exec = function (this: RegExp, given: string): RegExpExecArray | null {
    const text = String(given);
    const from = this.global || this.sticky ? Math.max(0, this.lastIndex) : 0;
    const answer = own.call(this, text);
    if (!isCounting || from > text.length) return answer;
    if (patternsByMatch) {
      inside += 1 + (answer?.[0].length ?? 0);
      return answer;
    }
    isCounting = false;
    const key = `${this.flags}/${this.source}`;
    let pattern = known.get(key);
    if (pattern === undefined) {
      pattern = countedPattern(this);
      known.set(key, pattern);
    }
    const { start, end, steps } = pattern.find(text, from);
    if (start !== (answer?.index ?? -1) || (answer !== null && end - start !== answer[0].length))
      throw new Error(
        `${this} was not counted as it matched, from ${from} of ${JSON.stringify(text.slice(0, 200))}`,
      );
    inside += 1 + steps;
    isCounting = true;
    return answer;
  };
}
