import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { judge } from '../../../gates/rules/no-direct-eval.ts';
import { rules } from '../../../gates/rules.ts';
import { type GateCase, gateTester, toRuleInput } from '../../../testing.ts';

const fixtures = new URL('../../../fixtures/gates/no-direct-eval/', import.meta.url);
const endings: Readonly<Record<string, string>> = {
  javascript: 'ts',
  python: 'py',
  shell: 'sh',
  ruby: 'rb',
  php: 'php',
  perl: 'pl',
  java: 'java',
  kotlin: 'kt',
  go: 'go',
  csharp: 'cs',
};

interface Labelled {
  readonly name: string;
  readonly path: string;
  readonly code: string;
  /** Line of the first finding; absent: there must be none. */
  readonly line?: number;
}

/** `=== bad <line> [path]: <name>` and `=== ok: <name>`, each followed by the code. */
function readCases(language: string): readonly Labelled[] {
  const text = readFileSync(new URL(`${language}.cases`, fixtures), 'utf8');
  return text
    .split(/^=== /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      const label = /^(?:ok|bad (\d+))(?: (\S+))?: (.*)$/.exec(section.slice(0, end));
      if (!label) throw new Error(`${language}: ${section.slice(0, end)}`);
      const [, line, path, name = ''] = label;
      const code = section.slice(end + 1);
      return {
        name,
        path: path ?? `x.${endings[language]}`,
        code,
        ...(line === undefined ? {} : { line: Number(line) }),
      };
    });
}

const languages = readdirSync(fixtures).map((name) => name.replace('.cases', ''));

t.test('every language has labelled cases of both kinds', async (t) => {
  t.same([...languages].sort(), Object.keys(endings).sort());
  for (const language of languages) {
    const cases = readCases(language);
    const least = ['javascript', 'python', 'shell'].includes(language) ? 12 : 6;
    t.ok(cases.length >= least, language);
    t.ok(
      cases.some(({ line }) => line === undefined),
      language,
    );
  }
});

for (const language of languages) {
  t.test(`${language}: what the labels say is found, with its line, and nothing else`, async (t) => {
    for (const { name, path, code, line } of readCases(language)) {
      const found = await judge(toRuleInput({ name, files: { [path]: { candidate: code } } }));
      if (line === undefined) t.same(found, [], name);
      else t.match(found[0], { rule: 'no-direct-eval', severity: 'error', path, line }, name);
    }
  });
}

const withoutContent = (gateCase: GateCase) => ({ ...toRuleInput(gateCase), files: {} });

t.test('from the diff alone every labelled direct execution is found too', async (t) => {
  for (const language of languages) {
    for (const { name, path, code, line } of readCases(language)) {
      if (line === undefined || path !== `x.${endings[language]}`) continue;
      const found = await judge(withoutContent({ name, files: { [path]: { candidate: code } } }));
      t.ok(
        found.some((finding) => finding.severity === 'error'),
        `${language}: ${name}`,
      );
    }
  }
});

const rule = rules.find(({ id }) => id === 'no-direct-eval');
if (!rule) throw new Error('the rule is not registered');

