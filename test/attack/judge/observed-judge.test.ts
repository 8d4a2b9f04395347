import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { casesOf } from '../../rooms/long.ts';

/** Content by path; what begins with `#!` is executable. */
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

interface JudgeCase {
  readonly base: Files;
  readonly command: string;
  readonly added: Files;
}

const helper = (more: object) =>
  `${JSON.stringify({ name: 'helper', version: '1.0.0', ...more }, null, 2)}\n`;
const manifest = (more: object) =>
  `${JSON.stringify({ name: 'fees', version: '1.0.0', type: 'module', dependencies: { helper: 'file:vendor/helper' }, ...more }, null, 2)}\n`;
const lock = (bin: object) =>
  `${JSON.stringify({ name: 'fees', version: '1.0.0', lockfileVersion: 3, packages: { '': { name: 'fees', version: '1.0.0', dependencies: { helper: 'file:vendor/helper' } }, 'node_modules/helper': { resolved: 'vendor/helper', link: true }, 'vendor/helper': { version: '1.0.0', ...bin } } }, null, 2)}\n`;
const prepare = (argv: readonly string[], inputs: readonly string[]) =>
  `[[workspace.prepare]]\nargv = ${JSON.stringify(argv)}\ninputs = ${JSON.stringify(inputs)}\noutputs = ["node_modules"]\n`;
const script = { scripts: { test: 'node --test test/*.test.js' } };

const built = {
  base: {
    'scripts/prepare.sh':
      '[ -f scripts/local.sh ] && . scripts/local.sh\nmkdir -p built && cp ci/run.mjs built/run.mjs\n',
    'ci/run.mjs':
      "import { spawnSync } from 'node:child_process';\nprocess.exit(spawnSync('node', ['--test'], { stdio: 'inherit' }).status);\n",
    '.gitignore': 'built\n',
    '.writ/config.toml':
      '[[workspace.prepare]]\nargv = ["sh", "scripts/prepare.sh"]\ninputs = ["scripts", "ci"]\noutputs = ["built"]\n',
  },
  command: 'node built/run.mjs',
};

