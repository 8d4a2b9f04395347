/* Proposes the check that runs a project's tests. */
import type { Check } from '../core/interfaces/intentspec.gen.ts';

/** The check that runs a project's tests, and where it was found. */
export interface ProposedCheck {
  readonly kind: Check['kind'];
  readonly command: string;
  /** The entry of `allowCommands` that lets it run. */
  readonly allowed: string;
  /** The file, or part of a file, that names it. */
  readonly found: string;
}

/** Files at the root of a project that `proposeCheck` looks at. */
export const projectFiles = [
  'package.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'deno.json',
  'deno.jsonc',
  'uv.lock',
  'Cargo.toml',
  'go.mod',
  'pytest.ini',
  'conftest.py',
  'setup.cfg',
  'setup.py',
  'tox.ini',
  'pyproject.toml',
  'Pipfile',
  'requirements.txt',
  'requirements-dev.txt',
  'Makefile',
  'makefile',
  'GNUmakefile',
] as const;

export type ProjectFile = (typeof projectFiles)[number];

/** What a project without a known test command gets. */
export const defaultCheck = {
  kind: 'testSuite',
  command: 'node --test --test-reporter=tap',
  allowed: 'node --test',
} as const;

/** Python tests of a project without a file that names a test runner. */
export interface PythonTests {
  /** A usual directory of tests, relative to the project's; `.` for the project itself. */
  readonly directory: string;
  /** Whether all of them import `unittest`, and none pytest. */
  readonly areUnittests: boolean;
  /** Whether the directory, and each above it in the project, is a package. */
  readonly isPackage: boolean;
}

/** The name of a file of tests that pytest finds by itself. */
export const pythonTestName = /^test_.*\.py$|_test\.py$/;

/**
 * Returns the test command of a project, from the files at its root, or `undefined` if none defines one. A configured
 * pytest comes first, because a Python project often has a `package.json` for another purpose. Pure.
 */
export function proposeCheck(
  found: ReadonlyMap<ProjectFile, string>,
  pythonTests?: PythonTests,
): ProposedCheck | undefined {
  const files: Files = new Map([...found].map(([name, text]) => [name, text.replace(/^\ufeff/, '')]));
  return (
    configuredPytest(files) ??
    cargo(files) ??
    go(files) ??
    npmScript(files) ??
    otherScript(files) ??
    pytest(files) ??
    make(files) ??
    (pythonTests === undefined ? undefined : ofPythonTests(files, pythonTests))
  );
}

/** Whether a command starts a test runner with a report that writ can parse: such a check can be a `testSuite`. */
export function startsKnownRunner(command: string): boolean {
  return /^\s*(?:node\s+--test|(?:uv\s+run\s+)?(?:(?:\.?venv\/bin\/)?python3?\s+-m\s+)?(?:pytest|py\.test))(?:\s|$)/.test(
    command,
  );
}

type Files = ReadonlyMap<ProjectFile, string>;

