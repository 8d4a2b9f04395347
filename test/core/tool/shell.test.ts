import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { commandsOf, type SimpleCommand, wordsOf } from '../../../core/tool/shell.ts';

/** `?` stands before a word that is known only when it runs. */
function written({ argv }: SimpleCommand): string {
  return argv.map((word) => (word.literal === undefined ? `?${word.text}` : word.literal)).join(' ');
}

const read: readonly (readonly [text: string, ...commands: string[]])[] = [
  ['npm test', 'npm test'],
  ['"n"p\\m \'te\'st', 'npm test'],
  ['npm test -- --grep "a b"', 'npm test -- --grep a b'],
  ['A=1 B="x y" node --test', 'node --test'],
  ['a && b || c; d & e | f\ng', 'a', 'b', 'c', 'd', 'e', 'f', 'g'],
  ['(a; { b; }) >o 2>&1', 'a', 'b'],
  ['if a; then b; elif c; then d; else e; fi', 'a', 'b', 'c', 'd', 'e'],
  ['while a; do b; done; until c; do d; done', 'a', 'b', 'c', 'd'],
  ['for x in 1 $(a); do b $x; done', 'a', 'b ?$x'],
  ['case $(a) in (x|"y") b;; $(c)) d; esac', 'a', 'c', 'b', 'd'],
  ['! a', 'a'],
  ['X=$(a) b "$(c "$(d)")" `e`', 'a', 'c ?"$(d)"', 'd', 'e', 'b ?"$(c "$(d)")" ?`e`'],
  ['a "${HOME:-$(b)}" >"$(c)"', 'b', 'c', 'a ?"${HOME:-$(b)}"'],
  ['cat <<E\n$(a)\nE\nb', 'a', 'cat', 'b'],
  ["cat <<'E'\n$(a)\nE\nb", 'cat', 'b'],
  ['a # b; c\nd', 'a', 'd'],
  ['a \\\n  b', 'a b'],
  ['sh -c \'a && sh -ec "b"\' x', 'sh -c a && sh -ec "b" x', 'a', 'sh -ec b', 'b'],
  ['bash -euo pipefail -c "a | b"', 'bash -euo pipefail -c a | b', 'a', 'b'],
  ['sh test.sh -c x', 'sh test.sh -c x'],
  ['env -i -u Z A=1 a b', 'env -i -u Z A=1 a b', 'a b'],
  ['env', 'env'],
  ['xargs -0 -n1 a b', 'xargs -0 -n1 a b', 'a b ?…'],
  ['xargs -I{} a x{}', 'xargs -I{} a x{}', 'a ?x{}'],
  [
    'find . -name "*.js" -exec a {} \\; -o -execdir b {} +',
    'find . -name *.js -exec a {} ; -o -execdir b {} +',
    'a ?{}',
    'b ?…',
  ],
  ['time -p a', 'time -p a', 'a'],
  [
    'nice -n 5 nohup timeout -k 1 10 stdbuf -oL setsid -w a',
    'nice -n 5 nohup timeout -k 1 10 stdbuf -oL setsid -w a',
    'nohup timeout -k 1 10 stdbuf -oL setsid -w a',
    'timeout -k 1 10 stdbuf -oL setsid -w a',
    'stdbuf -oL setsid -w a',
    'setsid -w a',
    'a',
  ],
  ['command -v a; command b; exec c', 'command -v a', 'command b', 'b', 'exec c', 'c'],
  ['a [x] *.js {b,c} ~/d', 'a ?[x] ?*.js ?{b,c} ?~/d'],
  ['X=1; export Y=2; read -r Z; echo $X $Y $Z', 'export Y=2', 'read -r Z', 'echo ?$X ?$Y ?$Z'],
  ['X=1', ...[]],
]; // prettier-ignore

for (const [text, ...commands] of read) {
  t.test(`every command of ${JSON.stringify(text)} is found`, async (t) => {
    const reading = commandsOf(text);
    if (!reading.ok) return t.fail(reading.reason);
    t.strictSame(reading.commands.map(written).sort(), commands.sort());
  });
}

