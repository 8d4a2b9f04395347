import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { isWritError, type WritError } from '../../../core/base/errors.ts';
import type { SandboxBackend, SandboxBind, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import { parseConfig, type WorkspaceConfig } from '../../../engine/config/config.ts';
import { vouchForOutput } from '../../../engine/evaluate/workspace-dependencies/prepared-directories.ts';
import {
  provideWorkspaceDependencies,
  skippedShares,
  type WorkspaceDependencies,
} from '../../../engine/evaluate/workspace-dependencies.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { dependenciesMissingHint } from '../../../readers/reports/missing-dependencies.ts';
import { processWitness, voucherUnder } from '../../../store/journal-witness.ts';
import { digestDirectory } from '../../../workspace/git/directory-digest.ts';
import { isIgnoredPath } from '../../../workspace/git/dirty-paths.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { buildDemoRepository, demoFixture, git } from '../../plugins/supply-chain/build-demo-repository.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { fixtures, makeSample } from '../sample.ts';

// Sandboxes and npm on a busy machine.
t.setTimeout(180_000);
/** Found and built once; every test gets a copy of the repository. */
let environment: Promise<{ readonly sandbox: SandboxBackend; readonly template: string }> | undefined;
function onGround() {
  environment ??= (async () => {
    const box = mkdtempSync(join(tmpdir(), 'writ-test-'));
    process.once('exit', () => rmSync(box, { recursive: true, force: true }));
    const template = join(box, 'template');
    await buildDemoRepository(template);
    return { sandbox: await workingSandbox(), template };
  })();
  return environment;
}

const demoConfig = parseConfig(
  readFileSync(join(demoFixture, 'base/dot.writ/config.toml')),
  sealingForms,
).workspace;
const shareConfig: WorkspaceConfig = {
  sharesUsual: false,
  share: ['node_modules'],
  lockfile: 'package-lock.json',
  findsLockfile: false,
  lockfiles: new Map(),
  prepare: [],
  carry: [],
  rewrites: [],
  history: 1,
};

async function workingSandbox(): Promise<SandboxBackend> {
  for (const backend of [bubblewrapSandbox(), unshareSandbox()]) {
    if ((await backend.probe()).works) return backend;
  }
  throw new Error('these tests need a sandbox that works here');
}

/** The demo repository with its candidate exported beside it, and everything that a request needs. */
async function project(directory: string, config: WorkspaceConfig, change?: (workspace: string) => void) {
  const worktree = join(directory, 'worktree');
  const workspace = join(directory, 'workspace');
  const { sandbox, template } = await onGround();
  cpSync(template, worktree, { recursive: true });
  const repository = await openRepository(worktree);
  mkdirSync(workspace);
  git(worktree, `--work-tree=${workspace}`, 'checkout-index', '-a');
  change?.(workspace);
  const cacheDir = join(worktree, '.git/writ/cache/workspace');
  const request = {
    config,
    worktree,
    workspace,
    cacheDir,
    sandbox,
    voucher: await processWitness.voucher('test'),
    readBase: async (path: string) => Buffer.from(`${git(worktree, 'show', `HEAD:${path}`)}\n`),
    readCandidate: async (path: string) =>
      existsSync(join(workspace, path)) ? readFileSync(join(workspace, path)) : undefined,
    isIgnored: (path: string) => isIgnoredPath(repository, path),
  };
  return { worktree, workspace, cacheDir, request };
}

async function check(
  workspace: string,
  binds: readonly SandboxBind[],
  argv: readonly string[],
): Promise<SandboxResult> {
  const reports = `${workspace}-reports`;
  mkdirSync(reports, { recursive: true });
  const { sandbox } = await onGround();
  return sandbox.run({
    argv,
    workspace,
    reports,
    binds,
    env: {},
    network: 'none',
    timeoutMs: 30_000,
    maxOutputBytes: 65_536,
  });
}
const suite = ['node', '--test', '--test-reporter=tap'];

function npmCi(directory: string): void {
  const { status } = spawnSync('npm', ['ci', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: directory,
  });
  if (status !== 0) throw new Error('npm ci failed');
}

/** Makes a virtual environment, or a directory shaped like one where Python is missing; answers its program. */
function makeVirtualEnvironment(directory: string): string {
  const made = spawnSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', directory]);
  if (made.status === 0) return '/usr/bin/python3';
  mkdirSync(join(directory, 'bin'), { recursive: true });
  writeFileSync(join(directory, 'pyvenv.cfg'), 'home = /usr/bin\n');
  symlinkSync(process.execPath, join(directory, 'bin/python3'));
  symlinkSync('python3', join(directory, 'bin/python'));
  return process.execPath;
}

async function failure(act: Promise<unknown>): Promise<WritError> {
  try {
    await act;
  } catch (error) {
    if (isWritError(error, 'WORKSPACE_PREPARE_FAILED')) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
const refusals = ({ notes }: WorkspaceDependencies) => notes.map(({ refusal }) => refusal);
/** A prepare step in shell over the demo's lockfile. */
const shell = (script: string, outputs = ['made']): WorkspaceConfig['prepare'][number] => ({
  argv: ['sh', '-c', script],
  hosts: [],
  timeoutSeconds: 30,
  lockfile: 'package-lock.json',
  inputs: ['package.json'],
  outputs,
});
const preparing = (...steps: WorkspaceConfig['prepare']): WorkspaceConfig => ({
  ...shareConfig,
  share: [],
  prepare: steps,
});

long('a project with npm dependencies passes its tests only with the output of `prepare`', async (t) => {
  const { workspace, worktree, request } = await project(t.testdir(), demoConfig);
  const without = await check(workspace, [], suite);
  t.not(without.exitCode, 0);
  const hint = dependenciesMissingHint(without.combined.bytes);
  t.match(hint, { severity: 'note', detail: { code: 'WORKSPACE_DEPENDENCIES_MISSING' } });
  t.ok(['csv-lines', 'route-pattern'].includes(String(hint?.detail?.name)));

  const first = await provideWorkspaceDependencies(request);
  t.strictSame(
    first.notes.map(({ directory, outcome }) => [directory, outcome]),
    [['node_modules', 'prepared']],
  );
  t.match(first.resolvedDependencies, [
    {
      name: 'workspace/node_modules',
      uri: /^urn:writ:workspace-prepare:sha256:[0-9a-f]{64}$/,
      digest: { sha256: /^[0-9a-f]{64}$/ },
    },
  ]);
  const withThem = await check(workspace, first.binds, suite);
  t.equal(withThem.exitCode, 0, withThem.combined.bytes.toString());
  t.equal(dependenciesMissingHint(withThem.combined.bytes), undefined);
  await check(workspace, first.binds, ['touch', 'node_modules/x']);
  t.notOk(existsSync(join(first.binds[0]?.source ?? '', 'x')), 'a check cannot change them');

  const second = await provideWorkspaceDependencies(request);
  t.strictSame(
    second.notes.map(({ outcome }) => outcome),
    ['cached'],
  );
  t.strictSame(second.resolvedDependencies, first.resolvedDependencies);
  t.strictSame(second.binds, first.binds);
  t.strictSame(
    readdirSync(request.cacheDir).filter((name) => name.startsWith('tmp-')),
    [],
    'no scratch is left',
  );
  t.equal(git(worktree, 'status', '--porcelain', '--ignored'), '', 'the working tree is untouched');
});

long('`share` mounts the directory of the working tree read-only and records its digest', async (t) => {
  const { worktree, workspace, request } = await project(t.testdir(), shareConfig);
  npmCi(worktree);
  const shared = await provideWorkspaceDependencies(request);
  t.strictSame(
    shared.notes.map(({ outcome }) => outcome),
    ['shared'],
  );
  t.match(shared.resolvedDependencies, [{ name: 'workspace/node_modules', uri: 'urn:writ:workspace-share' }]);
  t.equal((await check(workspace, shared.binds, suite)).exitCode, 0);
  await check(workspace, shared.binds, ['touch', 'node_modules/x']);
  t.notOk(existsSync(join(worktree, 'node_modules/x')));

  appendFileSync(join(worktree, 'node_modules/csv-lines/index.js'), '\n');
  const edited = await provideWorkspaceDependencies(request);
  t.strictNotSame(
    edited.resolvedDependencies,
    shared.resolvedDependencies,
    'another content is another digest',
  );
});

t.test('`share` requires equal lockfiles on disk, at the base and in the candidate', async (t) => {
  const { worktree, workspace, request } = await project(t.testdir(), shareConfig);
  mkdirSync(join(worktree, 'node_modules'));
  const lockfile = 'package-lock.json';
  const original = readFileSync(join(worktree, lockfile));
  t.strictSame(refusals(await provideWorkspaceDependencies(request)), [undefined]);

  appendFileSync(join(workspace, lockfile), ' ');
  t.strictSame(
    refusals(await provideWorkspaceDependencies(request)),
    ['lockfile-differs'],
    'in the candidate',
  );
  rmSync(join(workspace, lockfile));
  t.strictSame(
    refusals(await provideWorkspaceDependencies(request)),
    ['lockfile-missing'],
    'removed by the candidate',
  );
  writeFileSync(join(workspace, lockfile), original);

  appendFileSync(join(worktree, lockfile), ' ');
  const onDisk = await provideWorkspaceDependencies(request);
  t.strictSame(
    [refusals(onDisk), onDisk.binds, onDisk.resolvedDependencies],
    [['lockfile-differs'], [], []],
    'on disk',
  );
  rmSync(join(worktree, lockfile));
  t.strictSame(
    refusals(await provideWorkspaceDependencies(request)),
    ['lockfile-missing'],
    'removed from disk',
  );
  writeFileSync(join(worktree, lockfile), original);

  const base = { ...request, readBase: async () => Buffer.from('{}') };
  t.strictSame(refusals(await provideWorkspaceDependencies(base)), ['lockfile-differs'], 'at base');
  const none = { ...request, readBase: async () => undefined };
  t.strictSame(refusals(await provideWorkspaceDependencies(none)), ['lockfile-missing'], 'absent at base');

  const outside = join(t.testdirName, 'outside.json');
  writeFileSync(outside, original);
  rmSync(join(worktree, lockfile));
  symlinkSync(outside, join(worktree, lockfile));
  t.strictSame(
    refusals(await provideWorkspaceDependencies(request)),
    ['lockfile-missing'],
    'a link out of the tree',
  );
});

t.test(
  '`share` refuses directories that are missing, tracked by git or outside the working tree',
  async (t) => {
    const directory = t.testdir({ outside: { secret: 'x' } });
    const { worktree, request } = await project(directory, shareConfig);
    const modules = join(worktree, 'node_modules');
    t.strictSame(refusals(await provideWorkspaceDependencies(request)), ['directory-missing']);

    symlinkSync(join(directory, 'outside'), modules);
    const escaped = await provideWorkspaceDependencies(request);
    t.strictSame([refusals(escaped), escaped.binds], [['escapes-worktree'], []]);
    rmSync(modules);
    symlinkSync('..', modules);
    t.strictSame(refusals(await provideWorkspaceDependencies(request)), ['escapes-worktree']);
    rmSync(modules);
    symlinkSync('.', modules);
    t.strictSame(
      refusals(await provideWorkspaceDependencies(request)),
      ['escapes-worktree'],
      'the whole tree',
    );
    rmSync(modules);
    symlinkSync('src', modules);
    t.strictSame(
      refusals(await provideWorkspaceDependencies(request)),
      ['not-ignored'],
      'a link to tracked files',
    );
    rmSync(modules);

    const tracked = { ...request, config: { ...shareConfig, share: ['src'] } };
    rmSync(join(request.workspace, 'src'), { recursive: true });
    t.strictSame(refusals(await provideWorkspaceDependencies(tracked)), ['not-ignored']);

    mkdirSync(join(modules, 'a'), { recursive: true });
    symlinkSync('../../src', join(modules, 'a', 'inner'));
    t.strictSame(
      refusals(await provideWorkspaceDependencies(request)),
      [undefined],
      'a link that stays inside is fine',
    );
    symlinkSync('../../../outside', join(modules, 'a', 'outer'));
    t.strictSame(
      refusals(await provideWorkspaceDependencies(request)),
      ['not-describable'],
      'a link inside that leads out',
    );
    rmSync(join(modules, 'a', 'outer'));
    spawnSync('mkfifo', [join(modules, 'pipe')]);
    t.strictSame(refusals(await provideWorkspaceDependencies(request)), ['not-describable'], 'a named pipe');
  },
);

t.test('a virtual environment is shared although its program is a link that leads outside', async (t) => {
  const directory = t.testdir({ outside: { 'a-program': '#!/bin/sh\n', 'a-key': 'private' } });
  chmodSync(join(directory, 'outside/a-program'), 0o755);
  const { worktree, workspace, request } = await project(directory, { ...shareConfig, share: ['.venv'] });
  mkdirSync(join(worktree, '.git/info'), { recursive: true });
  appendFileSync(join(worktree, '.git/info/exclude'), '.venv\n');
  const program = makeVirtualEnvironment(join(worktree, '.venv'));
  const shared = await provideWorkspaceDependencies(request);
  t.match(shared.notes, [{ directory: '.venv', outcome: 'shared' }]);
  t.same(skippedShares(shared), []);
  const [flag, words] = program.endsWith('node') ? ['-p', '"it runs"'] : ['-c', 'print("it runs")'];
  const ran = await check(workspace, shared.binds, ['.venv/bin/python', flag, words]);
  t.equal(ran.combined.bytes.toString(), 'it runs\n');
  await check(workspace, shared.binds, ['touch', '.venv/x']);
  t.notOk(existsSync(join(worktree, '.venv/x')), 'a check cannot change it');

  const link = join(worktree, '.venv/bin/tool');
  const lead = async (to: string) => {
    rmSync(link, { force: true });
    symlinkSync(to, link);
    return provideWorkspaceDependencies(request);
  };
  const digestOf = ({ resolvedDependencies }: WorkspaceDependencies) =>
    resolvedDependencies[0]?.digest.sha256;
  t.not(digestOf(await lead('/bin/sh')), digestOf(shared));
  const unseen = await lead(join(directory, 'outside/a-program'));
  t.strictSame(refusals(unseen), ['program-unseen']);
  t.match(skippedShares(unseen), [/`bin\/tool` in it links to a program that checks do not see/]);
  for (const other of ['/usr', join(directory, 'outside/a-key'), '../../../outside/a-program', '/nowhere'])
    t.strictSame(refusals(await lead(other)), ['not-describable'], other);
  rmSync(link);

  const recordOf = (environment: string) =>
    join(worktree, environment, 'lib/python3.12/site-packages/pkg-0.1.dist-info/direct_url.json');
  const record = recordOf('.venv');
  mkdirSync(dirname(record), { recursive: true });
  // The wheels that git tracks, and what the change makes of them.
  const wheels = { atBase: new Map<string, Buffer>(), changed: new Map<string, Buffer>() };
  const sharing = (share: readonly string[]) =>
    provideWorkspaceDependencies({
      ...request,
      config: { ...request.config, share },
      readBase: async (path) => (path.endsWith('.whl') ? wheels.atBase.get(path) : request.readBase(path)),
      readCandidate: async (path) =>
        wheels.changed.get(path) ?? wheels.atBase.get(path) ?? request.readCandidate(path),
    });
  const installed = async (url: string, more: object) => {
    writeFileSync(record, JSON.stringify({ url, ...more }));
    return refusals(await sharing(['.venv']));
  };
  const own = `${pathToFileURL(realpathSync(worktree))}`;
  const [copied, linked, archived, cloned] = [
    { dir_info: {} },
    { dir_info: { editable: true } },
    { archive_info: {} },
    { vcs_info: { vcs: 'git' }, subdirectory: 'packages/a' },
  ];
  t.strictSame(await installed(own, copied), ['holds-project'], 'tests would run the copy');
  t.strictSame(await installed(own.replace('/w', '/%77'), copied), ['holds-project'], 'as pip quotes');
  t.strictSame(await installed(`${own}/packages/a`, copied), ['holds-project'], 'a part of the project');
  t.strictSame(await installed(own, cloned), ['holds-project'], 'a part of it, by its repository');
  t.strictSame(await installed(own, linked), [undefined]);

  const wheel = 'packages/a/dist/pkg-0.1.whl';
  const built = async (environment: string, root = own) => {
    const place = recordOf(environment);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, JSON.stringify({ url: `${root}/${wheel}`, ...archived }));
    return refusals(await sharing([environment.split('/')[0] ?? '']));
  };
  t.strictSame(await built('.venv'), ['holds-project'], 'built from it, whatever its name');
  t.match(skippedShares(await sharing(['.venv'])), [/`packages\/a\/dist\/pkg-0.1.whl` is installed in it/]);
  symlinkSync(worktree, join(directory, 'by-link'));
  const byLink = `${pathToFileURL(join(directory, 'by-link'))}`;
  t.strictSame(await built('.venv', byLink), ['holds-project'], 'its directory is gone');
  appendFileSync(join(worktree, '.git/info/exclude'), '.tox\n');
  t.strictSame(await built('.tox/py312'), ['holds-project'], 'one of many environments');
  wheels.atBase.set(wheel, Buffer.from('third-party'));
  t.strictSame(await built('.venv'), [undefined], 'a vendored wheel');
  wheels.changed.set(wheel, Buffer.from('another'));
  t.strictSame(await built('.venv'), ['holds-project'], 'a vendored wheel that the change replaces');
  wheels.changed.clear();
  writeFileSync(join(worktree, 'pyproject.toml'), '[project]\nname = "PKG"\n');
  t.strictSame(await built('.venv'), ['holds-project'], 'a tracked wheel of the project');
  t.strictSame(await installed('https://example.com/pkg-0.1.whl', archived), ['holds-project'], 'by name');
  writeFileSync(join(worktree, 'pyproject.toml'), '[project]\nname = "other"\n');
  t.strictSame(await installed('https://example.com/pkg-0.1.whl', archived), [undefined]);

  const site = dirname(dirname(record));
  const shares = async () => refusals(await sharing(['.venv']));
  const put = (file: string, text = 'x = 1\n'): void => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  put(join(worktree, 'packages/a/pyproject.toml'), '');
  const extended = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n";
  for (const root of [join(worktree, 'src'), site]) put(join(root, 'acme/__init__.py'), extended);
  put(join(site, 'acme/core.py'));
  for (const [path, copy] of [
    ['src/acme/calc.py', 'acme/other.py'],
    ['alembic/env.py', 'alembic/__init__.py'],
    ['tests/__init__.py', 'tests/__init__.py'],
    ['src/pkg/_vendor/six.py', 'six.py'],
  ] as const) {
    put(join(worktree, path));
    put(join(site, copy));
    t.strictSame(await shares(), [undefined], `not the project: ${copy}`);
  }
  for (const [path, copy] of [
    ['src/calc/__init__.py', 'calc/__init__.py'],
    ['packages/a/src/parts/__init__.py', 'parts-1.0-py3.12.egg/parts/__init__.py'],
    ['src/acme/price.py', 'acme/price.py'],
    ['single.py', 'single.py'],
    ['src/cloned/__init__.py', '../../../src/sub-pkg/src/cloned/__init__.py'],
  ] as const) {
    put(join(worktree, path));
    t.strictSame(await shares(), [undefined], `only in the working tree: ${path}`);
    put(join(site, copy));
    t.strictSame(await shares(), ['holds-project'], `a copy of it: ${copy}`);
    rmSync(join(site, copy));
  }
  put(join(worktree, 'services/sub/pyproject.toml'), '[project]\nname = "sub-pkg"\n');
  put(join(worktree, 'services/sub/utils/__init__.py'));
  put(join(site, 'utils/__init__.py'));
  t.strictSame(await shares(), ['holds-project'], 'no package says that it is its own');
  put(join(site, 'tool-0.1.dist-info/RECORD'), 'utils/__init__.py,,\n');
  t.strictSame(await shares(), [undefined], 'of another package');
  for (const path of ['tool-0.1.dist-info', 'utils']) rmSync(join(site, path), { recursive: true });
  put(join(site, 'sub_pkg-0.1-py3.12.egg'), 'a zip archive');
  t.strictSame(await shares(), ['holds-project'], 'a part by its name, in an archive');
  rmSync(join(site, 'sub_pkg-0.1-py3.12.egg'));
  const linked2 = join(site, 'other-0.1.dist-info');
  put(join(linked2, 'RECORD'), 'other.pth,,\nother-0.1.dist-info/METADATA,,\n');
  t.strictSame(await shares(), [undefined], 'a link of poetry');
  put(join(linked2, 'RECORD'), 'other/__init__.py,,\n');
  t.strictSame(await shares(), ['holds-project']);
  rmSync(linked2, { recursive: true });
  appendFileSync(join(worktree, 'pyproject.toml'), '[[tool.poetry.source]]\nname = "torch"\n');
  put(join(site, 'torch-2.1.dist-info/METADATA'));
  t.strictSame(await shares(), [undefined], 'the name of an index');
  for (const egg of [
    'calc_proj-1.0-py3.12.egg',
    'calc_proj-1.0-py3.12.egg-info',
    'calc_proj-1.0.dist-info',
  ]) {
    mkdirSync(join(site, egg));
    writeFileSync(join(worktree, 'setup.py'), 'setup(name="calc-proj", version="1")\n');
    t.strictSame(await shares(), ['holds-project'], egg);
    writeFileSync(join(worktree, 'setup.py'), 'setup(name=read())\n');
    t.strictSame(await shares(), [undefined], egg);
    rmSync(join(site, egg), { recursive: true });
  }
});

t.test('a check runs `.venv/bin/python`; without it, the run says why', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  const config = '[workspace]\nshare = [".venv"]\nlockfile = "requirements.txt"\n';
  writeFileSync(join(sample.root, '.writ/config.toml'), config);
  writeFileSync(join(sample.root, 'requirements.txt'), '');
  writeFileSync(join(sample.root, '.gitignore'), '.venv\n');
  sample.git('add', '-A');
  sample.git('commit', '--quiet', '-m', 'requirements');
  makeVirtualEnvironment(join(sample.root, '.venv'));
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff'));
  const run = (change: string = bytes.toString(), allowCommands = ['.venv/bin/python']) =>
    sample.run(
      { source: { kind: 'patch', bytes: Buffer.from(change) } },
      {
        intent: { inScope: ['src/', 'test/', 'requirements.txt'] },
        acceptance: {
          verificationPlan: {
            fastChecks: [
              {
                id: 'unit',
                kind: 'command',
                command: '.venv/bin/python --version',
                required: true,
                timeoutSeconds: 60,
              },
            ],
          },
        },
        security: {
          toolAcl: {
            allow: [
              {
                tool: 'workspace.command',
                actions: ['execute'],
                constraints: { allowCommands },
              },
            ],
          },
        },
      },
    );
  writeFileSync(join(sample.root, 'requirements.txt'), 'requests\n');
  await t.rejects(run(), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    exitCode: 128,
    message: '`.venv` is not shared: `requirements.txt` in the working tree differs',
    hints: [/working tree.*commit that to the policy branch and start a new `writ run`/],
  });
  const denied = await run(undefined, ['python3']);
  t.match(denied.stages[0]?.checks[0]?.findings[0], {
    message: '`.venv/bin/python --version` is not allowed: no `allowCommands` entry is a prefix of it',
  });
  sample.git('update-ref', '-d', `refs/ai/runs/${denied.runId}`);
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided about the change');
  writeFileSync(join(sample.root, 'requirements.txt'), '');
  const altering = `${bytes}diff --git a/requirements.txt b/requirements.txt\n--- a/requirements.txt\n+++ b/requirements.txt\n@@ -0,0 +1 @@\n+# nothing\n`;
  await t.rejects(run(altering), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    message: '`.venv` is not shared: the change alters `requirements.txt`',
  });
  const view = await run();
  t.equal(view.stages[0]?.checks[0]?.status, 'passed', JSON.stringify(view.stages[0]?.checks));
  t.equal(view.notices, undefined);
});

