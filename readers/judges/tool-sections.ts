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
export function judgesByTool(name: string, runs: (tool: string) => boolean): boolean {
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
    .filter(([name]) => judgesByTool(name, runs));
}

function toolOfSection(name: string): string | undefined {
  return section.exec(name)?.[1];
}

/** The tool that an option of pytest has run by a plugin: `--mypy`. */
export function toolOfOption(word: string): string | undefined {
  return plugin.exec(word)?.[1];
}

/**
 * Tells whether a tool may run, and so its settings judge: by its own name, or from something whose commands are not
 * followed, such as a script that is not the shell's. Each tool may, where the programs are not known.
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
