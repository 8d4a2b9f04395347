/* Reads the scripts and tool settings in manifests. */
import { joined, type Named, type VerifyingTree } from './tree.ts';

/** These run scripts in packages of their own choice. */
const orchestrators = /^(?:turbo|nx|lerna|lage|moon|rush|ultra|wsrun|bolt)$/;
const packageManagers = /^(?:npm|pnpm|yarn|bun)$/;
const ownCommands =
  /^(?:exec|x|dlx|ci|install|i|add|remove|audit|pack|publish|config|ls|list|why|outdated|dedupe|rebuild|link|version|view|info|cache|init|create|help|--version|-v)$/;
const installs = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];

const scriptRunners = /^(?:npm-run-all|run-s|run-p|concurrently|wireit|run-z)$/;

/**
 * Scripts of `package.json` that a command runs: of a package manager, of what runs several, of what runs them in every
 * package.
 */
export function packageScripts(
  program: string,
  words: readonly string[],
  home: string,
  tree: VerifyingTree,
): readonly Named[] {
  if (packageManagers.test(program)) return ofPackageManager(program, words, home, tree);
  const names = words.filter((word) => !word.startsWith('-'));
  if (scriptRunners.test(program))
    return names.map((word) => ({
      kind: 'npm',
      manifest: joined(home, 'package.json') ?? '',
      script: word.replace(/^(?:npm|pnpm|yarn|bun):/, ''),
    }));
  if (!orchestrators.test(program)) return [];
  const scripts = names.flatMap((word) => word.split(',')).filter((name) => /^[A-Za-z]/.test(name));
  return inManifests(manifestsUnder(home, tree), scripts.slice(0, 20));
}

const valued = /^(?:--prefix|-C|--cwd|--dir|-w|--workspace|--filter|-F|--loglevel|--if-present)$/;
const ofWorkspaces = /^(?:-w|--workspaces?|-ws|-r|--recursive|--filter|-F|workspaces?|foreach)(?:=|$)/;

function ofPackageManager(
  program: string,
  words: readonly string[],
  home: string,
  tree: VerifyingTree,
): readonly Named[] {
  const own = joined(home, 'package.json');
  if (own === undefined) return [];
  const plain = words.filter((word, at) => !word.startsWith('-') && !valued.test(words[at - 1] ?? ''));
  const [verb = '', next = ''] = plain.filter((word) => !/^(?:workspaces?|foreach)$/.test(word));
  const inside = words.some((word) => ofWorkspaces.test(word)) ? manifestsUnder(home, tree) : [];
  const scripts = (...names: readonly string[]): readonly Named[] => inManifests([own, ...inside], names);
  if (/^(?:run|run-script|rum|urn)$/.test(verb)) return next === '' ? [] : scripts(next);
  if (/^(?:test|tst|t)$/.test(verb) && program !== 'bun') return scripts('test');
  if (words.includes('--ignore-scripts')) return [];
  if (/^(?:ci|install|i|rebuild|pack)$/.test(verb) || (verb === '' && program === 'yarn'))
    return scripts(...installs);
  return verb === '' || ownCommands.test(verb) || program === 'npm' ? [] : scripts(verb);
}

function manifestsUnder(home: string, tree: VerifyingTree): readonly string[] {
  return tree
    .under(home)
    .filter((path) => /(?:^|\/)package\.json$/.test(path) && !path.includes('node_modules/'))
    .slice(0, 300);
}

/** Scripts by their names, of which each manifest may have some. */
function inManifests(manifests: readonly string[], names: readonly string[]): readonly Named[] {
  return manifests.flatMap((manifest) => names.map((script): Named => ({ kind: 'npm', manifest, script })));
}

/** What a `package.json` has run, read without trust in its form. */
interface ManifestScripts {
  /** The file that `main` names for the directory. */
  readonly main: string | undefined;
  /** The command of a script; `undefined` where there is none of that name. */
  command(name: string): string | undefined;
  /** A script with its `pre` and `post` hooks; for a pattern (`check:*`), every matching script. */
  named(script: string): readonly string[];
}

