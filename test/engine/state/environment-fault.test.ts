import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import {
  canBeOfMachine,
  environmentSign,
  lackSign,
  stopIfSameAtBase,
} from '../../../engine/evaluate/machine-failure.ts';
import { environmentFault } from '../../../engine/state/machine.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { fixtures, makeSample } from '../sample.ts';

t.setTimeout(120_000);

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

t.test('faults of the machine are told apart from faults of a change', async (t) => {
  t.match(environmentFault(full), { code: 'ENVIRONMENT_BROKEN', exitCode: 128, message: /no space left/ });
  const missing = Object.assign(new Error('spawn bwrap ENOENT'), { code: 'ENOENT', syscall: 'spawn bwrap' });
  t.match(environmentFault(missing), { code: 'ENVIRONMENT_BROKEN' });
  for (const code of ['GIT_FAILED', 'OBJECTS_MISSING', 'EVIDENCE_WRITE_FAILED'] as const)
    t.match(environmentFault(new WritError(code)), { code });
  for (const fault of [
    new WritError('WORKSPACE_PREPARE_FAILED'),
    new WritError('PATCH_EMPTY'),
    Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }),
    new Error('x'),
    undefined,
    null,
  ])
    t.equal(environmentFault(fault), undefined);
});

long('a full disk during a check stops the run without a decision, and the run goes on later', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  let isFull = true;
  const real = bubblewrapSandbox();
  const own = definePlugin({
    name: 'own-sandbox',
    api: 1,
    setup({ slots }) {
      // The real one, on a disk that is full at first.
      slots.sandbox.add('own', {
        name: 'own',
        pathsInside: (request) => real.pathsInside(request),
        probe: async () => ({ works: true, enforced: ['network'] }),
        run: (request) => (isFull ? Promise.reject(full) : real.run(request)),
      });
      return undefined;
    },
  });
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff'));
  const runId = '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2';
  const source = { kind: 'patch', bytes } as const;
  await t.rejects(sample.run({ source, runId, sandbox: 'own' }, {}, [own]), { code: 'ENVIRONMENT_BROKEN' });
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');
  isFull = false;
  t.match(await sample.resume(runId, { sandbox: 'own' }, [own]), { decision: { type: 'commit' } });
});

const captured = (text: string) => ({ bytes: Buffer.from(text), truncated: false, totalBytes: text.length });
const failed = (text: string, exitCode = 127): CheckOutcome => ({
  findings: [{ rule: 'check-outcome', severity: 'error', message: 'it failed' }],
  reports: [],
  result: {
    exitCode,
    timedOut: false,
    aborted: false,
    durationMs: 1,
    stdout: captured(''),
    stderr: captured(text),
    combined: captured(text),
  } as never,
});

t.test('a missing program of the check itself and a full disk are signs of a broken machine', async (t) => {
  const signOf = (command: string, text: string, exitCode = 127, expectedExitCode = 0) =>
    environmentSign({ command, expectedExitCode }, failed(text, exitCode));
  const missing = { kind: 'program-missing', program: 'ruff' };
  t.strictSame(signOf('ruff check .', 'sh: 1: ruff: not found\n'), missing);
  t.strictSame(signOf('CI=1 exec ruff check', 'bash: line 1: ruff: command not found\n'), missing);
  t.strictSame(signOf('make all && ruff check', 'built\nsh: 1: ruff: not found'), missing);
  t.strictSame(signOf('npm test', 'Error: ENOSPC: no space left on device, write', 1), { kind: 'disk-full' });
  for (const [command, text, exitCode, expected] of [
    ['npm test', 'sh: 1: vitest: not found\n', 127, 0],
    ['./lint.sh', 'sh: 1: ./lint.sh: not found\n', 127, 0],
    ['scripts/lint', 'sh: 1: scripts/lint: not found\n', 127, 0],
    ['ruff check .', 'sh: 1: ruff: not found\n', 1, 0],
    ['ruff check .', 'sh: 1: ruff: not found\n', 127, 127],
    ['ruff check .', 'ruff: not found, she said\n', 127, 0],
  ] as const)
    t.equal(signOf(command, text, exitCode, expected), undefined, `${command} ${exitCode}`);
  t.equal(
    environmentSign({ command: 'ruff', expectedExitCode: 0 }, { ...failed('ruff: not found'), findings: [] }),
    undefined,
    'a check that passed',
  );
});