t.test('the digest covers the content of a linked program', async (t) => {
  const directory = t.testdir({ venv: {}, program: 'one' });
  const [venv, program] = [join(directory, 'venv'), join(directory, 'program')];
  chmodSync(program, 0o755);
  symlinkSync(program, join(venv, 'python'));
  const digest = async () => {
    const found = await digestDirectory(venv, { within: venv, maxEntries: 10, maxBytes: 100 });
    return 'fault' in found ? found.fault : found.sha256;
  };
  const before = await digest();
  t.match(before, /^[0-9a-f]{64}$/);
  writeFileSync(program, 'two');
  t.not(await digest(), before);
  writeFileSync(program, 'x'.repeat(200));
  t.match(await digest(), 'more than 100 bytes');
});

t.test('dependencies never cover a file or symlink of the candidate', async (t) => {
  for (const [sentence, change] of [
    [
      'tracked files',
      (workspace: string) => {
        mkdirSync(join(workspace, 'node_modules'));
        writeFileSync(join(workspace, 'node_modules/x'), '');
      },
    ],
    ['a link', (workspace: string) => symlinkSync('/etc', join(workspace, 'node_modules'))],
    ['a file', (workspace: string) => writeFileSync(join(workspace, 'node_modules'), '')],
  ] as const) {
    const { worktree, request } = await project(t.testdir(), shareConfig, change);
    mkdirSync(join(worktree, 'node_modules'));
    t.strictSame(refusals(await provideWorkspaceDependencies(request)), ['in-candidate'], sentence);
    const prepare = { ...request, config: preparing(shell('mkdir node_modules', ['node_modules'])) };
    await failure(provideWorkspaceDependencies(prepare));
  }
});

