import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTemporaryDirectory } from '../../test/rooms/temporary-directory.ts';
import { filesEntry } from '../tests/files-entry.ts';
import { runEntry } from '../tests/run-entry.ts';
import { makeBrokenTree } from './broken-tree.ts';
import {
  type CoverageMap,
  digestOf,
  readCoverageMap,
  type TestCoverage,
  writeCoverageMap,
} from './coverage-map.ts';
import { executedCharacters, executedLines, type ScriptCoverage } from './executed-lines.ts';

export interface CollectRequest {
  /** Where the map is kept. */
  readonly path: string;
  readonly lanes: number;
  /** Runs every file of tests, also those whose sources are the same as in an earlier map. */
  readonly fresh: boolean;
  readonly print: (line: string) => void;
}

/** What is shipped and runs: type files say nothing, generated ones are not written by anybody. */
export const shipped =
  '{core,spec,readers,workspace,store,engine,agent,gates,attest,api,plugins,providers,session,service,http,bin}/**/*.{ts,js}';

/** The shipped sources below a tree. */
export function shippedSources(root: string): readonly string[] {
  return globSync(shipped, { cwd: root })
    .filter((path) => !/\.gen\.|\.d\.ts$/.test(path))
    .sort();
}

/**
 * Runs files of tests, each alone, and keeps which lines they run; children and threads included, but for those that
 * are killed or confined. In a copy of the tree, so that nobody changes it meanwhile. What the map holds already of a
 * file of tests that is still the same may be kept; what was finished is kept where this is interrupted.
 */
export async function collectCoverage({ path, lanes, fresh, print }: CollectRequest): Promise<CoverageMap> {
  const tree = makeBrokenTree();
  try {
    const texts = new Map(
      shippedSources(tree).map((source) => [source, readFileSync(join(tree, source), 'utf8')]),
    );
    const before: CoverageMap = fresh ? { sources: {}, tests: {} } : readCoverageMap(path);
    const now = Object.fromEntries([...texts].map(([source, text]) => [source, digestOf(text)]));
    const isExact = ({ lines }: TestCoverage): boolean =>
      Object.keys(lines).every((source) => now[source] === before.sources[source]);
    const files = globSync('test/**/*.test.ts', { cwd: tree }).sort();
    const digests = new Map(files.map((file) => [file, digestOf(readFileSync(join(tree, file)))]));
    const tests: Record<string, TestCoverage> = {};
    for (const [file, known] of Object.entries(before.tests))
      if (known.passed && digests.get(file) === known.digest && isExact(known)) tests[file] = known;
    const queue = files.filter((file) => tests[file] === undefined);
    const save = (): CoverageMap => {
      const map = { sources: now, tests };
      writeCoverageMap(path, map);
      return map;
    };
    const worker = async (): Promise<void> => {
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        const digest = digests.get(file) ?? '';
        const one = { digest, ...(await collectOne(tree, file, texts)) };
        tests[file] = one;
        print(`${one.passed ? 'ok  ' : 'FAIL'} ${one.seconds.toFixed(1).padStart(6)} s  ${file}`);
        save();
      }
    };
    await Promise.all(Array.from({ length: lanes }, worker));
    return save();
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

async function collectOne(
  tree: string,
  file: string,
  texts: ReadonlyMap<string, string>,
): Promise<Omit<TestCoverage, 'digest'>> {
  const temporary = makeTemporaryDirectory();
  const directory = mkdtempSync(join(temporary, 'coverage-'));
  // Without a cache of compiled code: V8 does not count as finely in what it has not compiled itself.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  try {
    const { status, seconds } = await runEntry(
      filesEntry([file]),
      { ...env, TMPDIR: temporary, NODE_V8_COVERAGE: directory, NODE_DISABLE_COMPILE_CACHE: '1' },
      [],
      tree,
    );
    return { passed: status === 0, seconds, lines: readDirectory(tree, directory, texts) };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The lines that ran, over all the processes and threads that left their counts in a directory. */
function readDirectory(
  tree: string,
  directory: string,
  texts: ReadonlyMap<string, string>,
): Record<string, readonly number[]> {
  const ran = new Map<string, Set<number>>();
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    for (const script of readCounts(join(directory, name))) {
      if (!script.url.startsWith('file:')) continue;
      const source = relative(tree, fileURLToPath(script.url));
      const text = texts.get(source);
      if (text === undefined) continue;
      const lines = ran.get(source) ?? new Set();
      for (const line of executedLines(text, executedCharacters(text.length, script))) lines.add(line);
      ran.set(source, lines);
    }
  }
  return Object.fromEntries([...ran].map(([source, lines]) => [source, [...lines].sort((a, b) => a - b)]));
}

/** Nothing where a process was killed while it wrote. */
function readCounts(path: string): readonly ScriptCoverage[] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { readonly result: readonly ScriptCoverage[] }).result;
  } catch {
    return [];
  }
}