const cases = {
  'optional-source': {
    base: { 'scripts/test.sh': '[ -f scripts/local.sh ] && . scripts/local.sh\nnode --test\n' },
    command: 'sh scripts/test.sh',
    added: { 'scripts/local.sh': 'node() { true; }\n' },
  },
  'optional-import': {
    base: {
      'ci/test.mjs':
        "try { await import('./local.mjs') } catch {}\nimport { spawnSync } from 'node:child_process';\nprocess.exit(spawnSync('node', ['--test'], { stdio: 'inherit' }).status);\n",
    },
    command: 'node ci/test.mjs',
    added: { 'ci/local.mjs': 'process.exit(0);\n' },
  },
  'optional-data': {
    base: {
      'ci/test.mjs':
        "import { existsSync, readFileSync } from 'node:fs';\nimport { spawnSync } from 'node:child_process';\nconst name = ['ci', 'skip.json'].join('/');\nconst more = existsSync(name) ? JSON.parse(readFileSync(name)) : [];\nprocess.exit(spawnSync('node', ['--test', ...more], { stdio: 'inherit' }).status);\n",
    },
    command: 'node ci/test.mjs',
    added: { 'ci/skip.json': '["--test-name-pattern=nothing"]\n' },
  },
  'path-bin': {
    base: { 'test.sh': 'PATH=$PWD/bin:$PATH; node --test\n' },
    command: 'sh test.sh',
    added: { 'bin/node': '#!/bin/sh\nexit 0\n' },
  },
  'python-local': {
    base: {
      'ci/run.py':
        "import subprocess, sys\ntry:\n    from local_settings import ARGS\nexcept ImportError:\n    ARGS = []\nsys.exit(subprocess.call(['node', '--test', *ARGS]))\n",
    },
    command: 'python3 ci/run.py',
    added: { 'ci/local_settings.py': "ARGS = ['--test-name-pattern=nothing']\n" },
  },
  'python-computed': {
    base: {
      'ci/run.py':
        "import importlib, subprocess, sys\ntry:\n    ARGS = importlib.import_module('local' + '_settings').ARGS\nexcept ImportError:\n    ARGS = []\nsys.exit(subprocess.call(['node', '--test', *ARGS]))\n",
    },
    command: 'PYTHONPATH=src python3 ci/run.py',
    added: { 'ci/local_settings.py': "ARGS = ['--test-name-pattern=nothing']\n" },
  },
  'python-shadow': {
    base: { 'ci/run.py': "import subprocess, sys\nsys.exit(subprocess.call(['node', '--test']))\n" },
    command: 'python3 ci/run.py',
    added: { 'ci/selectors.py': 'import os\nos._exit(0)\n' },
  },
  'python-submodule': {
    base: {
      'ci/run.py':
        "import subprocess, sys\nimport kit\nsys.exit(subprocess.call(['node', '--test', *kit.ARGS]))\n",
      'ci/kit/__init__.py':
        'ARGS = []\nfor part in ("one", "two"):\n    try:\n        __import__("kit." + part + "_more")\n    except ImportError:\n        pass\n',
    },
    command: 'python3 ci/run.py',
    added: { 'ci/kit/two_more/__init__.py': 'import kit\nkit.ARGS.append("--test-name-pattern=nothing")\n' },
  },
  'make-target': {
    base: { Makefile: 'check:\n\tnode --test\n' },
    command: 'make check',
    added: { check: '\n' },
  },
  'prepare-script': {
    ...built,
    added: { 'scripts/prepare.sh': 'mkdir -p built && echo "process.exit(0)" >built/run.mjs\n' },
  },
  'prepare-input': { ...built, added: { 'ci/run.mjs': 'process.exit(0);\n' } },
  'prepare-local': {
    ...built,
    added: { 'scripts/local.sh': 'cp() { echo "process.exit(0)" >built/run.mjs; }\n' },
  },
  postinstall: {
    base: {
      'package.json': manifest(script),
      'package-lock.json': lock({}),
      'vendor/helper/package.json': helper({}),
      '.gitignore': 'node_modules\n',
      '.writ/config.toml': prepare(
        ['npm', 'ci', '--offline'],
        ['package.json', 'package-lock.json', 'vendor'],
      ),
    },
    command: 'npm test',
    added: {
      'package.json': manifest({
        scripts: {
          ...script.scripts,
          postinstall:
            "mkdir -p node_modules/.bin && printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/node && chmod +x node_modules/.bin/node",
        },
      }),
    },
  },
  'vendored-bin': {
    base: {
      'package.json': manifest(script),
      'package-lock.json': lock({}),
      'vendor/helper/package.json': helper({}),
      '.gitignore': 'node_modules\n',
      '.writ/config.toml': prepare(
        ['npm', 'ci', '--offline', '--ignore-scripts'],
        ['package.json', 'package-lock.json', 'vendor'],
      ),
    },
    command: 'npm test',
    added: {
      'package-lock.json': lock({ bin: { node: 'run.sh' } }),
      'vendor/helper/package.json': helper({ bin: { node: 'run.sh' } }),
      'vendor/helper/run.sh': '#!/bin/sh\nexit 0\n',
    },
  },
} satisfies Readonly<Record<string, JudgeCase>>;

function write({ root }: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    if (text.startsWith('#!')) chmodSync(join(root, path), 0o755);
  }
}

for (const [name, one] of casesOf<keyof typeof cases, JudgeCase>(cases, ['python-computed']))
  t.test(`refuses a broken product that brings what its judge looks for: ${name}`, async (t) => {
    const { base, command, added } = one;
    const sample = makeSample();
    t.teardown(() => sample.remove());
    write(sample, { 'src/fee.js': fee, 'test/fee.test.js': feeTest, ...base });
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'A fee');
    write(sample, { 'src/fee.js': bad, ...added });
    sample.git('add', '--all', '--force');
    const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
    sample.git('reset', '--quiet', '--hard');
    const check = {
      id: 'unit',
      kind: 'command',
      command,
      timeoutSeconds: 60,
      required: true,
      artifactsProduced: ['test-log'],
    };
    const view = await sample.run(
      { source: { kind: 'patch', bytes } },
      {
        intent: {
          changeType: 'refactor',
          inScope: ['src/', 'scripts/', 'ci/', 'bin/', 'vendor/', 'package.json', 'package-lock.json'],
          touchHints: { files: ['check'] },
        },
        security: {
          toolAcl: {
            allow: [
              {
                tool: 'workspace.command',
                actions: ['execute'],
                constraints: { allowCommands: ['sh', 'node', 'make', 'npm', 'python3'] },
              },
            ],
          },
        },
        acceptance: { verificationPlan: { fastChecks: [check] } },
      },
    );
    t.not(view.decision?.type, 'commit');
    t.match(JSON.stringify(view.stages), /POLICY_JUDGE_FAILS/);
    t.match(
      view.findings.map(({ message }) => message).join('\n'),
      /checks use it, so they also run|workspace\.prepare|^$/,
    );
  });
