/*
 * `node scripts/remove-guards.ts [WORD…]`: removes one guard of the verifier or of the service after the other
 * (scripts/guards/, or those whose lines hold a word), each in a copy of the tree, and shows that the test named for it
 * fails then. Exit 1 where a removal goes unnoticed, where a guard is no longer found, or where a test does not pass as
 * it stands.
 */
import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { guards } from './guards/all.ts';
import type { Guard } from './guards/guard.ts';

const root = resolve(import.meta.dirname, '..');
const copied =
  '{api,attest,bench,bin,core,docs,engine,gates,http,plugins,providers,readers,service,test,*.ts,*.json}';
const lanes = 2;
const timeoutMs = 180_000;
const words = process.argv.slice(2);
const chosen = guards.filter(
  (guard) => words.length === 0 || words.some((word) => JSON.stringify(Object.values(guard)).includes(word)),
);

interface TestRun {
  readonly passed: boolean;
  /** Names of top-level tests that failed. */
  readonly failed: readonly string[];
  readonly seconds: number;
}

/** A tree to break things in. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'writ-guards-'));
  for (const path of globSync(copied, { cwd: root }))
    cpSync(join(root, path), join(copy, path), { recursive: true });
  for (const shared of ['node_modules', 'fixtures']) symlinkSync(join(root, shared), join(copy, shared));
  return copy;
}

/** Runs a file of tests, or only those in it whose names begin with `only`. */
function runTest(tree: string, test: string, only?: string): Promise<TestRun> {
  return new Promise((done) => {
    const started = performance.now();
    const chunks: Buffer[] = [];
    const child = spawn(process.execPath, [test], {
      cwd: tree,
      env: {
        ...process.env,
        TAP_TIMEOUT: String(timeoutMs / 1000),
        ...(only === undefined ? {} : { TAP_GREP: `/^${only.replace(/[^\w ]/g, '\\$&')}/` }),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', (status) => {
      const output = Buffer.concat(chunks).toString('utf8');
      const failed = [...output.matchAll(/^not ok \d+ - (.*?)(?: # time=.*)?$/gm)].map(
        ([, name = '']) => name,
      );
      done({
        passed: status === 0 && failed.length === 0,
        failed,
        seconds: (performance.now() - started) / 1000,
      });
    });
  });
}

/** What came of removing one guard; `undefined` where its own test noticed. */
async function attempt(
  tree: string,
  { file, from, to, test, fails }: Guard,
): Promise<{ readonly fault?: string; readonly failed: readonly string[]; readonly seconds: number }> {
  const path = join(tree, file);
  const text = readFileSync(path, 'utf8');
  const found = text.split(from).length - 1;
  if (found !== 1) return { fault: `its text stands ${found} times in the file`, failed: [], seconds: 0 };
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    const { failed, passed, seconds } = await runTest(tree, test, fails);
    if (failed.some((name) => name.startsWith(fails))) return { failed, seconds };
    const instead = failed.length > 0 ? `failed instead: ${failed.slice(0, 3).join('; ')}` : 'nothing failed';
    return { fault: passed ? 'unnoticed' : instead, failed, seconds };
  } finally {
    writeFileSync(path, text);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const trees = Array.from({ length: lanes }, copyTree);
let faults = 0;
try {
  const tests = [...new Set(chosen.map(({ test }) => test))];
  for (const test of tests) {
    const { passed, failed, seconds } = await runTest(trees[0] ?? root, test);
    print(
      `${passed ? 'ok    ' : 'BROKEN'} ${seconds.toFixed(1).padStart(5)} s  ${test} as it stands${passed ? '' : `: ${failed.join('; ')}`}`,
    );
    if (!passed) faults += 1;
  }
  const queue = [...chosen];
  await Promise.all(
    trees.map(async (tree) => {
      for (let guard = queue.shift(); guard !== undefined; guard = queue.shift()) {
        const { fault, failed, seconds } = await attempt(tree, guard);
        if (fault !== undefined) faults += 1;
        const what = `${guard.guard.padEnd(44)} ${guard.file.padEnd(38)}`;
        print(
          fault === undefined
            ? `ok     ${seconds.toFixed(1).padStart(5)} s  ${what} ${guard.test.replace(/^test\/|\.test\.ts$/g, '')}: ${guard.fails}${failed.length > 1 ? ` (+${failed.length - 1})` : ''}`
            : `BROKEN ${seconds.toFixed(1).padStart(5)} s  ${what} ${fault}`,
        );
      }
    }),
  );
  print(`${chosen.length} guards, ${faults} faults`);
} finally {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
}
process.exitCode = faults > 0 || chosen.length === 0 ? 1 : 0;
