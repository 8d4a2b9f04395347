import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { toRunData } from '../../../api/run/run-data.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { casesOf, isLong, leaveOut, long } from '../../rooms/long.ts';

/** Content by path; what begins with `#!` is executable, and `-> ` makes a link. */
type Files = Readonly<Record<string, string>>;

const fee = 'export const fee = (amount) => Math.round(amount * 100) / 100;\n';
const bad = 'export const fee = () => 0;\n';
const feeTest = [
  "import assert from 'node:assert/strict';",
  "import test from 'node:test';",
  "import { fee } from '../src/fee.js';",
  "test('a fee is rounded', () => assert.equal(fee(0.125), 0.13));",
  '',
].join('\n');
const runner =
  "import { spawnSync } from 'node:child_process';\nprocess.exit(spawnSync('node', ['--test', 'test/fee.test.js'], { stdio: 'inherit' }).status);\n";

interface PrepareCase {
  readonly steps: string;
  readonly base: Files;
  readonly added: Files;
  /** Runs by the policy commit's judge; default none. */
  readonly extraRuns?: number;
}

const step = (argv: readonly string[], inputs: readonly string[], outputs: readonly string[]) =>
  `[[workspace.prepare]]\nargv = ${JSON.stringify(argv)}\nlockfile = "deps.lock"\ninputs = ${JSON.stringify(inputs)}\noutputs = ${JSON.stringify(outputs)}\n`;
const shell = (text: string): Pick<PrepareCase, 'steps' | 'base'> => ({
  steps: step(['sh', 'prepare.sh'], ['prepare.sh', 'gen'], ['built']),
  base: { 'prepare.sh': `mkdir -p built\n${text}`, 'gen/run.mjs': runner },
});
const empty = 'process.exit(0);\n';

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
/** A package with dependencies in `vendor/`, each with the programs that it brings. */
function fees(vendored: Readonly<Record<string, object>>): Files {
  const names = Object.keys(vendored);
  const dependencies = Object.fromEntries(names.map((name) => [name, `file:vendor/${name}`]));
  const own = { name: 'fees', version: '1.0.0', dependencies };
  const scripts = { postinstall: 'mkdir -p built && cp gen/run.mjs built/' };
  const locked = names.map((name) => [
    [`node_modules/${name}`, { resolved: `vendor/${name}`, link: true }],
    [`vendor/${name}`, { version: '1.0.0', ...vendored[name] }],
  ]);
  const packages = { '': { ...own, hasInstallScript: true }, ...Object.fromEntries(locked.flat()) };
  return {
    'package.json': toJson({ ...own, type: 'module', scripts }),
    'package-lock.json': toJson({ name: 'fees', version: '1.0.0', lockfileVersion: 3, packages }),
    ...Object.fromEntries(
      names.map((name) => [
        `vendor/${name}/package.json`,
        toJson({ name, version: '1.0.0', main: 'index.js', ...vendored[name] }),
      ]),
    ),
  };
}
const npm: Pick<PrepareCase, 'steps' | 'base'> = {
  steps: step(
    ['npm', 'ci', '--offline'],
    ['package.json', 'package-lock.json', 'vendor', 'gen'],
    ['node_modules', 'built'],
  ),
  base: { ...fees({ helper: {} }), 'gen/run.mjs': runner },
};