t.test('a program that only the change lacks fails the check', async (t) => {
  const check = { id: 'lint', command: 'ruff check .', expectedExitCode: 0 };
  const sign = { kind: 'program-missing', program: 'ruff' } as const;
  t.throws(() => stopIfSameAtBase(check, sign, failed('sh: 1: ruff: not found\n')), {
    code: 'ENVIRONMENT_BROKEN',
    message: /check `lint` starts `ruff`, which this machine does not have/,
    hints: [/install `ruff`.*`writ resume RUN`/],
  });
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, failed('3 problems', 1)));
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, { ...failed(''), findings: [] }));
  t.throws(() => stopIfSameAtBase(check, { kind: 'disk-full' }, failed('No space left on device', 1)), {
    code: 'ENVIRONMENT_BROKEN',
  });
});

t.test('a line that says that something is missing counts if the base prints it, too', async (t) => {
  const check = { id: 'unit', command: 'node test/all.js', expectedExitCode: 0, required: true };
  const lack = failed("Error: Cannot find module 'lodash/fp'\n    at line 12\n", 1);
  const sign = lackSign(check, lack);
  t.strictSame(sign, { kind: 'lack', line: "Error: Cannot find module 'lodash/fp'", more: ['at line 12'] });
  t.throws(() => sign && stopIfSameAtBase(check, sign, lack), {
    code: 'ENVIRONMENT_BROKEN',
    message:
      "check `unit` passes no test and prints `Error: Cannot find module 'lodash/fp'`, `at line 12`: it does so at the base commit too",
  });
  t.doesNotThrow(() => sign && stopIfSameAtBase(check, sign, failed("Cannot find module './new.js'", 1)));
  t.equal(lackSign(check, failed("Could not find 'test/all.js'", 1)), undefined, 'its own path');
  const counts = { passed: 1, failed: 1, skipped: 0 };
  t.equal(lackSign(check, { ...lack, tests: counts }), undefined, 'a test passed');
  t.equal(lackSign({ ...check, required: false }, lack), undefined);
  for (const attempt of ['candidate-1', 'task-1/revision-1/attempt-2'])
    t.equal(lackSign(check, lack, attempt), undefined, 'a model may mend it');
  t.match(lackSign(check, lack, 'task-1/revision-1/attempt-3'), { kind: 'lack' }, 'it has tried to');
  t.equal(
    lackSign(check, failed("Cannot find module './new.js'", 1), 'candidate-2'),
    undefined,
    'its own file',
  );
  const inScript = failed('ci/test.sh: line 3: poetry: command not found\n', 127);
  t.match(lackSign({ ...check, command: 'bash ci/test.sh' }, inScript), { kind: 'lack' });
  const gone = failed('bash: ci/test.sh: No such file or directory\n', 127);
  t.not(lackSign({ ...check, command: 'bash ci/test.sh' }, gone)?.kind, 'lack');
});

t.test('the lines after the first are in the message: they have the cause', async (t) => {
  const check = { id: 'unit', command: 'mvn -o test', expectedExitCode: 0, required: true };
  const cause = '[ERROR] The specified user settings file does not exist: /etc/x.xml';
  const output = failed(`[ERROR] Error executing Maven.\n${cause}\nsecond\nthird\n`, 1);
  const sign = lackSign(check, output);
  t.throws(() => sign && stopIfSameAtBase(check, sign, output), {
    code: 'ENVIRONMENT_BROKEN',
    message: `check \`unit\` shows no test and prints \`[ERROR] Error executing Maven.\`, \`${cause}\`, \`second\`: it does so at the base commit too`,
  });
});

