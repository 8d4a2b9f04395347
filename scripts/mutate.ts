/*
 * `npm run test:mutants -- MODULE [PATH…] [--changed] [--fresh] [--list] [--lanes N]`: mutates one module with Stryker
 * (scripts/mutation/modules.ts lists the modules), and runs the module's tests against each mutant. Exit 1 if they
 * detect a smaller share than the module's threshold. `PATH` limits the run to files or folders of the module,
 * `--changed` to files that differ from where the branch left main. Known results are reused unless `--fresh` is given;
 * `--list` prints undetected mutants. docs/decisions/0019-mutation-testing.md says why it works this way.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { makeTemporaryDirectory } from '../test/rooms/temporary-directory.ts';
import { shortVariable } from '../test/rooms/variables.ts';
import { type MutatedModule, mutatedModules } from './mutation/modules.ts';
import { formatScore, listUndetected, type MutationReport, scoreOf } from './mutation/score.ts';
import { parseFlags } from './parse-flags.ts';
import { installTestTool, testToolPlace } from './test-tools.ts';
import { changedFiles } from './tests/changed-files.ts';

const root = resolve(import.meta.dirname, '..');
const cache = join(root, 'node_modules', '.cache', 'writ-mutation');
/** Reports the processor time of a process on its file descriptor 3, in microseconds. */
const reportTime = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread)
    process.on('exit', () => {
      const { user, system } = process.cpuUsage();
      try {
        writeSync(3, String(user + system));
      } catch {}
    });
`)}`;
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const { values, positionals } = parseFlags({
  changed: { type: 'boolean', default: false },
  fresh: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  lanes: { type: 'string', default: '1' },
});
const [name = '', ...paths] = positionals;
const mutated = mutatedModules[name];
if (mutated === undefined) {
  process.stderr.write(`\`${name}\` is no module. Pass one of ${Object.keys(mutatedModules).join(', ')}.\n`);
  process.exitCode = 1;
} else {
  const files = sourcesOf(mutated, paths);
  if (files.length === 0) {
    print(`${name}: no source to mutate`);
    process.exitCode = values.changed ? 0 : 1;
  } else process.exitCode = await mutate(name, mutated, files);
}

/** Sources of a module, relative to the project: all, or those that the command line selects. */
function sourcesOf({ sources }: MutatedModule, paths: readonly string[]): readonly string[] {
  const all = globSync(
    sources.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  ).filter((path) => !/\.(?:gen|d)\.ts$/.test(path));
  const isBelow = (path: string, place: string): boolean =>
    path === place || path.startsWith(`${place.replace(/\/$/, '')}/`);
  const changed = values.changed ? new Set(changedFiles(root).files) : undefined;
  return all
    .filter((path) => paths.length === 0 || paths.some((place) => isBelow(path, place)))
    .filter((path) => changed?.has(path) ?? true)
    .sort();
}

/** Runs Stryker, prints what it found, and returns the exit code. */
async function mutate(
  name: string,
  { tests, threshold }: MutatedModule,
  files: readonly string[],
): Promise<number> {
  const missing = installTestTool('mutation');
  if (missing !== undefined) {
    process.stderr.write(
      `Stryker is not installed: ${missing}. Run \`node scripts/test-tools.ts mutation\`.\n`,
    );
    return 1;
  }
  setPriority(process.pid, 10);
  mkdirSync(cache, { recursive: true });
  const temporary = makeTemporaryDirectory();
  const report = join(temporary, 'report.json');
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    TMPDIR: temporary,
    // The mutant is chosen when the code runs, so all mutants share the compiled code.
    NODE_COMPILE_CACHE: join(temporary, 'compiled'),
    [shortVariable]: '1',
  };
  try {
    const ordered = cheapestFirst(
      name,
      globSync(
        tests.map((folder) => `${folder}/**/*.test.ts`),
        { cwd: root },
      ),
      env,
    );
    if (ordered === undefined) return 1;
    print(`${name}: ${files.length} sources, ${ordered.length} files of tests`);
    const config = join(temporary, 'stryker.json');
    writeFileSync(config, JSON.stringify(strykerOptions(name, files, ordered, temporary, report)));
    const stryker = join(testToolPlace('mutation'), 'node_modules/@stryker-mutator/core/bin/stryker.js');
    if ((await runToEnd([stryker, 'run', config], env)) !== 0) return 1;
    return judge(name, threshold, JSON.parse(readFileSync(report, 'utf8')) as MutationReport, files);
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  }
}