/** A broken product, and something that lets `prepare` make another runner. */
const attacks = {
  'a file that a script of node looks for': {
    steps: step(['node', 'make.mjs'], ['make.mjs', 'gen'], ['built']),
    base: {
      'make.mjs':
        "import { cpSync, existsSync, mkdirSync } from 'node:fs';\nconst over = ['gen', 'over.mjs'].join('/');\nmkdirSync('built');\ncpSync(existsSync(over) ? over : 'gen/run.mjs', 'built/run.mjs');\n",
      'gen/run.mjs': runner,
    },
    added: { 'gen/over.mjs': empty },
  },
  'a program on PATH': {
    ...shell('PATH=$PWD/gen:$PATH\ncp gen/run.mjs built/run.mjs\n'),
    added: { 'gen/cp': '#!/bin/sh\necho "process.exit(0)" >built/run.mjs\n' },
  },
  'a file that a loop of the shell lists': {
    ...shell('cp gen/run.mjs built/run.mjs\nfor one in gen/*.sh; do [ -e "$one" ] && . "$one"; done\ntrue\n'),
    added: { 'gen/last.sh': 'echo "process.exit(0)" >built/run.mjs\n' },
  },
  'a makefile whose name is computed': {
    steps: step(['make', '-C', 'gen', 'all'], ['gen'], ['built']),
    base: {
      'gen/Makefile':
        'FROM = run.mjs\n-include $(addsuffix .mk,local)\nall:\n\tmkdir -p ../built\n\tcp $(FROM) ../built/run.mjs\n',
      'gen/run.mjs': runner,
    },
    added: { 'gen/local.mk': 'FROM = none.mjs\n', 'gen/none.mjs': empty },
  },
  'an import of Python whose name is computed': {
    steps: step(['python3', 'gen/make.py'], ['gen'], ['built']),
    base: {
      'gen/make.py':
        "import importlib, os, shutil\nos.mkdir('built')\nshutil.copy('gen/run.mjs', 'built/run.mjs')\ntry:\n    importlib.import_module('local' + '_settings')\nexcept ImportError:\n    pass\n",
      'gen/run.mjs': runner,
    },
    added: {
      'gen/local_settings.py': "open('built/run.mjs', 'w').write('process.exit(0)')\n",
    },
  },
  'a changed program whose name is computed': {
    steps: step(['sh', 'prepare.sh'], ['prepare.sh', 'gen'], ['built']),
    base: {
      'prepare.sh': 'mkdir -p built\ntool=make-runner\n"gen/$tool"\n',
      'gen/make-runner': '#!/bin/sh\ncp gen/run.mjs built/run.mjs\n',
      'gen/run.mjs': runner,
    },
    added: { 'gen/make-runner': '#!/bin/sh\necho "process.exit(0)" >built/run.mjs\n' },
  },
  'a program that an earlier step makes': {
    steps: `${step(['sh', 'first.sh'], ['first.sh', 'vendor'], ['bins'])}${step(['sh', 'second.sh'], ['second.sh', 'gen'], ['built'])}`,
    base: {
      'first.sh': 'mkdir bins\nwhile read -r name; do cp vendor/empty "bins/$name"; done <vendor/names.txt\n',
      'vendor/empty': '#!/bin/sh\ntrue\n',
      'vendor/names.txt': 'tool\n',
      'second.sh':
        'PATH=$PWD/bins:$PATH\nmkdir built\ncp gen/run.mjs built/run.mjs\n[ -s built/run.mjs ] || :>built/run.mjs\n',
      'gen/run.mjs': runner,
    },
    added: { 'vendor/names.txt': 'tool\ncp\n' },
  },
  'a program of a package that a script of the manifest finds first': {
    ...npm,
    added: {
      ...fees({ helper: { bin: { cp: 'run.sh' } } }),
      'vendor/helper/run.sh': '#!/bin/sh\necho "process.exit(0)" >built/run.mjs\n',
    },
  },
  'new tooling in a directory that a script reads': {
    steps: step(['node', 'scripts/make.mjs'], ['scripts'], ['built']),
    base: {
      'scripts/make.mjs':
        "import { cpSync, mkdirSync, readdirSync } from 'node:fs';\nmkdirSync('built');\ncpSync('scripts/run.mjs', 'built/run.mjs');\nfor (const { name, parentPath } of readdirSync('scripts/more', { recursive: true, withFileTypes: true }).filter((one) => one.isFile()))\n  await import(['..', parentPath, name].join('/'));\n",
      'scripts/run.mjs': runner,
      'scripts/more/none.mjs': '',
    },
    added: {
      'scripts/more/own/last.mjs':
        "import { writeFileSync } from 'node:fs';\nwriteFileSync('built/run.mjs', 'process.exit(0)');\n",
    },
  },
  'a file behind a link': {
    steps: step(['sh', 'prepare.sh'], ['prepare.sh', 'gen', 'more'], ['built']),
    base: {
      'prepare.sh':
        'mkdir built\ncp gen/run.mjs built/run.mjs\nfor one in one two; do [ -e "more/$one" ] && . "./more/$one"; done\ntrue\n',
      'gen/run.mjs': runner,
      'gen/deep/none': '',
      more: '-> gen/deep',
    },
    added: { 'gen/deep/two': 'echo "process.exit(0)" >built/run.mjs\n' },
  },
} satisfies Readonly<Record<string, PrepareCase>>;

function write({ root }: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text.startsWith('-> ')) {
      symlinkSync(text.slice(3), join(root, path));
      continue;
    }
    writeFileSync(join(root, path), text);
    if (text.startsWith('#!')) chmodSync(join(root, path), 0o755);
  }
}