t.test('variables are those that nothing before has assigned', async (t) => {
  const variables = (text: string) => {
    const reading = commandsOf(text);
    return reading.ok ? reading.variables : reading.reason;
  };
  t.same(variables('A=1; a $A "$B" ${C} ${#D} ${E:-$F} $? $$'), ['B', 'C', 'D', 'E', 'F']);
  t.same(variables('a $A; A=1'), ['A']);
  t.same(variables('for A in x; do a $A; done; b ${B:=x} $B'), []);
  t.same(variables('a \'$A\' \\$B "\\$C"'), []);
  t.same(variables("env A=1 sh -c 'echo $A $B'"), ['B']);
  t.same(variables('cat <<E\n$A\nE'), ['A']);
});

t.test('redirections are listed with what they open', async (t) => {
  const reading = commandsOf('a >"$REPORTS_DIR/x" 2>>y <z 2>&1');
  t.match(reading, {
    redirects: [
      { operator: '>', target: { from: { variable: 'REPORTS_DIR', rest: '/x' } } },
      { operator: '>>', target: { literal: 'y' } },
      { operator: '<', target: { literal: 'z' } },
    ],
  });
});

const unproven = {
  'a program that is not written out': [
    '$X',
    'X=a; $X',
    'e$X',
    '"$HOME"',
    '$(a)',
    '`a`',
    'a*',
    '[ab]',
    '{a,b}',
    '~/a',
    '"" x',
  ],
  'a path in place of a name': ['/bin/a', './a', '../a', 'x/a', '"./a"', '.', 'env ./a', 'sh -c /bin/a'],
  'a parse error': [
    'a(',
    'a |',
    'if a; then b',
    '"',
    "'",
    '$(',
    '`',
    'a )',
    '}',
    'fi',
    'a;; b',
    '<<E\nx',
    'a & & b',
    '( )',
  ],
  'a text that gets a meaning later': [
    'eval a',
    'command eval a',
    '. x',
    'source x',
    'alias a=b',
    'trap a EXIT',
    'builtin a',
    'hash -p x a',
    'enable -f x a',
    'fc',
    'declare a',
    'let a=1',
    'shopt -s x',
    'mapfile -C a',
  ],
  'a function': ['f() { a; }', 'npm() { evil; }; npm', 'function f { a; }', 'f() (a)'],
  'what only some shells have': [
    "$'a'",
    '$"a"',
    "a $'x'",
    '[[ a ]]',
    '((a))',
    'a <(b)',
    'a >(b)',
    'a &> f',
    'a &>> f',
    'a >& f',
    'a |& b',
    'a <<< b',
    'a=(b)',
    'a[0]=b',
    'a+=b',
    'coproc a',
    'select x in a; do b; done',
    'for ((;;)); do a; done',
    'a {fd}>x',
    'a 10>x',
    '${ a; }',
    'a @(b|c)',
    'case a in b) c;& esac',
    'for x; do a; done',
    'a $((1))',
    'a $[1]',
    'a "`b`"',
    'a `b \\`c\\``',
  ],
  'a variable that cannot be resolved': [
    'a ${!X}',
    'a ${X@P}',
    'a ${X[0]}',
    'a ${X//a/b}',
    'a ${X:1}',
    'a ${X^}',
    'a $1',
    'a "$@"',
    'a $*',
    'a ${1}',
    'a $0',
  ],
  'an assignment that steers other programs': [
    'PATH=. a',
    'PATH=x',
    'LD_PRELOAD=x a',
    'DYLD_INSERT_LIBRARIES=x a',
    'BASH_ENV=x a',
    'ENV=x a',
    'IFS=x a',
    'SHELLOPTS=x a',
    'PS4=x a',
    'CDPATH=x a',
    'GIT_SSH_COMMAND=x a',
    'npm_config_script_shell=x a',
    'NPM_CONFIG_SCRIPT_SHELL=x a',
    'NODE_OPTIONS=--require=./x a',
    'NODE_OPTIONS="$HOME" a',
    'PYTHONSTARTUP=x a',
    'PERL5OPT=x a',
    'export PATH=.',
    'export LD_PRELOAD=x',
    'readonly PATH=.',
    'unset PATH',
    'read PATH',
    'read -r "$X"',
    'for PATH in a; do b; done',
    'a ${PATH:=x}',
    'a ${ENV=x}',
    'env PATH=. a',
    'env LD_PRELOAD=x a',
    'env -u PATH a',
    "env 'BASH_FUNC_a%%=() { b; }' bash -c a",
    'export "$X"',
    'RUN_ID=x a',
    'WORKSPACE=/ a',
    'REPORTS_DIR=x a',
  ],
  'a shell that reads a stream': [
    'a | sh',
    'sh',
    'bash -s',
    'sh <x',
    'sh <<E\na\nE',
    'sh -',
    'sh /dev/stdin',
    'sh /dev/fd/0',
    'sh /proc/self/fd/0',
    'a | bash -e',
    'sh "$HOME"x -c a; sh ""',
    'a | env sh',
    'a | xargs sh',
  ],
  'a shell with a text that is not written out': [
    'sh -c "$X"',
    'sh -c $(a)',
    'sh "$X" b',
    'xargs sh -c',
    'xargs -I{} sh -c "a {}"',
    'find . -exec sh -c "a {}" \\;',
    'bash --rcfile x -c a',
    'bash -i -c a',
    'sh -o posix -c a',
    'zsh -c a',
    'fish -c a',
  ],
  'a program that comes from elsewhere': [
    'xargs env',
    'a | xargs -I{} {}',
    'xargs -I% env %',
    'xargs -I{} -I@ env @',
    'xargs -I{} -n1 env {}',
    'find . -exec {} \\;',
    'find . "$X" a \\;',
    'find $X',
    'env $X a',
    'env "$X" a',
    'env -S "a b"',
    'env -vS "a b"',
    'env --split-string=a',
    'timeout $X a',
    'nice $X a',
    'exec $X',
    'command $X',
    'exec -a x a',
    'xargs --process-slot-var=LD_PRELOAD a',
  ],
  'a program that runs others in its own way': [
    'sudo a',
    'doas a',
    'su -c a',
    'watch a',
    'parallel a',
    'script -c a',
    'flock x a',
    'busybox sh',
    'strace a',
    'ssh x a',
    'chroot x a',
    'unshare a',
    'nsenter a',
    'time (a)',
    'time X=1 a',
    'expect -c a',
    'ld-linux-x86-64.so.2 a',
  ],
  'a redirection that is more than a file': [
    'a >/dev/tcp/x/1',
    'exec 3<>/dev/udp/x/1',
    'a >*',
    'a >$X',
    '>x',
    'a >&$X',
    'a <<$X\n$X',
  ],
  'a built-in that evaluates its arguments': [
    "test -v 'a[$(b)]'",
    "[ -v 'a[`b`]' ]",
    "printf -v 'a[$(b)]' x",
    'printf "$X" a',
    "unset 'a[$(b)]'",
    "read 'a[$(b)]'",
    'set -- a',
    'set -o posix',
    'set -k',
    'wait -p x',
  ],
  'text that is not plain': [
    'a\0b',
    'a\rb',
    'a\u001bb',
    'a\ud800',
    'np\\\nm test',
    '$\\\n(a)',
    '#!/bin/sh\na',
  ],
}; // prettier-ignore

