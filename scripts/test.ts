/*
 * `npm test [WORD…]`: runs every room's entry (test/<room>.ts, or those whose names hold a word) in a Node of its own,
 * one more at a time than there are cores (up to three), and adds up what they say. The files speak TAP; docs/decisions/0003-test-runner.md says why no runner stands between.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

interface Outcome {
  readonly entry: string;
  readonly status: number | null;
  readonly output: string;
  readonly seconds: number;
}

const compileCache = join(process.cwd(), 'node_modules', '.cache', 'writ-tests');
const words = process.argv.slice(2);
const entries = globSync('test/*.ts')
  .filter(
    (path) => !path.endsWith('.test.ts') && (words.length === 0 || words.some((word) => path.includes(word))),
  )
  .sort((a, b) => weightOf(b) - weightOf(a) || (a < b ? -1 : 1));
const totals = { pass: 0, fail: 0, skip: 0, todo: 0, total: 0 };

const queue = [...entries];
// A room waits for disk and for processes of its own a good part of its time.
const lanes = Array.from({ length: Math.min(3, availableParallelism() + 1) }, async () => {
  for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) report(await runEntry(entry));
});
await Promise.all(lanes);
process.stdout.write(
  `# { total: ${totals.total}, pass: ${totals.pass}${totals.fail > 0 ? `, fail: ${totals.fail}` : ''}${totals.skip > 0 ? `, skip: ${totals.skip}` : ''} }\n`,
);
process.stdout.write(`${totals.pass} passed, ${totals.fail} failed, ${totals.skip + totals.todo} skipped\n`);
process.exitCode = totals.fail > 0 || entries.length === 0 ? 1 : 0;

/** Long ones first, so that the last lane is not left alone with one. */
function weightOf(path: string): number {
  const order = [
    'test/attack-trust.ts',
    'test/attack-policy.ts',
    'test/attack-gates.ts',
    'test/attack-worlds.ts',
    'test/run.ts',
    'test/upkeep.ts',
    'test/run-worker.ts',
    'test/kill.ts',
    'test/vcs.ts',
    'test/run-fields.ts',
    'test/bin.ts',
    'test/service.ts',
    'test/service-kill.ts',
    'test/outsiders.ts',
    'test/attest.ts',
    'test/attack.ts',
    'test/confinement.ts',
    'test/store.ts',
    'test/tool.ts',
    'test/gates.ts',
    'test/demo.ts',
    'test/plugins.ts',
    'test/intent.ts',
    'test/frame.ts',
    'test/kernel.ts',
  ];
  const at = order.indexOf(path);
  return at < 0 ? 0 : order.length - at;
}

function runEntry(entry: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const started = performance.now();
    const chunks: Buffer[] = [];
    const child = spawn(process.execPath, [entry], {
      // A room is one file to tap, and its own time-outs are per test; this one is for a room that hangs.
      // Stripping types and compiling is half of what a small room costs: once for all rooms.
      env: { ...process.env, TAP_TIMEOUT: '540', NODE_COMPILE_CACHE: compileCache },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', (status) => {
      const seconds = (performance.now() - started) / 1000;
      resolve({ entry, status, output: Buffer.concat(chunks).toString('utf8'), seconds });
    });
  });
}

function report({ entry, status, output, seconds }: Outcome): void {
  const summary = output.match(/^# \{ total: .*\}$/gm)?.at(-1) ?? '';
  const count = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary)?.[1] ?? 0);
  const failed = count('fail');
  totals.total += count('total');
  totals.pass += count('pass');
  totals.skip += count('skip');
  totals.todo += count('todo');
  // A room that died, said nothing or ran nothing has failed, whatever it counted before.
  const broken = failed === 0 && (status !== 0 || summary === '' || count('total') === 0);
  totals.fail += failed + (broken ? 1 : 0);
  const word = failed > 0 || broken ? 'not ok' : 'ok';
  process.stdout.write(`${word} ${entry.padEnd(24)} ${summary.slice(2)}  ${seconds.toFixed(1)} s\n`);
  for (const skipped of output.match(/^.*\bok \d+.*# SKIP.*$/gm) ?? [])
    process.stdout.write(`    ${skipped.trim()}\n`);
  if (word === 'not ok') process.stdout.write(`${failures(output)}\n`);
}

/** Every failing line with what follows it, bounded; the tail where there is none. */
function failures(output: string): string {
  const lines = output.split('\n');
  const found = lines.flatMap((line, index) =>
    /^ *not ok /.test(line) ? lines.slice(index, index + 24) : [],
  );
  return (found.length > 0 ? found : lines.slice(-40)).slice(0, 400).join('\n');
}
