import t from 'tap';
import type { CommandSpec } from '../../bin/command-parts/command.ts';
import { commands as realCommands } from '../../bin/command-table.ts';
import { parseArguments } from '../../bin/dispatch.ts';
import { isWritError, type WritError } from '../../core/base/errors.ts';

const load: CommandSpec['load'] = () => Promise.reject(new Error('not loaded here'));
const bare = { summary: 's', examples: [], load } as const;
const commands: readonly CommandSpec[] = [
  {
    ...bare,
    name: 'run',
    arguments: [{ name: 'SPEC', about: '' }],
    options: [
      { name: 'key', value: 'KEY', about: '' },
      { name: 'artifact', value: 'FILE', about: '', repeatable: true },
      { name: 'output', short: 'o', value: 'FILE', about: '' },
      { name: 'mode', value: 'MODE', choices: ['fast', 'slow'], about: '' },
      { name: 'dry-run', about: '' },
      { name: 'no-cache', about: '' },
    ],
  },
  { ...bare, name: 'spec validate', arguments: [{ name: 'SPEC', about: '', variadic: true }], options: [] },
  { ...bare, name: 'spec schema', arguments: [], options: [] },
  { ...bare, name: 'runs', arguments: [{ name: 'FILTER', about: '', optional: true }], options: [] },
];

function parsed(...argv: string[]) {
  const invocation = parseArguments(argv, commands);
  if (invocation.kind !== 'command') throw new Error(`parsed as ${invocation.kind}`);
  return invocation;
}

