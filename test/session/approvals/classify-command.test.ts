import { readFileSync } from 'node:fs';
import t from 'tap';
import { classifyCommand } from '../../../session/approvals/classify-command.ts';

type Table = Readonly<
  Record<'dangerous' | 'not proven to be a read', Readonly<Record<string, readonly string[]>>>
>;

const hostile = JSON.parse(
  readFileSync(new URL('./hostile-commands.json', import.meta.url), 'utf8'),
) as Table;
const shell = (name: string): readonly string[] => {
  const read: unknown = JSON.parse(
    readFileSync(new URL(`../../workspace/shell/${name}.json`, import.meta.url), 'utf8'),
  );
  return (Array.isArray(read) ? read : Object.values(read as object).flat()) as readonly string[];
};

t.test('never classifies a hostile command as safe and detects dangerous ones', async (t) => {
  t.ok(
    Object.values(hostile).flatMap((groups) => Object.values(groups).flat()).length >= 500,
    'enough of them',
  );
  const wrong = Object.entries(hostile).flatMap(([want, groups]) =>
    Object.entries(groups).flatMap(([why, lines]) =>
      lines
        .filter((line) => {
          const found = classifyCommand(line).class;
          return want === 'dangerous' ? found !== 'dangerous' : found === 'safe';
        })
        .map((line) => `${why}: ${JSON.stringify(line)}`),
    ),
  );
  t.strictSame(wrong, []);
});

t.test('never classifies attacks on the shell parser as safe', async (t) => {
  const safe = ['hostile', 'attacks', 'unproven'].flatMap((name) =>
    shell(name).filter((line) => classifyCommand(line).class === 'safe'),
  );
  t.strictSame(safe, []);
});

t.test('plain reads are safe, and everyday work is neither safe nor dangerous', async (t) => {
  const reads =
    `cat a.ts|cat src/a.ts src/b.ts|ls|ls -la src|head -n 50 README.md|tail -c 200 src/a.js|wc -l src/a.ts|pwd|
    cat package.json \\| head -20|grep -rn "export function" src|grep -c test a \\|\\| true|rg -n "open\\(" src|rg --files|
    find . -name '*.test.js' -not -path './node_modules/*'|sed -n '1,120p' src/a.ts|sort a \\| uniq -c \\| sort -rn \\| head|
    diff -u a b|echo "see /docs"|printf '%s\\n' a b|stat -c %s a|file a|test -f a && echo yes|[ -d src ]|command -v node|
    date +%F|basename src/a.ts|cut -d, -f1 a.csv|tr a-z A-Z|ls; pwd|cat -- -a`
      .split(/(?<!\\)\|/)
      .map((line) => line.trim().replaceAll('\\|', '|'));
  for (const line of reads) t.equal(classifyCommand(line).class, 'safe', line);
  const work = [
    'npm test',
    'npm run build',
    'make',
    'cargo test',
    'tsc -p .',
    'mkdir src/a',
    'cp a b',
    'chmod +x a',
    'rm a',
    'node a.js',
    'echo a > b',
    'chmod 644 a',
    'python -m pytest',
    'node --test',
  ];
  for (const line of work) t.equal(classifyCommand(line).class, 'unknown', line);
});

t.test('reports verdict and rule of each command and what cannot be proven', async (t) => {
  const {
    segments,
    unproven,
    rule,
    class: verdict,
  } = classifyCommand('cat a | sort -rn; npm test && rm -rf $X');
  t.equal(verdict, 'dangerous');
  t.equal(rule, 'deletes');
  t.strictSame(
    segments.map(({ class: found, rule }) => [found, rule]),
    [
      ['safe', 'only-reads'],
      ['safe', 'only-reads'],
      ['unknown', 'not-known'],
      ['dangerous', 'deletes'],
    ],
  );
  t.match(unproven, [/\$X/, /npm/]);
});