t.test('`prepare` runs only if `share` is refused', async (t) => {
  const config = {
    ...shareConfig,
    prepare: [shell('mkdir node_modules; echo 1 > node_modules/x', ['node_modules'])],
  };
  const { worktree, request } = await project(t.testdir(), config);
  const prepared = await provideWorkspaceDependencies(request);
  t.strictSame(
    prepared.notes.map(({ outcome }) => outcome),
    ['refused', 'prepared'],
  );
  t.equal(prepared.binds.length, 1);
  mkdirSync(join(worktree, 'node_modules'));
  const shared = await provideWorkspaceDependencies(request);
  t.strictSame(
    shared.notes.map(({ outcome }) => outcome),
    ['shared'],
  );
});

t.test(
  'a prepare command sees only its inputs and the outputs of earlier steps, without network',
  async (t) => {
    const config = preparing(
      shell(
        'list=$(find . -type f | sort); mkdir made && echo "$list" > made/seen && (getent hosts example.com || echo none) > made/net',
      ),
      shell('mkdir other && cp made/seen other/copy; touch made/x; true', ['other']),
    );
    const { request } = await project(t.testdir(), config);
    const { binds, notes } = await provideWorkspaceDependencies(request);
    t.strictSame(
      notes.map(({ directory }) => directory),
      ['made', 'other'],
    );
    const [made, other] = binds.map(({ source }) => source);
    t.equal(readFileSync(`${made}/seen`, 'utf8'), './package-lock.json\n./package.json\n');
    t.equal(readFileSync(`${made}/net`, 'utf8'), 'none\n');
    t.equal(readFileSync(`${other}/copy`, 'utf8'), readFileSync(`${made}/seen`, 'utf8'));
    t.notOk(existsSync(`${made}/x`));
  },
);