t.test('a check of tests that runs none counts if it ends in the same way at the base', async (t) => {
  const check = { id: 'unit', command: 'python3 -m pytest', expectedExitCode: 0, required: true };
  const output = (seconds: string) => failed(`ERROR: unrecognized arguments: --cov\nin ${seconds}s\n`, 4);
  const sign = lackSign(check, output('0.1'));
  t.match(sign, { kind: 'no-test', line: 'ERROR: unrecognized arguments: --cov' });
  if (sign === undefined) return;
  t.throws(() => stopIfSameAtBase(check, sign, output('0.2')), {
    code: 'ENVIRONMENT_BROKEN',
    message: /check `unit` shows no test and prints/,
  });
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, failed('ERROR: unrecognized arguments: --cov', 4)));
  t.doesNotThrow(() =>
    stopIfSameAtBase(check, sign, failed(String(output('0.1').result?.combined.bytes), 3)),
  );
  const counts = { passed: 0, failed: 1, skipped: 0 };
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, { ...output('0.1'), tests: counts }), 'a test failed');
  t.equal(lackSign(check, { ...output('0.1'), tests: counts }), undefined);
  t.equal(lackSign(check, failed('1 passed', 0)), undefined, 'a missing report');
  t.equal(
    lackSign({ ...check, command: 'ruff .' }, failed('3 problems', 1)),
    undefined,
    'a check of its own',
  );
});

t.test('a package manager that cannot be downloaded is a sign of a broken machine', async (t) => {
  const check = { id: 'unit', command: 'pnpm test', expectedExitCode: 0 };
  const sign = { kind: 'package-manager-missing' } as const;
  const url = 'https://registry.npmjs.org/pnpm/-/pnpm-9.15.0.tgz';
  const request = `Error when performing the request to ${url}`;
  const help = 'for troubleshooting help, see https://github.com/nodejs/corepack#troubleshooting';
  const cause = '[cause]: Error: getaddrinfo EAI_AGAIN registry.npmjs.org';
  const created = "mkdir '/x/.cache/node/corepack/v1/corepack-7-5c19'";
  for (const text of [
    `Error: ${request}; ${help}\n    at fetch (corepack.cjs:22089:11) {\n  ${cause}\n`,
    `Internal Error: ${request}; ${help}\n`,
    'Internal Error: Error when performing the request\n    at ClientRequest.<anonymous>',
    `Network access disabled by the environment; can't reach ${url}`,
    `Error: EROFS: read-only file system, ${created}`,
    ' ERR_PNPM_META_FETCH_FAIL  GET https://registry.npmjs.org/pnpm: request to https://registry.npmjs.org/pnpm failed',
    '[ERROR] GET https://registry.npmjs.org/@pnpm%2Fexe: fetch failed\nFor help, run: pnpm help run',
    'go: downloading go1.24.4 (linux/amd64)\ngo: download go1.24.4: golang.org/toolchain@v0.0.1-go1.24.4.linux-amd64: Get "https://proxy.golang.org/x.zip": dial tcp: lookup proxy.golang.org',
    'go: go.mod requires go >= 1.24 (running go 1.22.2; GOTOOLCHAIN=local)',
    'go: download go1.25 for linux/amd64: toolchain not available',
    "go: errors parsing go.mod:\n/workspace/go.mod:3: invalid go version '1.24.0': must match format 1.23\n",
    "error: could not download file from 'https://static.rust-lang.org/dist/channel-rust-1.70.0.toml.sha256' to '/h/.rustup/tmp/x_file': dns error",
    "error: toolchain '1.70.0-x86_64-unknown-linux-gnu' is not installed\nhelp: run `rustup toolchain install` to install it",
    "error: override toolchain '1.70.0' is not installed",
    'error: could not create temp file /h/.rustup/tmp/x_file: Read-only file system (os error 30)',
    "error: 'cargo-miri' is not installed for the toolchain 'nightly-x86_64-unknown-linux-gnu'.",
    "error: the 'miri' component which provides the command 'cargo-miri' is not available for the 'stable' toolchain",
    'Downloading https://services.gradle.org/distributions/gradle-8.5-bin.zip\n\nException in thread "main" java.net.UnknownHostException: services.gradle.org',
    'error: No interpreter found for Python >=3.12 in managed installations or search path',
    'error: Failed to install cpython-3.13.8-linux-x86_64-gnu\n  Caused by: Failed to download https://github.com/astral-sh/python-build-standalone/x',
    'Poetry was unable to find a compatible version. If you have one, you can explicitly use it',
    "error: invalid toolchain: the path '/nope' has no bin/ directory",
  ]) {
    t.strictSame(environmentSign(check, failed(text, 1)), sign, text);
    t.throws(() => stopIfSameAtBase(check, sign, failed(text, 1)), {
      code: 'ENVIRONMENT_BROKEN',
      message:
        'check `unit` starts a version of a package manager or toolchain that would be downloaded: it is missing at the base commit too',
      hints: [/`corepack install`.*`writ resume RUN`; the change is neither accepted nor refused/],
    });
    const tests = { passed: 1, failed: 1, skipped: 0 } as never;
    t.equal(environmentSign(check, { ...failed(text, 1), tests }), undefined, 'a test of such output');
  }
  t.equal(environmentSign(check, failed(cause, 1)), undefined, 'a request of the project itself');
  t.equal(environmentSign(check, failed("error: could not download file from 'https://a/b'", 1)), undefined);
  t.equal(environmentSign(check, failed("EROFS: read-only file system, open '/usr/x'", 1)), undefined);
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, failed('1 test failed', 1)), 'the change names another');
});

