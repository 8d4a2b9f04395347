import t from 'tap';
import { type ProjectFile, proposeCheck, startsKnownRunner } from '../../spec/propose-check.ts';

const proposed = (files: Partial<Record<ProjectFile, string>>) =>
  proposeCheck(new Map(Object.entries(files)) as ReadonlyMap<ProjectFile, string>);
const script = (test: string): string => JSON.stringify({ scripts: { test } });

t.test('the test command comes from the files of the project', async (t) => {
  const pytest = 'python3 -m pytest --junitxml="$REPORTS_DIR/pytest.xml"';
  for (const [files, command, allowed = command] of [
    [{ 'pytest.ini': '' }, pytest, 'python3 -m pytest'],
    [
      { 'pyproject.toml': '[project]\n[tool.pytest.ini_options]\n', 'package.json': script('x') },
      pytest,
      'python3 -m pytest',
    ],
    [{ 'setup.cfg': '[tool:pytest]\n' }, pytest, 'python3 -m pytest'],
    [{ 'conftest.py': '' }, pytest, 'python3 -m pytest'],
    [{ 'requirements-dev.txt': 'ruff\npytest>=8\n' }, pytest, 'python3 -m pytest'],
    [{ 'pyproject.toml': '[dependency-groups]\ndev=["pytest>=8"]\n' }, pytest, 'python3 -m pytest'],
    [
      { 'pyproject.toml': "[project.optional-dependencies]\nt = ['ruff', 'pytest']\n" },
      pytest,
      'python3 -m pytest',
    ],
    [{ 'setup.py': "setup(tests_require=['pytest'])\n" }, pytest, 'python3 -m pytest'],
    [{ 'tox.ini': '[testenv]\ndeps =\n  pytest\n' }, pytest, 'python3 -m pytest'],
    [{ Pipfile: '[dev-packages]\npytest = "*"\n' }, pytest, 'python3 -m pytest'],
    [{ 'conftest.py': '', 'uv.lock': '' }, pytest.replace('python3 -m', 'uv run'), 'uv run pytest'],
    [{ 'Cargo.toml': '', Makefile: 'test:\n' }, 'cargo test'],
    [{ 'go.mod': '' }, 'go test ./...', 'go test'],
    [{ 'package.json': script('vitest run') }, 'npm test'],
    [{ 'package.json': script('vitest run'), 'pnpm-lock.yaml': '' }, 'pnpm test'],
    [{ 'package.json': `\ufeff${script('vitest')}`, 'pnpm-lock.yaml': '' }, 'pnpm test'],
    [
      { 'package.json': JSON.stringify({ scripts: { test: 'vitest' }, packageManager: 'pnpm@9.1.0' }) },
      'pnpm test',
    ],
    [{ 'package.json': script('jest'), 'yarn.lock': '' }, 'yarn test'],
    [
      { 'package.json': script('node --test test/*.js') },
      'node --test --test-reporter=tap test/*.js',
      'node --test',
    ],
    [{ 'package.json': script('node --test && eslint .') }, 'npm test'],
    [{ 'package.json': script('bun test --bail'), 'bun.lock': '' }, 'bun run test'],
    [{ 'package.json': '{}', 'bun.lock': '' }, 'bun test'],
    [{ 'deno.json': '{"tasks": {"dev": "x", "test": "deno test -A"}}' }, 'deno task test'],
    [{ 'deno.jsonc': '{"imports": {"test": "x"}} // x' }, 'deno test'],
    [{ Makefile: 'all: x\n\ntest : all\n\t./run\n' }, 'make test'],
    [{ GNUmakefile: 'test check: build\n\tx\n' }, 'make test'],
    [{ Makefile: 'lint  test::\n' }, 'make test'],
    [{ Makefile: 'CC := gcc\ncheck: all\n' }, 'make check'],
  ] as const) {
    t.match(proposed(files), { command, allowed }, JSON.stringify(files));
  }
});

t.test('a project that does not say how it is tested gets no proposal', async (t) => {
  for (const files of [
    {},
    { 'package.json': '{}' },
    { 'package.json': 'no json' },
    { 'package.json': '[1]' },
    { 'package.json': '{"test":[1]}' },
    { 'package.json': '{"scripts":{"test":[1]}}' },
    { 'package.json': script('echo "Error: no test specified" && exit 1') },
    { 'pyproject.toml': '[project]\nname = "a"\n' },
    { 'pyproject.toml': '[project]\nname = "pytest-x"\n' },
    { Makefile: 'test := 1\ntests:\n' },
    { Makefile: '# test: all\nall:\n\ttest: x\nx = test:\nX ::= test\ntest :::= y\n' },
    { GNUmakefile: 'all:\n', Makefile: 'test:\n' },
  ])
    t.equal(proposed(files), undefined, JSON.stringify(files));
});

t.test('Python tests without a word on their runner are run by what they import', async (t) => {
  const found = 'the Python tests in `tests`';
  const tests = { directory: 'tests', areUnittests: false, isPackage: false };
  t.match(proposeCheck(new Map(), tests), { allowed: 'python3 -m pytest', found });
  t.match(proposeCheck(new Map([['Makefile', 'test:\n']]), tests), { command: 'make test' });
  const unit = { ...tests, areUnittests: true };
  const [command, allowed] = ['python3 -m unittest discover -s tests', 'python3 -m unittest'];
  t.match(proposeCheck(new Map(), unit), { kind: 'command', command, allowed, found });
  t.match(proposeCheck(new Map(), { ...unit, isPackage: true }), { command: allowed, allowed });
  t.match(proposeCheck(new Map(), { ...unit, directory: '.' }), { command: allowed });
  t.match(proposeCheck(new Map([['uv.lock', '']]), { ...unit, isPackage: true }), {
    command: 'uv run python -m unittest',
  });
});

t.test('a command that starts a runner whose report writ reads is recognised', async (t) => {
  for (const known of [
    'node --test',
    'node --test test/a.js',
    'uv run pytest',
    'pytest -q',
    'python3 -m pytest',
    '.venv/bin/python -m pytest',
    ' pytest',
  ])
    t.ok(startsKnownRunner(known), known);
  for (const other of ['npm test', 'node --test-reporter=tap x.js', 'pytest-cov', 'echo pytest', 'make test'])
    t.notOk(startsKnownRunner(other), other);
});