t.test('a cached result is reused only for the same command and inputs', async (t) => {
  const step = shell('mkdir made && date +%N > made/at');
  const { workspace, request } = await project(t.testdir(), preparing(step));
  const provide = (config = preparing(step)) => provideWorkspaceDependencies({ ...request, config });
  const first = await provide();
  writeFileSync(join(workspace, 'src/auth.js'), 'changed');
  t.strictSame(
    (await provide()).resolvedDependencies,
    first.resolvedDependencies,
    'what is no input changes nothing',
  );
  for (const change of [
    () => appendFileSync(join(workspace, 'package-lock.json'), ' '),
    () => appendFileSync(join(workspace, 'package.json'), ' '),
    () => chmodSync(join(workspace, 'package.json'), 0o755),
  ]) {
    const before = (await provide()).resolvedDependencies;
    change();
    const after = await provide();
    t.strictSame(
      after.notes.map(({ outcome }) => outcome),
      ['prepared'],
    );
    t.strictNotSame(after.resolvedDependencies, before);
  }
  const other = await provide(preparing(shell('mkdir made && date +%N > made/at; true')));
  t.strictSame(
    other.notes.map(({ outcome }) => outcome),
    ['prepared'],
    'another command',
  );
});

t.test('a cache entry is used only if this user on this machine made it', async (t) => {
  const step = shell('mkdir made && echo good > made/file');
  const { request, cacheDir } = await project(t.testdir(), preparing(step));
  const provide = (voucher = request.voucher) => provideWorkspaceDependencies({ ...request, voucher });
  const first = await provide();
  const made = first.binds[0]?.source ?? '';
  const entry = join(made, '../..');
  const word = join(entry, readdirSync(entry).find((name) => name.endsWith('.sha256')) ?? '');
  const vouched = readFileSync(word, 'utf8');
  const evilDigest = async (): Promise<string> => {
    writeFileSync(join(made, 'file'), 'evil');
    const digest = await digestDirectory(made, { within: made, maxEntries: 10, maxBytes: 100 });
    return 'fault' in digest ? '' : digest.sha256;
  };
  const stranger = voucherUnder(Buffer.from('another key'), 'test');
  const attacks: Readonly<Record<string, () => unknown>> = {
    'the tree exchanged': evilDigest,
    'tree and digest': async () => writeFileSync(word, await evilDigest()),
    'with the word that was there': async () =>
      writeFileSync(word, vouched.replace(/^[0-9a-f]{64}/, await evilDigest())),
    'with the word of somebody else': async () => {
      const sha256 = await evilDigest();
      const key = first.resolvedDependencies[0]?.uri?.split(':').at(-1) ?? '';
      await vouchForOutput({ path: entry, key, voucher: stranger }, 'made', sha256);
    },
    'all that somebody else made': async () => {
      const strangers = await provide(stranger);
      rmSync(entry, { recursive: true });
      cpSync(join(strangers.binds[0]?.source ?? '', '../..'), entry, { recursive: true });
    },
    'what another command made': async () => {
      const other = { ...request, config: preparing(shell('mkdir made && echo evil > made/file')) };
      const { binds } = await provideWorkspaceDependencies(other);
      rmSync(entry, { recursive: true });
      cpSync(join(binds[0]?.source ?? '', '../..'), entry, { recursive: true });
    },
    'a pipe for a word': () => {
      rmSync(word);
      spawnSync('mkfifo', [word]);
    },
    'a tree behind a link': () => {
      renameSync(join(entry, 'tree'), join(cacheDir, '../elsewhere'));
      symlinkSync('../../elsewhere', join(entry, 'tree'));
    },
    'a link to an entry': () => {
      renameSync(entry, join(cacheDir, '../entry'));
      symlinkSync('../entry', entry);
    },
  };
  for (const [name, attack] of Object.entries(attacks)) {
    await attack();
    const again = await provide();
    t.strictSame(
      again.notes.map(({ outcome }) => outcome),
      ['prepared'],
      name,
    );
    t.match(again.notes[0]?.message, 'is not vouched for by this user on this machine', name);
    t.equal(readFileSync(join(made, 'file'), 'utf8'), 'good\n', name);
    t.notOk(lstatSync(entry).isSymbolicLink());
    t.strictSame(again.resolvedDependencies, first.resolvedDependencies, name);
    t.match((await provide()).notes, [{ outcome: 'cached' }]);
  }
  const { sandbox } = request;
  const unconfined: SandboxBackend = {
    ...sandbox,
    name: 'none',
    unconfined: true,
    run: (asked) => sandbox.run({ ...asked, network: 'none' }),
  };
  const without = await provideWorkspaceDependencies({ ...request, sandbox: unconfined });
  t.match(without.notes, [{ outcome: 'prepared' }], 'nor what was made with a sandbox by who has none');
});