interface Judged {
  readonly view: RunView;
  /** Commands that were started, in their order: of the check `check`, of steps the second word; `~` if traced. */
  readonly started: readonly string[];
}

/** A repository whose check runs what `prepare` made. `judge` runs a change, which is undone afterwards. */
function repository(
  t: { teardown(act: () => void): void },
  { steps, base }: Pick<PrepareCase, 'steps' | 'base'>,
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const commit = (files: Files): void => {
    write(sample, files);
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'A fee');
  };
  commit({
    'src/fee.js': fee,
    'test/fee.test.js': feeTest,
    'deps.lock': '1\n',
    '.gitignore': 'built\nbins\nnode_modules\n',
    '.writ/config.toml': steps,
    ...base,
  });
  const real = bubblewrapSandbox();
  const judge = async (id: string, files: Files): Promise<Judged> => {
    write(sample, files);
    sample.git('add', '--all', '--force');
    const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
    sample.git('reset', '--quiet', '--hard');
    const started: string[] = [];
    const counting = definePlugin({
      name: 'counting',
      api: 1,
      setup({ slots }) {
        slots.sandbox.add('counting', {
          name: 'counting',
          pathsInside: (request) => real.pathsInside(request),
          probe: () => real.probe(),
          probeTracer: async () => (await real.probeTracer?.()) ?? { works: false },
          run(request) {
            const words = request.argv.join(' ');
            const name = words.includes('node built/run.mjs') ? 'check' : request.argv[1];
            started.push(`${name}${request.traceTo === undefined ? '' : '~'}`);
            return real.run(request);
          },
        });
        return undefined;
      },
    });
    const check = {
      kind: 'command',
      command: 'node built/run.mjs',
      timeoutSeconds: 60,
      required: true,
      artifactsProduced: ['test-log'],
    };
    const contract = {
      metadata: { id },
      intent: {
        changeType: 'refactor',
        inScope: [
          'src/',
          'scripts/',
          'gen/',
          'vendor/',
          'tools/',
          'test/',
          'package.json',
          'package-lock.json',
        ],
      },
      acceptance: { verificationPlan: { fastChecks: [{ id: 'unit', ...check }] } },
    };
    const source = { kind: 'patch', bytes } as const;
    return { view: await sample.run({ source, sandbox: 'counting' }, contract, [counting]), started };
  };
  return { sample, commit, judge };
}

for (const [name, one] of casesOf<keyof typeof attacks, PrepareCase>(attacks, ['a program on PATH']))
  t.test(`refuses a broken product with what changes the work of prepare: ${name}`, async (t) => {
    const { judge } = repository(t, one);
    const { view } = await judge('sample-broken-0001', { 'src/fee.js': bad, ...one.added });
    t.not(view.decision?.type, 'commit');
    t.match(JSON.stringify(view.stages), /POLICY_JUDGE_FAILS/);
  });

t.test('a step is traced once, and the traced run makes what the checks are given', async (t) => {
  const { sample, commit, judge } = repository(t, {
    ...shell('[ -e gen/local.sh ] && . gen/local.sh\ncp gen/run.mjs built/run.mjs\n'),
  });
  const plain = await judge('sample-plain-0001', { 'src/fee.js': `${fee}// exact\n` });
  t.equal(plain.view.decision?.type, 'commit', JSON.stringify(plain.view.findings));
  t.strictSame(
    plain.started,
    ['prepare.sh~', 'check', 'check'],
    'a change that `prepare` does not see; its base runs, too',
  );

  const honest = { 'src/fee.js': `${fee}// rounded\n`, 'gen/table.json': '[1]\n' };
  const second = await judge('sample-honest-0001', honest);
  t.equal(second.view.decision?.type, 'commit', JSON.stringify(second.view.findings));
  t.strictSame(second.started, ['check~', 'prepare.sh', 'check', 'check'], 'its footprint is kept');
  const observed = toRunData(second.view).stages.flatMap(({ checks }) => checks.map((one) => one.observed));
  t.match(observed, [{ by: 'trace', footprint: /^[0-9a-f]{64}$/, prepare: [/^[0-9a-f]{64}$/] }]);
  const text = sample.git(
    'show',
    `refs/ai/runs/${second.view.runId}:footprints/${observed[0]?.prepare?.[0]}.json`,
  );
  t.ok((JSON.parse(text) as { missing: string[] }).missing.includes('gen/local.sh'));

  const brings = { 'src/fee.js': bad, 'gen/local.sh': 'cp() { echo "process.exit(0)" >built/run.mjs; }\n' };
  const broken = await judge('sample-broken-0001', brings);
  t.match(JSON.stringify(broken.view.stages), /POLICY_JUDGE_FAILS/);
  t.strictSame(broken.started, ['check~', 'prepare.sh~', 'check', 'check'], 'its own step is another one');

  if (!isLong) return leaveOut(1);
  commit({ 'prepare.sh': 'mkdir -p built\ncp gen/run.mjs built/run.mjs\n' });
  const again = await judge('sample-honest-0002', { 'gen/table.json': '[2]\n' });
  t.equal(again.view.decision?.type, 'commit', JSON.stringify(again.view.findings));
  t.strictSame(
    again.started,
    ['prepare.sh~', 'check~', 'prepare.sh', 'check', 'check'],
    'another script is another step',
  );
});