function usageOf(...argv: string[]): WritError {
  try {
    parseArguments(argv, commands);
  } catch (thrown) {
    if (isWritError(thrown, 'USAGE')) return thrown;
    throw thrown;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
}

t.test('option values are passed through as exact strings', async (t) => {
  const values = [
    '0x10',
    '007',
    '1e3',
    '1.50',
    '-',
    'true',
    'false',
    '=x',
    'a=b',
    '{"a":1}',
    'a.b.c',
    '__proto__',
    ' ',
    'a b',
    'Infinity',
    'é',
  ];
  for (const value of values) {
    t.equal(parsed('run', 'f', '--key', value).options.value('key'), value, `separate ${value}`);
    t.equal(parsed('run', 'f', `--key=${value}`).options.value('key'), value, `inline ${value}`);
    t.equal(parsed('run', 'f', '-o', value).options.value('output'), value, `short ${value}`);
    t.strictSame(parsed('run', '--json', value).args, [value], `operand after a flag ${value}`);
  }
  t.equal(parsed('run', 'f', '--key=-1').options.value('key'), '-1');
  t.equal(parsed('run', 'f', '--key=--json').options.flag('json'), false);
  t.equal(parsed('run', 'f', '-ofile').options.value('output'), 'file');
});

t.test('every argument after `--` is an operand', async (t) => {
  t.strictSame(parsed('spec', 'validate', '--', '--json', '-', '--', '-o').args, ['--json', '-', '--', '-o']);
  t.equal(parsed('spec', 'validate', '--', '--json').options.flag('json'), false);
  t.strictSame(parsed('run', '--', '--help').args, ['--help']);
});

t.test('global options work before, inside and after the command name', async (t) => {
  for (const argv of [
    ['--repo', 'r', '--json', 'spec', 'validate', 'f'],
    ['spec', '--json', '--repo=r', 'validate', 'f'],
    ['spec', 'validate', 'f', '--repo', 'r', '--json'],
  ]) {
    const { command, args, options } = parsed(...argv);
    t.equal(command.name, 'spec validate');
    t.strictSame(args, ['f']);
    t.equal(options.value('repo'), 'r');
    t.equal(options.flag('json'), true);
  }
});

t.test('a flag that begins with `no-` is off unless it is given', async (t) => {
  t.equal(parsed('run', 'f').options.flag('no-cache'), false);
  t.equal(parsed('run', 'f', '--no-cache').options.flag('no-cache'), true);
  t.equal(parsed('run', 'f').options.flag('no-color'), false);
  t.equal(parsed('run', 'f', '--no-color').options.flag('no-color'), true);
  t.equal(parsed('run', 'f', '--dry-run').options.flag('dry-run'), true);
});

t.test('a repeatable option keeps its values in order, other options may be given once', async (t) => {
  t.strictSame(parsed('run', 'f', '--artifact', 'b', '--artifact=a').options.values('artifact'), ['b', 'a']);
  t.strictSame(parsed('run', 'f').options.values('artifact'), []);
  t.match(usageOf('run', 'f', '--key', 'a', '--key', 'b').detail, { option: '--key' });
  t.match(usageOf('run', 'f', '-o', 'a', '--output', 'a').detail, { option: '--output' });
  t.match(usageOf('run', 'f', '--json', '--json').detail, { option: '--json' });
});

t.test('an unknown option or command is a usage error that suggests the nearest name', async (t) => {
  const near: readonly (readonly [readonly string[], string | undefined])[] = [
    [['run', 'f', '--kye', 'x'], '--key'],
    [['run', 'f', '--jsno'], '--json'],
    [['run', 'f', '--outptu=x'], '--output'],
    [['run', 'f', '--no-key'], undefined],
    [['run', 'f', '--key.x', 'a'], '--key'],
    [['run', 'f', '--dryRun'], '--dry-run'],
    [['run', 'f', '---key', 'a'], '--key'],
    [['run', 'f', '-x'], undefined],
    [['run', 'f', '-qo'], undefined],
    [['run', 'f', '--constructor', 'x'], undefined],
    [['run', 'f', '--'.concat('z'.repeat(5000))], undefined],
    [['--kye', 'run', 'f'], undefined],
    [['rnu'], '`writ run`'],
    [['spce', 'validate'], '`writ spec`'],
    [['spec', 'valid'], '`writ spec validate`'],
    [['spec', 'vlaidate', 'f'], '`writ spec validate`'],
    [['constructor'], undefined],
  ];
  for (const [argv, expected] of near) {
    const [first] = usageOf(...argv).hints;
    if (expected === undefined)
      t.notMatch(first ?? '', /did you mean `--(cache|constructor)/, argv.join(' ').slice(0, 40));
    else
      t.match(
        first ?? '',
        `did you mean ${expected.startsWith('`') ? expected : `\`${expected}\``}?`,
        argv.join(' '),
      );
  }
});

t.test('a missing or extra value, operand or subcommand is a usage error', async (t) => {
  t.match(usageOf('run', 'f', '--key').detail, { option: '--key', found: null });
  t.match(usageOf('run', 'f', '--key', '--json').detail, { option: '--key', found: '--json' });
  t.match(usageOf('run', 'f', '--key', '--').detail, { option: '--key', found: '--' });
  t.match(usageOf('run', 'f', '--key=').detail, { option: '--key', found: '' });
  t.match(usageOf('run', 'f', '--key', '').detail, { option: '--key', found: '' });
  t.match(usageOf('run', 'f', '--json=0').detail, { option: '--json', found: '0' });
  t.match(usageOf('--json=0', 'run', 'f').detail, { option: '--json', found: '0' });
  t.match(usageOf('run').detail, { command: 'run', expected: ['SPEC'] });
  t.match(usageOf('run', 'a', 'b').detail, { found: 'b' });
  t.match(usageOf('spec', 'schema', 'b').detail, { found: 'b' });
  t.match(usageOf('spec', 'validate').detail, { expected: ['SPEC'] });
  t.match(usageOf('spec').detail, { expected: ['validate', 'schema'] });
  t.match(usageOf('spec', '--', 'validate').detail, { found: null });
  t.match(usageOf().message, /no command/);
  t.match(usageOf('run', 'f', '--mode', 'fats').hints[0] ?? '', 'did you mean `fast`?');
  t.strictSame(parsed('runs').args, []);
});

t.test('an unknown sandbox is a usage error that names the known ones', async (t) => {
  t.throws(() => parseArguments(['run', 'f', '--sandbox', 'foo'], realCommands), {
    code: 'USAGE',
    detail: { expected: ['auto', 'bubblewrap', 'unshare', 'none'], found: 'foo' },
  });
});

t.test('`--help` and `--version` win over everything else on the command line', async (t) => {
  t.match(parseArguments(['--help'], commands), { kind: 'help' });
  t.match(parseArguments(['spec', '-h'], commands), { kind: 'help', group: 'spec' });
  t.match(parseArguments(['run', '--help'], commands), { kind: 'help', command: { name: 'run' } });
  t.match(parseArguments(['run', '--bogus', '--help'], commands), { kind: 'help', command: { name: 'run' } });
  t.match(parseArguments(['--json', '--version'], commands), { kind: 'version' });
  t.match(parseArguments(['run', '--version'], commands), { kind: 'version' });
});

t.test('reading an undeclared option throws INTERNAL instead of returning `undefined`', async (t) => {
  const { options } = parsed('run', 'f');
  t.throws(() => options.value('kye'), { code: 'INTERNAL' });
  t.throws(() => options.flag('key'), { code: 'INTERNAL' });
  t.throws(() => options.value('json'), { code: 'INTERNAL' });
});

t.test('an option with an optional value uses the next word only if it is a choice', async (t) => {
  const read = (...argv: readonly string[]) => {
    const invocation = parseArguments(['run', ...argv], realCommands);
    if (invocation.kind !== 'command') throw new Error('not a command');
    return [invocation.options.value('ollama-compact-tools'), ...invocation.args];
  };
  t.strictSame(read('--ollama-compact-tools', 'spec.json'), ['on', 'spec.json']);
  t.strictSame(read('--ollama-compact-tools', 'off', 'spec.json'), ['off', 'spec.json']);
  t.strictSame(read('spec.json', '--ollama-compact-tools'), ['on', 'spec.json']);
  t.strictSame(read('spec.json', '--ollama-compact-tools', '--quiet'), ['on', 'spec.json']);
  t.strictSame(read('spec.json', '--ollama-compact-tools=maybe'), ['maybe', 'spec.json']);
});

t.test('every declared option of every command returns the given value', async (t) => {
  for (const command of realCommands) {
    const operands = command.arguments.filter((one) => one.optional !== true).map(() => 'operand');
    for (const option of command.options) {
      const value = option.choices?.[0] ?? '0x1';
      const argv = [
        ...command.name.split(' '),
        ...operands,
        ...(option.bare === undefined
          ? [`--${option.name}`, ...(option.value === undefined ? [] : [value])]
          : [`--${option.name}=${value}`]),
      ];
      const invocation = parseArguments(argv, realCommands);
      if (invocation.kind !== 'command') throw new Error('not a command');
      t.equal(invocation.command.name, command.name);
      if (option.value === undefined) t.equal(invocation.options.flag(option.name), true, argv.join(' '));
      else t.equal(invocation.options.value(option.name), value, argv.join(' '));
    }
  }
});