t.test('parallel runs that fill the same cache entry end with one entry', async (t) => {
  const { request, cacheDir } = await project(
    t.testdir(),
    preparing(shell('mkdir made && sleep 0.2 && date +%N > made/at')),
  );
  const results = await Promise.all([1, 2, 3].map(() => provideWorkspaceDependencies(request)));
  t.equal(new Set(results.map((result) => result.resolvedDependencies[0]?.digest.sha256)).size, 1);
  t.equal(readdirSync(cacheDir).length, 1);
});

t.test('foreign and temporary cache entries are removed after a day', async (t) => {
  const { request, cacheDir } = await project(t.testdir(), preparing(shell('mkdir made')));
  const foreign = 'f'.repeat(64);
  const fill = (): void => {
    for (const [name, hours] of [
      ['tmp-old', 25],
      ['tmp-new', 1],
      [foreign, 25],
      [`${foreign}-${'0'.repeat(32)}`, 25],
      [`${foreign}-${'1'.repeat(32)}`, 1],
      ['of somebody', 25],
    ] as const) {
      mkdirSync(join(cacheDir, name, 'stage'), { recursive: true });
      const at = Date.now() / 1000 - hours * 3600;
      utimesSync(join(cacheDir, name), at, at);
    }
  };
  const left = (): readonly string[] => readdirSync(cacheDir).filter((name) => !own.includes(name));
  await provideWorkspaceDependencies(request);
  const own = readdirSync(cacheDir);
  t.equal(own.length, 1);
  fill();
  for (const name of own) utimesSync(join(cacheDir, name), 1, 1);
  chmodSync(cacheDir, 0o777);
  t.match((await provideWorkspaceDependencies(request)).notes, [{ outcome: 'cached' }], 'ours however old');
  t.strictSame(left(), [`${foreign}-${'1'.repeat(32)}`, 'of somebody', 'tmp-new']);
  t.equal(statSync(cacheDir).mode & 0o777, 0o700, 'nobody else may write to it');

  renameSync(cacheDir, join(cacheDir, '../moved'));
  symlinkSync('moved', cacheDir);
  fill();
  chmodSync(cacheDir, 0o755);
  await provideWorkspaceDependencies(request);
  t.equal(left().length, 6, 'nothing of a place that a link leads to');
  t.equal(statSync(cacheDir).mode & 0o777, 0o755);
});

