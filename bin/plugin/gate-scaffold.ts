/** Names of files that test runners (node --test, jest, vitest, tap) run as tests, without the ending. */
const runAsTest = /^test(?:-|$)|(?:^|-)(?:test|spec)$/;

/**
 * The files of a new plugin with one rule, by path: rule, cases and words, which pass as they are. The test runner of a
 * project around it runs none of them.
 */
export function gateScaffold(name: string): ReadonlyMap<string, string> {
  const file = runAsTest.test(name) ? 'rules/rule.js' : `rules/${name}.js`;
  const manifest = {
    name,
    version: '0.1.0',
    description: 'A gate for writ: what it refuses, in one sentence',
    type: 'module',
    files: ['rules', 'cases.json'],
    writ: {
      api: 1,
      rules: [{ id: name, point: 'patch', module: `./${file}`, reads: ['**'], timeoutSeconds: 30 }],
    },
  };
  const cases = {
    [name]: {
      valid: [
        {
          name: 'a change without the mark passes',
          files: { 'src/a.js': { base: 'one();\n', candidate: 'two();\n' } },
        },
        {
          name: 'a mark that was there before is not new',
          files: { 'src/a.js': { base: '// DO NOT SHIP\n', candidate: '// DO NOT SHIP\nmore();\n' } },
        },
      ],
      invalid: [
        {
          name: 'a line with the mark is refused at its place',
          files: { 'src/a.js': { base: 'one();\n', candidate: 'one();\ntwo(); // DO NOT SHIP\n' } },
          expect: [{ rule: name, severity: 'error', path: 'src/a.js', line: 2 }],
        },
      ],
    },
  };
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    [file, ruleText(name)],
    ['cases.json', `${JSON.stringify(cases, null, 2)}\n`],
    ['README.md', readmeText(name, file)],
  ]);
}

function ruleText(name: string): string {
  return `const rule = '${name}';
const mark = 'DO NOT SHIP';

/**
 * Refuses a change that adds a line with the mark. Must be a pure function: no clock, no disk, no network.
 *
 * Receives the change, its files at base and candidate (selected by \`reads\` in package.json), the spec and the
 * options of \`[rules.${name}]\`. An empty list passes. A finding of severity \`error\` refuses; \`warning\` and
 * \`note\` are reported.
 */
export const judge = ({ files }) =>
  Object.entries(files).flatMap(([path, { base, candidate }]) => {
    const before = new Set(lines(base));
    return lines(candidate).flatMap((text, index) =>
      text.includes(mark) && !before.has(text)
        ? [{ rule, severity: 'error', message: \`expected no line with \\\`\${mark}\\\`\`, path, line: index + 1 }]
        : [],
    );
  });

function lines(bytes) {
  return bytes === undefined ? [] : Buffer.from(bytes).toString('utf8').split('\\n');
}
`;
}

function readmeText(name: string, file: string): string {
  return `# ${name}

What this gate refuses, and why. Today: a change that adds a line with \`DO NOT SHIP\`.

- \`${file}\`: the rule, one pure function
- \`cases.json\`: changes that pass and changes that are refused
- \`writ plugin test .\` runs the cases as a run would, in the sandbox

In a repository: commit this directory (or keep the result of \`npm pack\`), \`writ plugin add DIR\`, commit \`.writ/config.toml\`.
Everybody who runs it there says once \`writ plugin trust sha256:…\`.
`;
}
