import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** What one file of tests was seen to run, in every process and thread that it started. */
export interface TestCoverage {
  /** Of the file of tests, when it ran. */
  readonly digest: string;
  readonly passed: boolean;
  readonly seconds: number;
  /** By source, relative to the project: the numbers of the lines that ran, ascending. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

/** Which lines each file of tests runs. */
export interface CoverageMap {
  /** Of the sources, when they ran. */
  readonly sources: Readonly<Record<string, string>>;
  readonly tests: Readonly<Record<string, TestCoverage>>;
}

/** Where the map is kept that nobody names: outside of the tree, for it costs a quarter of an hour. */
export const usualPlace = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'writ',
  'coverage-map.json',
);

/** Empty where there is none. */
export function readCoverageMap(path: string): CoverageMap {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return { sources: {}, tests: {} };
  }
  const { sources, tests } = JSON.parse(text) as {
    readonly sources: CoverageMap['sources'];
    readonly tests: Readonly<Record<string, TestCoverage & { readonly lines: Record<string, string> }>>;
  };
  return {
    sources,
    tests: Object.fromEntries(
      Object.entries(tests).map(([file, { lines, ...rest }]) => [
        file,
        { ...rest, lines: mapValues(lines, fromRanges) },
      ]),
    ),
  };
}

export function writeCoverageMap(path: string, { sources, tests }: CoverageMap): void {
  const packed = mapValues(tests, ({ lines, ...rest }) => ({ ...rest, lines: mapValues(lines, toRanges) }));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, JSON.stringify({ sources, tests: packed }));
  renameSync(`${path}.new`, path);
}

export function digestOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

function mapValues<From, To>(of: Readonly<Record<string, From>>, to: (from: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, to(value)]));
}

/** `[1, 2, 3, 7]` is `1-3,7`. */
export function toRanges(lines: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

export function fromRanges(ranges: string): readonly number[] {
  if (ranges === '') return [];
  return ranges.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}