t.test('a failed prepare command reports the end of its output and caches nothing', async (t) => {
  const { request, cacheDir } = await project(t.testdir(), shareConfig);
  const run = (step: WorkspaceConfig['prepare'][number]) =>
    failure(provideWorkspaceDependencies({ ...request, config: preparing(step) }));

  const exit = await run(shell('yes out | head -c 200000; printf "\\033[31mno such package\\n"; exit 7'));
  t.match(exit.detail, { exitCode: 7, timedOut: false });
  const output = String(exit.detail.output);
  t.ok(output.endsWith('no such package\n') && output.length <= 4000);
  t.notOk(output.includes('\u001b'));

  t.match((await run({ ...shell('sleep 20'), timeoutSeconds: 1 })).detail, { timedOut: true });
  t.match((await run(shell('true'))).message, 'made no directory');
  t.match((await run(shell('ln -s /usr made'))).message, 'made no directory');
  t.match((await run(shell('mkdir made && ln -s /usr made/usr'))).message, 'leads outside');
  t.match((await run(shell('mkdir made && ln -s ../../x made/x'))).message, 'leads outside');
  t.match((await run(shell('mkdir made && mkfifo made/pipe'))).message, 'neither a file');
  await run({ ...shell('mkdir made'), lockfile: 'absent.lock' });
  t.strictSame(readdirSync(cacheDir), []);
});