/** Runs a Node and returns its exit code. A signal to this process interrupts it, so that it saves what it knows. */
async function runToEnd(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const interrupt = (): void => void child.kill('SIGINT');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  const [status] = (await once(child, 'close')) as [number | null];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
  return status;
}

function strykerOptions(
  name: string,
  files: readonly string[],
  tests: readonly string[],
  temporary: string,
  report: string,
): unknown {
  return {
    mutate: files,
    testRunner: 'tap',
    // Relative, so that a later run knows the same tests by the same names.
    tap: { testFiles: tests, nodeArgs: ['-r', '{{hookFile}}', '{{testFile}}'] },
    coverageAnalysis: 'perTest',
    plugins: ['@stryker-mutator/tap-runner', join(root, 'scripts/mutation/ignore-prose.ts')],
    ignorers: ['prose'],
    // Stryker reads it with the API of older TypeScripts; without one it leaves the sources alone.
    tsconfigFile: 'no-such-tsconfig.json',
    disableTypeChecks: false,
    incremental: true,
    incrementalFile: join(cache, `${name}.json`),
    force: values.fresh,
    tempDirName: join(temporary, 'sandbox'),
    ignorePatterns: ['/dist', '/out', '/coverage', '/.tap', '/.ci'],
    concurrency: Number(values.lanes),
    // An endless loop ends by its count of passes. The time is for what waits for ever, and generous to a busy machine.
    timeoutMS: 60_000,
    timeoutFactor: 5,
    dryRunTimeoutMinutes: 60,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    thresholds: { break: null },
    allowConsoleColors: false,
    warnings: { slow: false },
  };
}

/**
 * Cheaper tests first, since the first failing one ends a mutant. What a file of tests costs is measured once per
 * version of it, in processor time. Returns `undefined` if a test fails without any mutant.
 */
function cheapestFirst(
  name: string,
  tests: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly string[] | undefined {
  const path = join(cache, `${name}.costs.json`);
  let known: Record<string, { readonly digest: string; readonly cost: number }> = {};
  try {
    known = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // First run on this machine.
  }
  const measured: typeof known = {};
  for (const test of [...tests].sort()) {
    const digest = createHash('sha256')
      .update(readFileSync(join(root, test)))
      .digest('hex');
    const before = known[test];
    if (before?.digest === digest) {
      measured[test] = before;
      continue;
    }
    const { status, output } = spawnSync(process.execPath, ['--import', reportTime, test], {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    if (status !== 0) {
      process.stderr.write(`${test} fails without a mutant. Run \`npm test -- ${test}\`.\n`);
      return undefined;
    }
    measured[test] = { digest, cost: Number(output[3] ?? 0) };
    writeFileSync(path, JSON.stringify({ ...known, ...measured }));
  }
  writeFileSync(path, JSON.stringify(measured));
  const costOf = (test: string): number => measured[test]?.cost ?? 0;
  return [...tests].sort((a, b) => costOf(a) - costOf(b));
}

/** Prints the score by file and as a whole, and returns the exit code. */
function judge(name: string, threshold: number, report: MutationReport, files: readonly string[]): number {
  const scored = files.map((file) => ({ file, score: scoreOf(report, [file]) }));
  for (const { file, score } of scored.sort((a, b) => a.score.percent - b.score.percent))
    print(`  ${file}: ${formatScore(score)}`);
  if (values.list) for (const line of listUndetected(report, files)) print(`  ${line}`);
  const whole = scoreOf(report, files);
  print(`${name}: ${formatScore(whole)}; threshold ${threshold} %`);
  return whole.percent < threshold ? 1 : 0;
}
