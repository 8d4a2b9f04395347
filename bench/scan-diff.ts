/* `node bench/scan-diff.ts [MB]`: time and memory of the scan of a large diff. Exit 1 where a limit is missed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figure } from './measure.ts';
import { textFiles, writeSampleDiff } from './sample-diff.ts';
import { sized } from './sized.ts';

const megabytes = sized(Number(process.argv[2] ?? '100'), 1);
const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
try {
  const sources = textFiles(fileURLToPath(new URL('../node_modules', import.meta.url)));
  const whole = join(directory, 'whole.diff');
  const small = join(directory, 'tenth.diff');
  const made = await writeSampleDiff(sources, megabytes * 1e6, [whole]);
  await writeSampleDiff(sources, megabytes * 1e5, [small]);
  process.stdout.write(
    `${(made.bytes / 1e6).toFixed(0)} MB, ${made.files} files, ${made.lines} lines, ${made.addedLines} added; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  const tenth = scan(small);
  const all = scan(whole);
  const held = [
    figure(
      '10 x the diff: time of `writ scan`',
      (all.ms - all.startMs) / (tenth.ms - all.startMs),
      12,
      'x',
      `${all.ms.toFixed(0)} ms against ${tenth.ms.toFixed(0)} ms with grammars, start-up of ${all.startMs.toFixed(0)} ms taken off`,
    ),
    figure('`writ scan`: memory', all.rssMb, 300, 'MB', 'whole process, grammars loaded'),
  ];
  process.stdout.write(`load ${loadavg()[0]?.toFixed(1)}\n`);
  process.exitCode = held.every(Boolean) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
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