for (const [what, texts] of Object.entries(unproven)) {
  t.test(`${what} is not proven`, async (t) => {
    for (const text of texts) {
      const reading = commandsOf(text);
      t.notOk(reading.ok, JSON.stringify(text), { reading });
    }
  });
}

t.test('nesting, length and number are bounded', async (t) => {
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

t.test('the words of an entry are those of one plain command', async (t) => {
  t.same(wordsOf('npm test -- --grep "a b"'), ['npm', 'test', '--', '--grep', 'a b']);
  t.same(wordsOf('  sh  '), ['sh']);
  for (const text of ['', '  ', 'a && b', 'a; b', 'a $X', 'a *', 'A=1 a', 'a >x', 'a(', '# a']) {
    t.equal(wordsOf(text), undefined, text);
  }
});

/** Real shells run these with a PATH of programs that only write down how they were called. */
const executed = [
  'p a "b c" \'d\' e\\ f ""',
  '"n"p\\m te""st',
  'p; q && r || p2 | q2',
  'p & q; wait',
  '(p; q) | { r; }',
  'X=$(p) q "$(r "$(p2)")"',
  'p `q x`',
  'if p; then q; else r; fi',
  'if f; then q; else r; fi',
  'for i in a "b c"; do p $i; done',
  'case x in (x) p;; *) q; esac',
  'while f; do p; done; q',
  '! f && p',
  'cat <<E\n$(p) x\nE',
  "cat <<'E'\n$(p) x\nE\nq",
  'p # q\nr',
  'p a#b \\#c "#" #d',
  'p \\\n  a',
  "sh -c 'p; q a' x",
  'sh -c \'sh -c "p a"\'',
  "bash -ec 'p | q'",
  'sh -c -- "p a"',
  'sh -c -e "p a"',
  'env A=1 p a',
  'env -i PATH="$PATH" p',
  'env -u A p a',
  'echo a b | xargs p x',
  'echo a b | xargs -n1 p',
  'echo a b | xargs -I{} p x{}y',
  'echo a | xargs -I% env X=% p %',
  'find . -maxdepth 0 -exec p {} x \\;',
  'find . -maxdepth 0 -exec p x {} +',
  'find . -maxdepth 0 -exec env p {} \\; -exec q \\;',
  'timeout 5 p a',
  'nice -n 1 p a',
  'nohup p a >o',
  'time p a',
  'command p a',
  'exec p a',
  'p "$CI" ${CI} "${CI:-$(q)}" "${CI:+$(r)}"',
  'p ${X:=$(q)} $X',
  'p * {a,b} [x] ~',
  'p 2>&1 >o a',
  '2>&1 p a',
  'p a >"o p" b',
  'p \'$(q)\' "\\$(q)" \\$\\(q\\)',
  'p "a\\b\\"c\\$d\\\\e"',
  "p 'a\\b' a\\\\b",
  'p a\tb',
  'p a&&q b||r c;p2|q2',
  'p\nq\n\nr',
  '(p)',
  '( (p) )',
  '{ p; }',
  '{ { p; }; }',
  'set -eu; p',
  'X=p; q $X',
  'export X=1; sh -c \'p "$X"\'',
  'p \u00a0 a\u2028b é',
  'p {} } { ! if',
  'p a=b c+=d',
  'p -- -x',
  'test -n x && p',
  '[ -n x ] && p',
  ': $(p)',
  'echo $(p; q) | p2',
  // Not proven, or not run as they look.
  'a(',
  'p=(q r)',
  "$'p' x",
  '{p,q} x',
  'p() { q; }; p',
  'p &>o q',
  '((p))',
  '[[ p && q ]]',
  'echo q | sh',
  'eval p',
  'p $((1+$(q)))',
  'X=p; $X',
  'p <(q)',
  'p\\\n q',
  'pp\\\np q',
]; // prettier-ignore

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

t.test('no program runs in a real shell that was not found in the text', async (t) => {
  const root = t.testdir({ bin: {}, work: { x: '' } });
  const bin = `${root}/bin`;
  for (const name of ['p', 'q', 'r', 'p2', 'q2', 'f', 'npm', 'time']) {
    const record = 'l="${0##*/}"; for a; do l="$l\u001f$a"; done; printf "%s\\036" "$l" >>"${0%/bin/*}/log"';
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
