/* `node bench/scan-diff.ts [MB]`: the scan of a large diff against ripgrep on the same machine at the same time. Exit 1 where a limit is missed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../core/base/clock.ts';
import type { CandidateSearch } from '../core/interfaces/rule.ts';
import { createPool, type WorkerPool } from '../core/kernel/worker/pool.ts';
import { rules } from '../gates/rules.ts';
import { cutDiff, type DiffPiece, readBlocks } from '../gates/scan/cut-diff.ts';
import { findCandidates } from '../gates/scan/scan-pieces.ts';
import { scanSpec } from '../spec/secret-words.ts';
import { figure, interleaved } from './measure.ts';
import { textFiles, writeSampleDiff } from './sample-diff.ts';
import { sized } from './sized.ts';

const megabytes = sized(Number(process.argv[2] ?? '100'), 1);
const rounds = sized(7, 1);
/** Fewer candidate patterns than the rules look for: of direct execution alone, as calls. */
const pattern =
  '(?-u)\\b(?:eval|exec|execSync|system|popen|passthru|shell_exec|proc_open|Function|setTimeout|setInterval|runInNewContext|runInThisContext|instance_eval)\\s*\\(';
const asked = ['scope', 'no-direct-eval', 'secrets', 'suppressions'];
const spec = scanSpec();
const scope = { write: [], forbidden: [], wholeRepository: true };
const chosen = rules
  .filter(({ id }) => asked.includes(id))
  .map(({ id, module }) => ({ id, module: module.href }));
const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
const pool = createPool({ clock: systemClock, threads: 2 });
try {
  const sources = textFiles(fileURLToPath(new URL('../node_modules', import.meta.url)));
  const whole = join(directory, 'whole.diff');
  const small = join(directory, 'tenth.diff');
  const parts = Array.from({ length: 8 }, (_, index) => join(directory, `part-${index}.diff`));
  const made = await writeSampleDiff(sources, megabytes * 1e6, [whole]);
  await writeSampleDiff(sources, megabytes * 1e6, parts);
  await writeSampleDiff(sources, megabytes * 1e5, [small]);
  process.stdout.write(
    `${(made.bytes / 1e6).toFixed(0)} MB, ${made.files} files, ${made.lines} lines, ${made.addedLines} added; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  const texts = await candidateTexts();
  const anchors = join(directory, 'anchors');
  writeFileSync(anchors, `${texts.join('\n')}\n`, 'latin1');
  await chooseCandidates(pool, whole);
  const times = await interleaved(rounds, {
    rg: () => ripgrep(['-e', pattern], parts),
    all: () => ripgrep(['-F', '-f', anchors], parts),
    candidates: () => chooseCandidates(pool, whole),
    cut: () => cutAlone(whole),
  });
  const detail = `four rules and the count of added lines, reading and cutting the file included; ${times.candidates.toFixed(0)} ms against`;
  const held = [
    figure(
      'choosing candidates, 2 threads / rg -j2',
      times.candidates / times.rg,
      4,
      'x',
      `${detail} ${times.rg.toFixed(0)} ms for one rule's pattern; cutting alone ${times.cut.toFixed(0)} ms; medians of ${rounds}`,
    ),
    figure(
      'the same / rg -j2 with all that is looked for',
      times.candidates / times.all,
      2,
      'x',
      `${detail} ${times.all.toFixed(0)} ms for ${texts.length} texts`,
    ),
  ];
  const tenth = scan(small);
  const all = scan(whole);
  held.push(
    figure(
      '10 x the diff: time of `writ scan`',
      (all.ms - all.startMs) / (tenth.ms - all.startMs),
      12,
      'x',
      `${all.ms.toFixed(0)} ms against ${tenth.ms.toFixed(0)} ms with grammars, start-up of ${all.startMs.toFixed(0)} ms taken off`,
    ),
    figure('`writ scan`: memory', all.rssMb, 300, 'MB', 'whole process, grammars loaded'),
  );
  process.stdout.write(`load ${loadavg()[0]?.toFixed(1)}\n`);
  process.exitCode = held.every(Boolean) ? 0 : 1;
} finally {
  await pool.close();
  rmSync(directory, { recursive: true, force: true });
}

async function* piecesOf(path: string): AsyncGenerator<DiffPiece> {
  yield* cutDiff(readBlocks(path), { onUnscanned: () => {} });
}

async function cutAlone(path: string): Promise<void> {
  for await (const piece of piecesOf(path)) piece.release?.();
}

/** Every text that a rule looks for, but for those that go over a line's end: ripgrep takes a line each. */
async function candidateTexts(): Promise<readonly string[]> {
  const modules = await Promise.all(
    chosen.map(({ module }) => import(module) as Promise<{ readonly candidates?: CandidateSearch }>),
  );
  const texts = new Set(modules.flatMap(({ candidates }) => candidates?.anchors ?? []));
  return [...texts].filter((one) => !one.includes('\n'));
}

/** What `writ scan` does before any rule is asked, in the same way. */
async function chooseCandidates(threads: WorkerPool, path: string): Promise<void> {
  const trees = {
    digest: '',
    baseCommit: undefined,
    baseTree: '',
    candidateTree: '',
    format: 'GitDiff' as const,
  };
  const running = new Set<Promise<void>>();
  for await (const { diff, release } of piecesOf(path)) {
    const input = { spec, patch: { ...trees, files: [], diff }, scope, artifacts: [], args: [], files: {} };
    const task = { input, readsFiles: true, isCut: false, needsAll: false, rules: chosen, options: {} };
    const done = threads.run(findCandidates, task, { timeoutMs: 60_000 }).then((outcome) => {
      if (!outcome.ok) throw new Error(outcome.error.message);
      running.delete(done);
      release?.();
    });
    running.add(done);
    if (running.size > threads.threads) await Promise.race(running);
  }
  await Promise.all(running);
}

function ripgrep(what: readonly string[], paths: readonly string[]): void {
  const { status, error } = spawnSync('rg', ['--no-config', '-j2', '-c', ...what, ...paths]);
  if (error || (status !== 0 && status !== 1)) throw error ?? new Error(`rg ended with ${status}`);
}

/** A process of its own, and an empty one beside it. */
function scan(path: string): { readonly ms: number; readonly startMs: number; readonly rssMb: number } {
  const main = fileURLToPath(new URL('../bin/writ.js', import.meta.url));
  const started = performance.now();
  spawnSync(process.execPath, [main, 'scan', '--help']);
  const begun = performance.now();
  const watch = fileURLToPath(new URL('./peak-memory.ts', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [watch, main, 'scan', '--json', '--patch', path], {
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  const ms = performance.now() - begun;
  return { ms, startMs: begun - started, rssMb: Number(stdout.trim()) };
}