t.test(
  'a step that fails under the tracer runs without it, and the run says that it was not observed',
  async (t) => {
    const { judge } = repository(t, shell('[ -z "$PYTHONPATH" ] || exit 1\ncp gen/run.mjs built/run.mjs\n'));
    const { view, started } = await judge('sample-honest-0001', { 'gen/table.json': '[1]\n' });
    t.equal(view.decision?.type, 'commit', JSON.stringify(view.findings));
    t.strictSame(started, ['prepare.sh~', 'prepare.sh', 'check~', 'prepare.sh', 'check', 'check']);
    t.match(view.notices?.join('\n'), /`sh prepare\.sh` was not observed: it failed under the tracer/);
  },
);

const tooled = {
  steps: step(['sh', 'prepare.sh'], ['prepare.sh', 'gen', 'tools'], ['built']),
  base: {
    'prepare.sh': 'mkdir built\ncp gen/run.mjs built/run.mjs\n',
    'gen/run.mjs': runner,
    'tools/notes.sh': 'true\n',
  },
};
const honest = {
  'tooling that no step reads changes': { ...tooled, added: { 'tools/notes.sh': 'false\n' } },
  'tooling that no step looks for is new': { ...tooled, added: { 'tools/other.sh': 'true\n' } },
  'data and code are new': {
    ...tooled,
    added: { 'gen/rates.json': '[1]\n', 'gen/rates.mjs': 'export default 1;\n' },
  },
  'a target of make is built from one more file': {
    steps: step(['make', 'built/run.mjs'], ['Makefile', 'gen'], ['built']),
    base: {
      Makefile: 'built/run.mjs: $(wildcard gen/*.mjs)\n\tmkdir -p built\n\tcp $^ built/\n',
      'gen/run.mjs': runner,
    },
    added: { 'gen/rate.mjs': 'export const rate = 1;\n' },
    extraRuns: 1,
  },
  'a package gets a dependency': {
    ...npm,
    added: {
      ...fees({ helper: {}, rates: {} }),
      'vendor/rates/index.js': 'module.exports = 1;\n',
      'src/rate.js': "import rate from 'rates';\nexport default rate;\n",
      'test/rate.test.js':
        "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport rate from '../src/rate.js';\ntest('a rate', () => assert.equal(rate, 1));\n",
    },
    extraRuns: 1,
  },
} satisfies Readonly<Record<string, PrepareCase>>;

for (const [name, one] of casesOf<keyof typeof honest, PrepareCase>(honest, [
  'tooling that no step looks for is new',
]))
  t.test(`an honest change passes: ${name}`, async (t) => {
    const { judge } = repository(t, one);
    const { view, started } = await judge('sample-honest-0001', one.added);
    t.equal(view.decision?.type, 'commit', JSON.stringify([view.findings, view.stages]));
    t.equal(started.filter((command) => command === 'check').length, 2 + (one.extraRuns ?? 0));
  });

long('what a refused candidate looked for is not taken for what its base looks for', async (t) => {
  const one = attacks['a file that a script of node looks for'];
  const { judge } = repository(t, one);
  const first = await judge('sample-broken-0001', { 'src/fee.js': bad, 'gen/over.mjs': runner });
  t.not(first.view.decision?.type, 'commit', 'its step is traced with the file there');
  const { view } = await judge('sample-broken-0002', { 'src/fee.js': bad, ...one.added });
  t.not(view.decision?.type, 'commit');
  t.match(JSON.stringify(view.stages), /POLICY_JUDGE_FAILS/);
});