t.test('an input is never read through a symlink of the candidate', async (t) => {
  const directory = t.testdir({ outside: { 'package.json': 'private' } });
  const { request } = await project(
    directory,
    preparing({ ...shell('mkdir made && cp -r lib made/'), inputs: ['lib/package.json'] }),
    (workspace) => symlinkSync(join(directory, 'outside'), join(workspace, 'lib')),
  );
  await failure(provideWorkspaceDependencies(request));
  const itself = {
    ...request,
    config: preparing({ ...shell('mkdir made && cat lib/package.json > made/x'), inputs: ['lib'] }),
  };
  await failure(provideWorkspaceDependencies(itself));
});

t.test('a sandbox without mounts gets copies of the dependencies', async (t) => {
  const { workspace, request } = await project(
    t.testdir(),
    preparing(shell('mkdir made && echo 1 > made/x')),
  );
  // The real back end under the name of the one that has no mounts.
  const unmounted: SandboxBackend = {
    name: 'none',
    unconfined: true,
    pathsInside: (paths) => request.sandbox.pathsInside(paths),
    probe: () => request.sandbox.probe(),
    run: (asked) => request.sandbox.run({ ...asked, network: 'none' }),
  };
  const { binds } = await provideWorkspaceDependencies({ ...request, sandbox: unmounted });
  t.strictSame(binds, []);
  t.equal(readFileSync(join(workspace, 'made/x'), 'utf8'), '1\n');
});

t.test('an aborted run stops preparing', async (t) => {
  const { request, cacheDir } = await project(t.testdir(), preparing(shell('sleep 20')));
  const controller = new AbortController();
  void instant(300).then(() => controller.abort(new Error('stop')));
  await t.rejects(provideWorkspaceDependencies({ ...request, signal: controller.signal }), {
    message: 'stop',
  });
  t.strictSame(readdirSync(cacheDir), []);
});

t.test('the digest of a directory covers names, modes, links and content, but not times', async (t) => {
  const directory = t.testdir({ a: { b: 'one', c: 'two', d: {} }, link: t.fixture('symlink', 'a/b') });
  const digest = async (limits: { maxEntries?: number; maxBytes?: number } = {}) =>
    digestDirectory(directory, { within: directory, maxEntries: 100, maxBytes: 1000, ...limits });
  const seen = new Set<string>();
  const expectNew = async (sentence: string) => {
    const found = await digest();
    if ('fault' in found) throw new Error(found.fault);
    t.notOk(seen.has(found.sha256), sentence);
    seen.add(found.sha256);
  };
  await expectNew('at first');
  const before = await digest();
  utimesSync(join(directory, 'a/b'), 1, 1);
  chmodSync(join(directory, 'a/b'), 0o600);
  t.strictSame(await digest(), before, 'times and readability do not count');
  chmodSync(join(directory, 'a/b'), 0o755);
  await expectNew('mode');
  writeFileSync(join(directory, 'a/b'), 'onf');
  await expectNew('content');
  renameSync(join(directory, 'a/c'), join(directory, 'a/e'));
  await expectNew('name');
  rmSync(join(directory, 'a/d'), { recursive: true });
  await expectNew('an empty directory less');
  rmSync(join(directory, 'link'));
  symlinkSync('a/e', join(directory, 'link'));
  await expectNew('link target');
  t.match(await digest({ maxEntries: 4 }), { entries: 4 }, 'as many entries as allowed');
  t.match(await digest({ maxEntries: 3 }), { fault: String });
  t.match(await digest({ maxBytes: 6 }), { bytes: 6 }, 'as many bytes as allowed');
  t.match(await digest({ maxBytes: 5 }), { fault: String });
  t.equal(statSync(directory).isDirectory(), true);
});