export function manifestScripts(text: string): ManifestScripts {
  const members = membersOf(text);
  const scripts = new Map(Object.entries(asObject(members.scripts)));
  return {
    main: typeof members.main === 'string' ? members.main : undefined,
    command: (name) => {
      const command = scripts.get(name);
      return typeof command === 'string' ? command : undefined;
    },
    named: (script) =>
      script.includes('*')
        ? [...scripts.keys()].filter((name) => name.startsWith(script.slice(0, script.indexOf('*'))))
        : ['pre', '', 'post'].map((hook) => hook + script),
  };
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Members of `package.json` that tools of tests and of lint read. */
export const toolMembers: readonly string[] =
  `jest vitest mocha ava tap nyc c8 c8rc jasmine uvu tsd playwright
  stryker eslintConfig eslintIgnore prettier stylelint babel xo standard lint-staged commitlint wireit nx knip size-limit
  ts-node`.split(/\s+/);

/** The text of those members of a `package.json`; empty where it cannot be read. */
export function toolSettings(text: string): string {
  const kept = Object.entries(membersOf(text)).filter(([name]) => toolMembers.includes(name));
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept), null, 1);
}

/** Tools of Python with sections in `pyproject.toml`, `setup.cfg` or `tox.ini`: `[tool.ruff]`, `[tool:pytest]`. */
const tools =
  'pytest|coverage|tox|testenv|nox|ruff|mypy|pyright|basedpyright|black|isort|flake8|pylint|bandit|hatch|poe|pdm|taskipy|pycodestyle|pydocstyle|ty|cibuildwheel|hypothesis|mutmut|rye|aliases|pre-commit';
const section = new RegExp(`^(?:tool[.:])?(${tools})(?![\\w])`);
/** These run commands that are not followed, or tools by name. */
const runAny = /^(?:tox|nox|hatch|poe|pdm|taskipy|cibuildwheel|mutmut|rye|pre-commit)$/;
/** Commands that these start are not followed, either. */
const startsAny = /\.(?:py|rb|pl|php|[cm]?[jt]s)$/;
/** Settings that pytest reads, itself or by plugins that nearly all projects have. */
const ofPytest = /^(?:pytest|coverage|hypothesis)$/;
const pytest = /^(?:pytest|py\.test|coverage)$/;
const plugin = /^--(ruff|mypy|flake8|black|isort|pylint|pycodestyle|pydocstyle)\b/;

/** Whether a section of that name holds settings of a tool that `runs`; sections about the package do not. */
export function isVerificationTool(name: string, runs: (tool: string) => boolean): boolean {
  const tool = toolOfSection(name);
  return tool !== undefined && runs(tool);
}

/** Sections of a text with headers in brackets, by name, that hold settings of tools that `runs`. */
export function toolSections(
  text: string,
  runs: (tool: string) => boolean,
): readonly (readonly [name: string, text: string])[] {
  return text
    .split(/^(?=\[)/m)
    .map((part) => [/^\[{1,2}([^\]\n]{1,100})\]/.exec(part)?.[1] ?? '', part] as const)
    .filter(([name]) => isVerificationTool(name, runs));
}

function toolOfSection(name: string): string | undefined {
  return section.exec(name)?.[1];
}

/** The tool that an option of pytest has run by a plugin: `--mypy`. */
export function toolOfOption(word: string): string | undefined {
  return plugin.exec(word)?.[1];
}

/**
 * Returns a predicate for whether a tool may run, so that its settings count. A tool runs by its own name, or from a
 * program with commands that writ does not follow, such as a script outside the shell. If the programs are unknown,
 * every tool may run.
 */
export function toolTest(
  programs: readonly string[] | undefined,
  scripts: readonly string[],
): (tool: string) => boolean {
  const known = (programs ?? []).filter((one) => pytest.test(one) || toolOfSection(one) !== undefined);
  if (
    known.length === 0 ||
    known.some((one) => runAny.test(one)) ||
    scripts.some((path) => startsAny.test(path))
  )
    return () => true;
  const runsPytest = known.some((one) => pytest.test(one));
  return (tool) => known.includes(tool) || (runsPytest && ofPytest.test(tool));
}
