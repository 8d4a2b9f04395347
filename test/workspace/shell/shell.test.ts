import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { Coverage } from '../../../workspace/shell/script.ts';
import { commandsOf, type SimpleCommand, wordsOf } from '../../../workspace/shell/shell.ts';
import { long } from '../../rooms/long.ts';

/** `?` stands before a word that is known only when it runs. */
function written({ argv }: SimpleCommand): string {
  return argv.map((word) => (word.literal === undefined ? `?${word.text}` : word.literal)).join(' ');
}

const load = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8'));
const found = load('found') as Readonly<Record<string, readonly string[]>>;
const unproven = load('unproven') as Readonly<Record<string, readonly string[]>>;
/** Real shells run these with a PATH of programs that only write down how they were called. */
const executed = load('executed') as readonly string[];

for (const [text, commands] of Object.entries(found)) {
  t.test(`every command of ${JSON.stringify(text)} is found`, async (t) => {
    const reading = commandsOf(text);
    t.ok(reading.ok, { reading });
    if (reading.ok) t.strictSame(reading.commands.map(written).sort(), [...commands].sort());
  });
}

t.test('variables are listed unless the text assigned them before', async (t) => {
  const variables = (text: string) => {
    const reading = commandsOf(text);
    return reading.ok ? reading.variables : reading.reason;
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text
  t.same(variables('A=1; a $A "$B" ${C} ${#D} ${E:-$F} $? $$'), ['B', 'C', 'D', 'E', 'F']);
  t.same(variables('a $A; A=1'), ['A']);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text
  t.same(variables('for A in x; do a $A; done; b ${B:=x} $B'), []);
  t.same(variables('a \'$A\' \\$B "\\$C"'), []);
  t.same(variables("env A=1 sh -c 'echo $A $B'"), ['B']);
  t.same(variables('cat <<E\n$A\nE'), ['A']);
});

t.test('redirections are listed with their targets', async (t) => {
  const reading = commandsOf('a >"$REPORTS_DIR/x" 2>>y <z 2>&1');
  t.match(reading, {
    redirects: [
      { operator: '>', target: { from: { variable: 'REPORTS_DIR', rest: '/x' } } },
      { operator: '>>', target: { literal: 'y' } },
      { operator: '<', target: { literal: 'z' } },
    ],
  });
});

for (const [what, texts] of Object.entries(unproven)) {
  t.test(`${what} is not proven`, async (t) => {
    for (const text of texts) {
      const reading = commandsOf(text);
      t.notOk(reading.ok, JSON.stringify(text), { reading });
    }
  });
}

t.test('a syntax tree that omits or repeats part of the text is rejected', async (t) => {
  const check =
    (text: string, covered: readonly (readonly [number, number])[], tokens: readonly string[]) => () => {
      const coverage = new Coverage();
      for (const [pos, end] of covered) coverage.cover({ pos, end });
      coverage.expect(...tokens);
      coverage.check(text, 0, text.length);
    };
  t.doesNotThrow(
    check(
      'a | b; c # d',
      [
        [0, 1],
        [4, 5],
        [7, 8],
      ],
      ['|'],
    ),
  );
  t.throws(check('a | b', [[0, 1]], ['|']), 'a word is missing');
  t.throws(
    check(
      'a | b',
      [
        [0, 1],
        [4, 5],
      ],
      [],
    ),
    'an operator is missing',
  );
  t.throws(
    check(
      'a b',
      [
        [0, 1],
        [2, 3],
      ],
      ['|'],
    ),
    'an operator is invented',
  );
  t.throws(
    check(
      'a b',
      [
        [0, 3],
        [2, 3],
      ],
      [],
    ),
    'a word stands in another',
  );
  t.throws(check('a', [[0, 2]], []), 'a word ends outside');
});

t.test('nesting, length and number of commands are bounded', async (t) => {
  for (const text of [
    `${'$('.repeat(5000)}a${')'.repeat(5000)}`,
    `${'('.repeat(200)}a${')'.repeat(200)}`,
    `${'env '.repeat(100)}a`,
    `a ${'x'.repeat(100_000)}`,
    'a;'.repeat(5000),
    `${'"$('.repeat(1000)}`,
  ]) {
    t.notOk(commandsOf(text).ok, text.slice(0, 20));
  }
  t.ok(commandsOf('a;'.repeat(400)).ok);
});

t.test('an entry has words only if it is one plain command', async (t) => {
  t.same(wordsOf('npm test -- --grep "a b"'), ['npm', 'test', '--', '--grep', 'a b']);
  t.same(wordsOf('  sh  '), ['sh']);
  for (const text of [
    '',
    '  ',
    'a && b',
    'a; b',
    'a $X',
    'a *',
    'A=1 a',
    'a >x',
    '(a)',
    '! a',
    'a; ',
    'a | b',
    'a(',
    '# a',
  ]) {
    t.equal(wordsOf(text), undefined, text);
  }
});

function covers(words: SimpleCommand['argv'], argv: readonly string[]): boolean {
  const [word, ...others] = words;
  if (word === undefined) return argv.length === 0;
  if (!word.single) {
    for (let at = 0; at <= argv.length; at += 1) if (covers(others, argv.slice(at))) return true;
    return false;
  }
  const [given, ...rest] = argv;
  if (given === undefined) return false;
  const fits = word.literal === undefined ? given.startsWith(word.head) : given === word.literal;
  return fits && covers(others, rest);
}

long('a real shell runs no program that was not found in the text', async (t) => {
  const root = t.testdir({ bin: {}, work: { x: '' } });
  const bin = `${root}/bin`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text
  const record = 'l="${0##*/}"; for a; do l="$l\u001f$a"; done; printf "%s\\036" "$l" >>"${0%/bin/*}/log"';
  for (const name of ['p', 'q', 'r', 'p2', 'q2', 'f', 'npm', 'time']) {
    writeFileSync(`${bin}/${name}`, `#!/bin/sh\n${record}\n${name === 'f' ? 'exit 1\n' : ''}`);
    chmodSync(`${bin}/${name}`, 0o755);
  }
  for (const name of ['sh', 'bash', 'env', 'xargs', 'find', 'timeout', 'nice', 'nohup', 'cat']) {
    const file = [`/usr/bin/${name}`, `/bin/${name}`].find((candidate) => existsSync(candidate));
    if (file !== undefined) symlinkSync(file, `${bin}/${name}`);
  }
  let ran = 0;
  let refused = 0;
  for (const [index, text] of executed.entries()) {
    const reading = commandsOf(text);
    if (!reading.ok) {
      refused += 1;
      continue;
    }
    for (const shell of ['sh', 'bash'].filter((name) => existsSync(`${bin}/${name}`))) {
      const place = `${root}/${index}-${shell}`;
      mkdirSync(place);
      symlinkSync(bin, `${place}/bin`);
      const env = { PATH: `${place}/bin`, CI: 'true' };
      spawnSync(`${bin}/${shell}`, ['-c', text], { cwd: `${root}/work`, env, input: '', timeout: 10_000 });
      const log = existsSync(`${place}/log`) ? readFileSync(`${place}/log`, 'utf8') : '';
      const calls = log
        .split('\u001e')
        .slice(0, -1)
        .map((call) => call.split('\u001f'));
      ran += calls.length;
      if (calls.length === 0) t.fail(`nothing ran in ${shell}: ${text}`);
      for (const call of calls) {
        if (reading.commands.some(({ argv }) => covers(argv, call))) continue;
        t.fail(`${shell} ran something else`, { text, call, found: reading.commands.map(written) });
      }
    }
  }
  t.ok(ran > 100, `${ran} calls were recorded`);
  t.equal(refused, 15);
});