t.test('only output that looks like a missing dependency gets the hint', async (t) => {
  for (const [output, name] of [
    ["Error: Cannot find module 'left-pad'\nRequire stack:", 'left-pad'],
    ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /workspace/x.js", '@a/b'],
    ["Cannot find module './x.js'\nCannot find module 'y'", 'y'],
    ["ModuleNotFoundError: No module named 'requests'", 'requests'],
    ['sh: 1: vitest: not found', 'vitest'],
    ['# bash: line 1: jest: command not found', 'jest'],
    ['env: ‘pytest’: No such file or directory', 'pytest'],
    ['x.go:3:8: no required module provides package example.com/m/v2; to add it:', 'example.com/m/v2'],
    ['error: no matching package named `serde` found', 'serde'],
    ['sh: 1: .venv/bin/python: not found', '.venv/bin/python'],
    ['bash: line 1: node_modules/.bin/vitest: No such file or directory', 'node_modules/.bin/vitest'],
    ['make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127', 'pytest'],
    ['npm error npx canceled due to missing packages and no YES option: ["vitest@3.1.1"]', 'vitest@3.1.1'],
    [
      'npm error code EAI_AGAIN\nnpm error request to https://registry.npmjs.org/jest failed, reason: getaddrinfo',
      'jest',
    ],
    [
      "npm ERR! request to https://registry.npmjs.org/@a%2fb failed: cache mode is 'only-if-cached'",
      '@a%2fb',
    ],
    [' ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command "vitest" not found', 'vitest'],
    [' WARN   Local package.json exists, but node_modules missing, did you mean to install?', 'node_modules'],
    [' ERR_PNPM_NO_OFFLINE_META  Failed to resolve left-pad@>=1.0.0 <2.0.0-0', 'left-pad@>=1.0.0'],
    ['error Command "jest" not found.', 'jest'],
    ['command not found: jest', 'jest'],
    ['Usage Error: Couldn\'t find a script named "jest".', 'jest'],
    [
      "Usage Error: The project in /workspace/package.json doesn't seem to have been installed",
      'node_modules or .pnp.cjs',
    ],
    [
      "Usage Error: Couldn't find the node_modules state file - running an install might help",
      'node_modules',
    ],
    ['error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)', 'pytest'],
    ['error: Failed to fetch: `https://pypi.org/simple/requests/`\n  Caused by: dns error', 'requests'],
    [
      '  × Failed to download `iniconfig==2.1.0`\n  ├─▶ Failed to fetch: `https://files.pythonhosted.org/packages/2c/iniconfig-2.1.0-py3-none-any.whl`',
      'iniconfig',
    ],
    [
      '  × Failed to download\n  │ `nvidia-nccl-cu12==2.26.2`\n  ╰─▶ Network connectivity is disabled',
      'nvidia-nccl-cu12',
    ],
    ['  × Failed to download and build `odfpy==1.4.1`', 'odfpy'],
    ['error: Failed to prepare distributions\n  Caused by: Failed to fetch wheel: wheel==0.43.0', 'wheel'],
    [
      '  ├─▶ Failed to fetch:\n  │   `https://example.com/a/typing_extensions-4.14.0-py3-none-any.whl.metadata`',
      'typing_extensions',
    ],
    ['error: Failed to fetch: `https://example.com/a-b/zope.interface-7.2.tar.gz`', 'zope.interface'],
    ['  Because requests was not found in the cache and you require requests, we can conclude', 'requests'],
    [
      'py installdeps: pytest\nERROR: Could not find a version that satisfies the requirement pytest (from versions: none)\nERROR: No matching distribution found for pytest\n',
      'pytest',
    ],
    ['ERROR: No matching distribution found for PyYAML[extra]>=6.0', 'PyYAML'],
    ['    ERROR: Could not find a version that satisfies the requirement flit_core<4,>=3.2', 'flit_core'],
    ['ERROR: InvocationError for command could not find executable pytest', 'pytest'],
    ['nox > Program pytest not found.', 'pytest'],
    ['Creating virtualenv x-py3.11 in /h\nCommand not found: pytest', 'pytest'],
    ['  • Installing iniconfig (2.0.0): Failed\n\n  ConnectionError', 'iniconfig'],
    [
      "HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/pytest/ (Caused by NewConnectionError",
      'pytest',
    ],
    ["Error: the command pytest could not be found within PATH or Pipfile's [scripts].", 'pytest'],
    ["[PdmUsageError]: Command 'pytest' is not found in your PATH.", 'pytest'],
    ['[ERROR] Could not create local repository at /h/.m2/repository -> [Help 1]', '.m2'],
    [
      '[ERROR] Plugin a or one of its dependencies could not be resolved: Could not transfer artifact org.apache.maven.plugins:maven-resources-plugin:pom:2.6 from/to central',
      'org.apache.maven.plugins:maven-resources-plugin',
    ],
    [
      '[ERROR] Cannot access central (https://a/b) in offline mode and the artifact org.junit.jupiter:junit-jupiter:jar:5.9.1 has not been downloaded',
      'org.junit.jupiter:junit-jupiter',
    ],
    ['error: failed to get `serde` as a dependency of package `a v0.1.0 (/workspace)`', 'serde'],
    ['error: failed to download `serde v1.0.219`', 'serde'],
    ["error: rustup could not choose a version of cargo to run, because one wasn't specified", 'cargo'],
    ['error: no such command: `nextest`', 'nextest'],
    ['error: no such command: `+nightly`', '+nightly'],
    ["error[E0463]: can't find crate for `serde`", 'serde'],
    ['a.go:3:8: missing go.sum entry for module providing package example.com/m; to add:', 'example.com/m'],
    ['a.go:3:8: cannot find module providing package example.com/m: module lookup disabled', 'example.com/m'],
    [
      'go: example.com/m@v1.2.3: Get "https://proxy.golang.org/example.com/m/@v/v1.2.3.mod": dial tcp',
      'example.com/m',
    ],
    ['a.go:3:8: example.com/m@v1.2.3: module lookup disabled by GOPROXY=off', 'example.com/m'],
  ] as const) {
    t.equal(dependenciesMissingHint(output)?.detail?.name, name, output);
  }
  for (const output of [
    '',
    'not ok 1 - adds',
    "Cannot find module './x.js'",
    "Cannot find module '/workspace/y.js'",
    'order not found',
    'no matching distribution found for the order',
    'Installing orders (2): done',
    'the request to https://example.com/x failed',
    'error: failed to get the order',
    'Failed to download the order',
    'Failed to fetch: `https://example.com/orders-1.json`',
    '.: not found',
  ]) {
    t.equal(dependenciesMissingHint(output), undefined, output);
  }
  t.match(dependenciesMissingHint('sh: 1: x: not found', ['the reason'])?.message, 'the reason');
  t.equal(dependenciesMissingHint(`${'sh: 1: '.repeat(200_000)}`), undefined, 'and long output costs little');
});

t.test('a kept digest is used again only for a file that has not changed', async (t) => {
  const root = t.testdir({ a: 'first', b: 'other' });
  const options = { within: root, maxEntries: 10, maxBytes: 1000 };
  const known = new Map<string, string>();
  const found: string[] = [];
  const kept = {
    find(path: string, state: string) {
      const sha256 = known.get(`${state} ${path}`);
      if (sha256 !== undefined) found.push(path);
      return sha256;
    },
    keep: (path: string, state: string, _: number, sha256: string) =>
      void known.set(`${state} ${path}`, sha256),
  };
  const first = await digestDirectory(root, { ...options, kept });
  t.strictSame(await digestDirectory(root, { ...options, kept }), first);
  t.strictSame(found.sort(), ['a', 'b']);
  const { atime, mtime } = statSync(join(root, 'a'));
  writeFileSync(join(root, 'a'), 'FIRST');
  utimesSync(join(root, 'a'), atime, mtime);
  found.length = 0;
  const changed = await digestDirectory(root, { ...options, kept });
  t.strictSame(found, ['b'], 'of the same size, with its old times');
  t.strictSame(changed, await digestDirectory(root, options));
  t.notSame(changed, first);
});
