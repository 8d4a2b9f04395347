/* `node bench/scan-diff.ts [MB]`: the scan of a large diff against ripgrep on the same machine at the same time. Exit 1 where a limit is missed. */
import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../core/base/clock.ts';
import { cutDiff } from '../core/scan/cut-diff.ts';
import type { DiffPiece } from '../core/scan/diff-piece.ts';
import { scanSpec } from '../core/scan/scan-spec.ts';
import { createPool, type WorkerPool } from '../core/worker/pool.ts';
import { rules } from '../gates/rules.ts';
import { figure, interleaved } from './measure.ts';
import { textFiles, writeSampleDiff } from './sample-diff.ts';

const megabytes = Number(process.argv[2] ?? '100');
const rounds = 7;
/** Fewer candidate patterns than the rules look for: of direct execution alone, as calls. */
const pattern =
  '(?-u)\\b(?:eval|exec|execSync|system|popen|passthru|shell_exec|proc_open|Function|setTimeout|setInterval|runInNewContext|runInThisContext|instance_eval)\\s*\\(';
const asked = ['scope', 'no-direct-eval', 'secrets', 'suppressions'];
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
  const pieces = await cutAll(whole);
  await chooseCandidates(pool, pieces);
  const times = await interleaved(rounds, {
    rg: () => ripgrep(parts),
    candidates: () => chooseCandidates(pool, pieces),
    cut: () => cutAll(whole),
  });
  const held = [
    figure(
      'choosing candidates, 2 threads / rg -j2',
      times.candidates / times.rg,
      2,
      'x',
      `${times.candidates.toFixed(0)} ms against ${times.rg.toFixed(0)} ms; four rules and the count of added lines, diff in memory; cutting it besides, in the main thread: ${times.cut.toFixed(0)} ms; medians of ${rounds}`,
    ),
  ];
  pieces.length = 0;
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

async function cutAll(path: string): Promise<DiffPiece[]> {
  const pieces: DiffPiece[] = [];
  const source = createReadStream(path, { highWaterMark: 1024 * 1024 });
  for await (const piece of cutDiff(source, { onUnscanned: () => {} })) pieces.push(piece);
  return pieces;
}

/** The task that `writ scan` gives its threads before any grammar is asked. */
async function chooseCandidates(threads: WorkerPool, pieces: readonly DiffPiece[]): Promise<void> {
  const spec = scanSpec();
  const chosen = rules
    .filter(({ id }) => asked.includes(id))
    .map(({ id, module }) => ({ id, module: module.href }));
  const trees = {
    digest: '',
    baseCommit: undefined,
    baseTree: '',
    candidateTree: '',
    format: 'GitDiff' as const,
  };
  const scope = { write: [], forbidden: [], wholeRepository: true };
  await Promise.all(
    pieces.map(async (piece) => {
      const input = { spec, patch: { ...trees, ...piece }, scope, artifacts: [], args: [], files: {} };
      const outcome = await threads.run(
        'find-candidates',
        { input, rules: chosen, options: {} },
        { timeoutMs: 60_000 },
      );
      if (!outcome.ok) throw new Error(outcome.error.message);
    }),
  );
}

function ripgrep(paths: readonly string[]): void {
  const { status, error } = spawnSync('rg', ['--no-config', '-j2', '-c', pattern, ...paths]);
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