t.test('a missing dependency is a sign of the machine if the project or the command names it', async (t) => {
  const missing = (name: string): CheckOutcome => {
    const outcome = failed('', 1);
    const note = { rule: 'check-outcome', severity: 'note', message: 'the remedy' } as const;
    const detail = { code: 'WORKSPACE_DEPENDENCIES_MISSING', name };
    return { ...outcome, findings: [...outcome.findings, { ...note, detail }] };
  };
  const check = { id: 'unit', command: 'npx jest', expectedExitCode: 0, required: true };
  const sign = environmentSign(check, missing('jest'));
  t.match(sign, { kind: 'dependency-missing', name: 'jest' });
  if (sign === undefined) return;
  t.equal(environmentSign({ ...check, required: false }, missing('jest')), undefined);
  const tests = { passed: 1, failed: 1, skipped: 0 } as never;
  t.equal(
    environmentSign(check, { ...missing('jest'), tests }),
    undefined,
    'other tests of the suite passed',
  );
  t.throws(() => stopIfSameAtBase(check, sign, missing('jest')), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    exitCode: 128,
    detail: { check: 'unit', name: 'jest' },
    hints: ['the remedy', /`writ resume RUN`.*neither accepted nor refused/],
  });
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, missing('left-pad')));
  t.doesNotThrow(() => stopIfSameAtBase(check, sign, failed('', 1)));

  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'uv.lock'), 'name = "Typing-Extensions"\nname = "left-pad"\n');
  writeFileSync(join(sample.root, 'src/fee.py'), '');
  writeFileSync(join(sample.root, 'go.mod'), 'module example.com/own/it\n\nrequire github.com/a/b v1.2.3\n');
  writeFileSync(join(sample.root, 'package.json'), '{ "main": "src/index.js", "name": "fee", "x": "@a/b" }');
  sample.git('add', '--all');
  const baseTree = sample.git('write-tree');
  const place = await openRepository(sample.root);
  const canBe = (name: string, command = 'npm test', ...paths: string[]) =>
    canBeOfMachine(
      { kind: 'dependency-missing', name, reason: '' },
      { command, expectedExitCode: 0 },
      { baseTree, files: paths.map((path) => ({ path })) as never },
      place,
    );
  for (const name of ['typing_extensions', 'left-pad@>=1.0.0', 'node_modules', 'node_modules or .pnp.cjs'])
    t.ok(await canBe(name), name);
  for (const name of ['left-pad/fp', 'typing.extensions', 'typing.extensions.more', '@a/b/c/d'])
    t.ok(await canBe(name), `${name} is a part of a package`);
  t.ok(await canBe('github.com/a/b/c/d', 'go test ./...'));
  for (const name of ['example.com/own/it/new', 'github.com/a/other/c'])
    t.notOk(await canBe(name, 'go test ./...'), `${name} is a package of the module, or of another one`);
  for (const name of ['src/left-pad', 'fee.left', '@/left-pad/fp', '~/left-pad', 'lib/x', '@a/x/b'])
    t.notOk(await canBe(name), `${name} may be of the project`);
  t.notOk(await canBe('left-pad/fp', 'npm test', 'left-pad/index.js'), 'the change adds it');
  for (const name of ['.m2', 'org.apache.maven.surefire:surefire-junit4', 'org.example:left-pad'])
    t.ok(await canBe(name, 'mvn test'), name);
  t.notOk(await canBe('org.example:part', 'mvn test'), 'another part of the project');
  t.ok(await canBe('jest@29', 'npx jest@29', 'jest.config.js'), 'the command names it');
  for (const name of ['calc', 'left', 'pad-left'])
    t.notOk(await canBe(name), `${name} may be of the project`);
  t.notOk(await canBe('calc', "python3 -c 'import calc'"), 'only a script in the command names it');
  for (const path of ['node_modules/jest/package.json', 'vendor/jest.js', 'jest/__init__.py'])
    t.notOk(await canBe('jest', 'npx jest', path), `the change adds ${path}`);
});