t.test('only what the patch adds counts', async (t) => {
  const old = 'eval(old);\nconst a = 1;\n';
  await gateTester(t, rule, {
    valid: [
      {
        name: 'an old call on a context line',
        files: { 'a.js': { base: old, candidate: `${old}const b = 2;\n` } },
      },
      { name: 'a removed call', files: { 'a.js': { base: old, candidate: 'const a = 1;\n' } } },
      { name: 'a deleted file', files: { 'a.js': { base: old } } },
      { name: 'a renamed file', files: { 'b.js': { base: old, candidate: old, oldPath: 'a.js' } } },
      {
        name: 'a symlink whose target reads like a call',
        files: { 'a.js': { candidate: 'eval(x)', newMode: '120000' } },
      },
      { name: 'a language that has none', files: { 'a.md': { candidate: 'eval(x)\n' } } },
      {
        name: 'the contract does not ask',
        files: { 'a.js': { candidate: 'eval(x)\n' } },
        spec: { security: { outputHandling: { noDirectEval: false } } },
      },
      {
        name: 'an added line inside an old comment',
        files: {
          'a.js': { base: '/*\n a\n b\n c\n d\n*/\n', candidate: '/*\n a\n b\n c\n eval(x)\n d\n*/\n' },
        },
      },
    ],
    invalid: [
      {
        name: 'a new call after old lines, with line and column',
        files: { 'a.js': { base: 'const a = 1;\n', candidate: "const a = 1;\nconst é = 'é'; eval(é);\n" } },
        expect: [{ rule: 'no-direct-eval', path: 'a.js', line: 2, column: 16 }],
      },
      {
        name: 'an option added to an old call',
        files: {
          'a.js': {
            base: "import { spawn } from 'child_process';\nspawn(a, {\n});\n",
            candidate: "import { spawn } from 'child_process';\nspawn(a, {\n  shell: true,\n});\n",
          },
        },
        expect: [{ line: 3 }],
      },
      {
        name: 'an old template around the hunk does not hide an added line',
        files: {
          'a.js': {
            base: 'const a = `\n1\n2\n3\n4\n/*\n`;\nb();\n',
            candidate: 'const a = `\n1\n2\n3\n4\n/*\n`;\nb();\neval(x);\n',
          },
        },
        expect: [{ line: 9 }],
      },
      {
        name: 'source that a NUL byte makes binary',
        files: { 'a.js': { base: 'const a = 1;\n', candidate: 'const a = "\0";\neval(x);\n' } },
        expect: [{ line: 2 }],
      },
    ],
  });
});

t.test('without content a comment that opens in the hunk hides nothing, as it may be text', async (t) => {
  const candidate = '/*\n`; eval(x);\n*/\n';
  const found = await judge(withoutContent({ name: 'x', files: { 'a.js': { candidate } } }));
  t.match(found, [{ line: 2, detail: { seen: 'diff only' } }]);
});

t.test('without content nothing that spans lines hides a line', async (t) => {
  const openings: readonly (readonly [path: string, opening: string, code: string])[] = [
    ['x.rb', 'a = <<~TEXT', 'eval(x)'],
    ['x.rb', '__END__', 'eval(x)'],
    ['x.rb', '=begin', 'eval(x)'],
    ['x.pl', 'my $a = q{', 'eval $x; }'],
    ['x.pl', '=pod', 'eval $x;'],
    ['x.php', '$a = <<<TEXT', 'eval($x);'],
    ['x.php', '?>', 'eval($x);'],
    ['x.py', '"""', 'eval(x)'],
    ['x.go', '/*', 'exec.Command("sh", "-c", x)'],
    ['x.sh', 'cat <<END', 'eval "$x"'],
    ['x.sh', "echo '", 'eval "$x"'],
  ];
  for (const [path, opening, code] of openings) {
    const candidate = `a = 1\n${opening}\n${code}\n`;
    const found = await judge(withoutContent({ name: 'x', files: { [path]: { candidate } } }));
    t.match(found, [{ severity: 'error', line: 3 }], `${path}: ${opening}`);
  }
});

t.test('source that git takes for binary and whose content is not given is refused', async (t) => {
  const found = await judge(
    withoutContent({ name: 'x', files: { 'a.js': { candidate: 'const a = "\0";\n' } } }),
  );
  t.match(found, [{ severity: 'error', path: 'a.js' }]);
});

t.test('findings are bounded', async (t) => {
  const found = await judge(
    toRuleInput({ name: 'x', files: { 'a.js': { candidate: 'eval(x);\n'.repeat(2000) } } }),
  );
  t.equal(found.length, 501);
  t.ok(found.every(({ severity }) => severity === 'error'));
});

t.test('hostile source costs time in proportion to its size', async (t) => {
  const hostile = [
    "'",
    '"',
    '`',
    '/*',
    '/[',
    '${',
    '(',
    'spawn(',
    '\\u{',
    '<<A ',
    '$(',
    'q( ',
    '%w( ',
    'f"{',
    '"#{',
  ];
  for (const language of languages) {
    for (const piece of hostile) {
      const candidate = `eval(x)\n${piece.repeat(Math.floor(30_000 / piece.length))}\n`;
      const before = process.cpuUsage();
      await judge(toRuleInput({ name: 'x', files: { [`x.${endings[language]}`]: { candidate } } }));
      const used = process.cpuUsage(before);
      // What grows with the square takes tens of seconds here.
      t.ok((used.user + used.system) / 1e6 < 2, `${language} ${piece}`);
    }
  }
});
