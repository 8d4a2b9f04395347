import t from 'tap';
import { judge, suppressionMarkers } from '../../../gates/rules/suppressions.ts';
import { gateTester, toRuleInput } from '../../../testing.ts';
import { findRule } from './find-rule.ts';

/** A marker as its tool documents it; written in two parts, so that no tool looks away here. */
const samples: readonly (readonly [tool: string, line: string])[] = [
  ['semgrep', 'run(x) // nose|mgrep: rule-id'],
  ['bandit', 'exec(x)  # nose|c B102'],
  ['gosec', 'f() // #nos|ec G104'],
  ['sonar', 'f(); // NOSO|NAR'],
  ['codeql', 'f(x) // code|ql[js/xss]'],
  ['eslint', '/* esli|nt-disable no-eval */'],
  ['biome', '// biom|e-ignore lint: why'],
  ['typescript', '// @ts-|expect-error why'],
  ['flake8', 'import x  # no|qa: F401'],
  ['ruff', '# ru|ff: noqa'],
  ['mypy', 'x = f()  # ty|pe: ignore[arg-type]'],
  ['pyright', 'x = f()  # py|right: ignore'],
  ['pylint', '# py|lint: disable=eval-used'],
  ['golangci-lint', 'f() //no|lint:errcheck'],
  ['staticcheck', '//li|nt:ignore SA1000 why'],
  ['clang-tidy', 'f(); // NO|LINT(bugprone)'],
  ['rubocop', 'eval(x) # ru|bocop:disable Security/Eval'],
  ['phpcs', '// ph|pcs:ignore'],
  ['phpstan', '// @ph|pstan-ignore-next-line'],
  ['psalm', '/** @ps|alm-suppress Taint */'],
  ['shellcheck', '# sh|ellcheck disable=SC2086'],
  ['hadolint', '# ha|dolint ignore=DL3008'],
  ['checkov', '# ch|eckov:skip=CKV_1:why'],
  ['trivy', '#tr|ivy:ignore:AVD-1'],
  ['snyk', '// fi|le deepcode ignore XSS: why'],
  ['gitleaks', 'k = "x" # gi|tleaks:allow'],
  ['trufflehog', 'k = "x" # tr|ufflehog:ignore'],
  ['detect-secrets', 'k = "x"  # pr|agma: allowlist secret'],
  ['javac', '@Su|ppressWarnings("unchecked")'],
  ['rustc', '#[al|low(dead_code)]'],
  ['dotnet', '#pra|gma warning disable CA1000'],
  ['writ', 'k = "x" # wr|it:allow-secret'],
];
const lineOf = (line: string): string => line.replace('|', '');

t.strictSame(
  samples.map(([tool]) => tool).toSorted(),
  suppressionMarkers.map(({ tool }) => tool).toSorted(),
  'every tool has a sample',
);

await gateTester(t, findRule('suppressions'), {
  valid: [
    {
      name: 'source without any',
      files: { 'a.js': { candidate: 'lint(); type = 1; code[0]; noqa_x();\n' } },
    },
    ...samples.map(([tool, line]) => ({
      name: `${tool} is listed`,
      files: { 'src/a.x': { base: 'a\n', candidate: `a\n${lineOf(line)}\n` } },
      expect: [{ severity: 'note' as const, path: 'src/a.x', line: 2, detail: { tool } }],
    })),
    {
      name: 'one that was there before, and one that is removed',
      files: { 'a.py': { base: `x # ${'no'}qa\ny # ${'no'}qa\n`, candidate: `x # ${'no'}qa\nz\n` } },
    },
    {
      name: 'the word in code, and as a part of a longer one',
      files: { 'a.js': { candidate: `call(${'nose'}c);\n// a${'nose'}c b${'NOSO'}NARs\n` } },
    },
  ],
  invalid: [
    {
      name: 'forbidden by the config at the policy commit',
      files: { 'a.py': { candidate: `eval(x)  # ${'nose'}c\n` } },
      options: { forbid: true, allow_tools: ['flake8'] },
      expect: [{ rule: 'suppressions', path: 'a.py', line: 1, column: 12 }],
    },
    {
      name: 'a config that says something else',
      files: { 'a.py': { candidate: 'x\n' } },
      options: { forbid: 'yes' },
      expect: [{ rule: 'suppressions' }],
    },
    {
      name: 'an unknown tool',
      files: { 'a.py': { candidate: 'x\n' } },
      options: { allow_tools: ['flake9'] },
      expect: [{ rule: 'suppressions' }],
    },
  ],
});

t.test('still lists a suppression for a tool that the config allows', async (t) => {
  const files = { 'a.py': { candidate: `eval(x)  # ${'no'}qa\n` } };
  const input = toRuleInput({ name: '', files, options: { forbid: true, allow_tools: ['flake8'] } });
  t.match(await judge(input), [{ severity: 'note', detail: { tool: 'flake8' } }]);
});

t.test('finds suppression markers in text that git treats as binary', async (t) => {
  const line = `b = 2  # ${'nos'}${'ec'}`;
  const files = { 'a.py': { candidate: `a = 1\n${line}\n\0` } };
  t.match(await judge(toRuleInput({ name: 'x', files })), [
    { path: 'a.py', line: 2, detail: { tool: 'bandit' } },
  ]);
  const wide = { 'a.py': { candidate: Buffer.from(`\ufeff${line}\n`, 'utf16le') } };
  t.match(await judge(toRuleInput({ name: 'x', files: wide })), [{ line: 1 }]);
  const stood = { 'a.py': { base: `${line}\n\0`, candidate: `${line}\nc\n\0` } };
  t.same(await judge(toRuleInput({ name: 'x', files: stood })), []);
  t.same(await judge(toRuleInput({ name: 'x', files: { 'a.png': { candidate: `\0${line}` } } })), []);
});