t.test('a run whose check lacks its program stops without a decision, and is resumed', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff'));
  const runId = '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d3';
  const tool = 'no-such-linter-of-writ';
  const allow = [{ tool: 'workspace.command', actions: ['execute'] }];
  const lint = {
    id: 'unit',
    kind: 'command',
    command: `${tool} .`,
    timeoutSeconds: 60,
    required: true,
    artifactsProduced: ['test-log'],
  };
  const spec = {
    acceptance: { verificationPlan: { fastChecks: [lint] } },
    security: { toolAcl: { allow } },
  };
  await t.rejects(sample.run({ source: { kind: 'patch', bytes }, runId }, spec), {
    code: 'ENVIRONMENT_BROKEN',
    detail: { check: 'unit', program: tool },
  });
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');
  await t.rejects(sample.resume(runId), { code: 'ENVIRONMENT_BROKEN' }, 'it is still missing');

  // Where there is no network, npm and pnpm repeat no request, and pnpm does not install before a script.
  lint.command = `printenv npm_config_fetch_retries pnpm_config_fetch_retries pnpm_config_verify_deps_before_run | grep -cEx '0|false' | grep -qx 3 && node -e "require(process.argv[1])" left-pad`;
  await t.rejects(sample.run({ source: { kind: 'patch', bytes } }, spec), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    detail: { check: 'unit', name: 'left-pad' },
  });
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');
});

t.test('a `prepare` command decides nothing about a change if it fails at the base, too', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const commit = (message: string, files: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(sample.root, path)), { recursive: true });
      writeFileSync(join(sample.root, path), text);
    }
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', message);
  };
  const prepare = (script: string): string =>
    `[[workspace.prepare]]\nargv = ["sh", "-c", "${script}"]\nlockfile = "package.json"\ninputs = ["src/price.js"]\noutputs = ["made"]\n`;
  commit('prepare', { '.gitignore': 'made\n', '.writ/config.toml': prepare('exit 3') });
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff'));
  await t.rejects(sample.run({ source: { kind: 'patch', bytes } }), {
    code: 'ENVIRONMENT_BROKEN',
    message: /it exited with 3 \(at the base commit too\)/,
  });
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');

  const before = sample.git('rev-parse', 'HEAD:src/price.js');
  commit('another', {
    '.writ/config.toml': prepare(`mkdir made; test $(git hash-object src/price.js) = ${before}`),
  });
  const { decision, stages } = await sample.run({ source: { kind: 'patch', bytes } });
  t.match(decision, { type: 'abandon' }, 'the change broke it');
  t.match(JSON.stringify(stages), /WORKSPACE_PREPARE_FAILED/);
});