function configuredPytest(files: Files): ProposedCheck | undefined {
  const signs: readonly (readonly [ProjectFile, RegExp])[] = [
    ['pytest.ini', /^/],
    ['pyproject.toml', /^\[tool\.pytest\b/m],
    ['setup.cfg', /^\[tool:pytest\]/m],
    ['tox.ini', /^\[pytest\]/m],
    ['conftest.py', /^/],
  ];
  const found = signs.find(([name, sign]) => files.has(name) && sign.test(files.get(name) ?? ''));
  return found && ofPytest(files, found[0]);
}

/** A project that names pytest only as a dependency: on a separate line, or in a list. */
function pytest(files: Files): ProposedCheck | undefined {
  const names = [
    ...(['pyproject.toml', 'requirements.txt', 'requirements-dev.txt', 'setup.cfg', 'setup.py'] as const),
    ...(['tox.ini', 'Pipfile'] as const),
  ];
  const sign = /^[ \t]*["']?pytest\b|[[,][ \t]*["']pytest\b/m;
  const found = names.find((name) => sign.test(files.get(name) ?? ''));
  return found && ofPytest(files, found);
}

function ofPytest(files: Files, found: string): ProposedCheck {
  const allowed = files.has('uv.lock') ? 'uv run pytest' : 'python3 -m pytest';
  return { kind: 'testSuite', command: `${allowed} --junitxml="$REPORTS_DIR/pytest.xml"`, allowed, found };
}

function ofPythonTests(files: Files, { directory, areUnittests, isPackage }: PythonTests): ProposedCheck {
  const found = `the Python tests in \`${directory}\``;
  if (!areUnittests) return ofPytest(files, found);
  const allowed = files.has('uv.lock') ? 'uv run python -m unittest' : 'python3 -m unittest';
  // Discovery enters packages only.
  const where = directory === '.' || isPackage ? '' : ` discover -s ${directory}`;
  return { ...command(`${allowed}${where}`, found), allowed };
}

function cargo(files: Files): ProposedCheck | undefined {
  return files.has('Cargo.toml') ? command('cargo test', 'Cargo.toml') : undefined;
}

function go(files: Files): ProposedCheck | undefined {
  return files.has('go.mod') ? { ...command('go test ./...', 'go.mod'), allowed: 'go test' } : undefined;
}

function npmScript(files: Files): ProposedCheck | undefined {
  const { script, packageManager } = readManifest(files.get('package.json'));
  if (script === undefined) return undefined;
  const found = 'the script `test` of package.json';
  // Node's own runner is run with a report that counts tests.
  if (/^node --test(?: [\w./*-]{1,100}){0,8}$/.test(script) && !script.includes('--test-reporter'))
    return { ...defaultCheck, command: script.replace('--test', '--test --test-reporter=tap'), found };
  if (files.has('bun.lock')) return command('bun run test', found);
  const locked = files.has('pnpm-lock.yaml') ? 'pnpm' : files.has('yarn.lock') ? 'yarn' : 'npm';
  return command(`${packageManager ?? locked} test`, found);
}

/** Bun and Deno find tests by themselves; a task `test` of Deno is preferred. */
function otherScript(files: Files): ProposedCheck | undefined {
  const found = (['deno.json', 'deno.jsonc', 'bun.lock'] as const).find((name) => files.has(name));
  if (found === undefined) return undefined;
  if (found === 'bun.lock') return command('bun test', found);
  const hasTask = /"tasks"\s{0,20}:\s{0,20}\{[^}]*"test"\s{0,20}:/.test(files.get(found) ?? '');
  return command(hasTask ? 'deno task test' : 'deno test', found);
}

interface Manifest {
  /** The script `test`, unless it is the placeholder of `npm init`. */
  readonly script?: string;
  readonly packageManager?: string;
}

function readManifest(text = '{}'): Manifest {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return {};
  }
  const { scripts, packageManager } = Object(manifest) as Readonly<Record<string, unknown>>;
  const { test } = Object(scripts) as { readonly test?: unknown };
  if (typeof test !== 'string' || test.trim() === '' || test.includes('no test specified')) return {};
  const [, manager] = /^(npm|pnpm|yarn)@/.exec(`${packageManager}`) ?? [];
  return { script: test.trim(), ...(manager === undefined ? {} : { packageManager: manager }) };
}

/** GNU make reads the first of these files alone. */
function make(files: Files): ProposedCheck | undefined {
  const found = (['GNUmakefile', 'makefile', 'Makefile'] as const).find((name) => files.has(name));
  if (found === undefined) return undefined;
  const targets = new Set((files.get(found) ?? '').split('\n').flatMap(targetsOf));
  const target = ['test', 'check'].find((name) => targets.has(name));
  return target === undefined ? undefined : command(`make ${target}`, found);
}

/** The targets of a rule, `a b: c`; none if the line is an assignment, a comment or part of a recipe. */
function targetsOf(line: string): readonly string[] {
  const end = line.indexOf(':');
  const isRule = end > 0 && !/^[\t#]/.test(line) && !/^:+=/.test(line.slice(end));
  const names = isRule ? line.slice(0, end) : '';
  return names.includes('=') ? [] : names.split(/[ \t]+/);
}

function command(text: string, found: string): ProposedCheck {
  return { kind: 'command', command: text, allowed: text, found };
}
