import { checkAssignedName } from './assigned-name.ts';
import { checkBuiltIn } from './built-ins.ts';
import { type Prefix, splitPrefix } from './options.ts';
import { type Reading, type ShellWord, unproven } from './reading.ts';
import { readScript } from './script.ts';

/** Programs whose arguments are another program and its arguments. */
const wrappers: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
  ['command', { flags: ['-p'] }],
  ['exec', {}],
  ['nohup', {}],
  [
    'time',
    {
      flags: ['-p', '-v', '-a', '-q', '--portability', '--verbose', '--append', '--quiet'],
      valued: ['-f', '-o', '--format', '--output'],
    },
  ],
  ['nice', { valued: ['-n', '--adjustment'] }],
  ['ionice', { flags: ['-t', '--ignore'], valued: ['-c', '-n', '--class', '--classdata'] }],
  [
    'timeout',
    {
      flags: ['-v', '--verbose', '--foreground', '--preserve-status'],
      valued: ['-k', '-s', '--kill-after', '--signal'],
      operands: 1,
    },
  ],
  ['setsid', { flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'] }],
  ['stdbuf', { valued: ['-i', '-o', '-e', '--input', '--output', '--error'] }],
  ['xvfb-run', { flags: ['-a', '--auto-servernum'], valued: ['-s', '-n', '--server-args', '--server-num'] }],
]); // prettier-ignore

const env: Prefix = {
  flags: ['-i', '-0', '-v', '--ignore-environment', '--null', '--debug'],
  valued: ['-u', '--unset', '-C', '--chdir'],
};
const xargs: Prefix = {
  flags: [
    '-0',
    '-o',
    '-p',
    '-r',
    '-t',
    '-x',
    '--null',
    '--open-tty',
    '--interactive',
    '--no-run-if-empty',
    '--verbose',
    '--exit',
  ],
  valued: [
    '-a',
    '-d',
    '-E',
    '-I',
    '-L',
    '-n',
    '-P',
    '-s',
    '--arg-file',
    '--delimiter',
    '--max-args',
    '--max-procs',
    '--max-chars',
  ],
  attached: ['-e', '-i', '-l', '--eof', '--replace', '--max-lines'],
}; // prettier-ignore

const shells = new Set(['sh', 'dash', 'bash', 'ash']);

/** Programs that run others in ways that are not followed here. */
const opaque = new Set([
  'sudo',
  'doas',
  'su',
  'runuser',
  'pkexec',
  'chroot',
  'unshare',
  'nsenter',
  'setpriv',
  'capsh',
  'bwrap',
  'systemd-run',
  'busybox',
  'toybox',
  'watch',
  'parallel',
  'script',
  'scriptreplay',
  'expect',
  'unbuffer',
  'at',
  'batch',
  'crontab',
  'flock',
  'strace',
  'ltrace',
  'gdb',
  'lldb',
  'perf',
  'valgrind',
  'ssh',
  'screen',
  'tmux',
  'fish',
  'csh',
  'tcsh',
  'rc',
  'es',
  'elvish',
  'nu',
  'pwsh',
  'xonsh',
  'run-parts',
  'start-stop-daemon',
  'chrt',
  'taskset',
  'prlimit',
  'numactl',
  'choom',
  'fakeroot',
  'faketime',
  'proot',
  'firejail',
  'runcon',
  'newgrp',
  'sg',
  'cmd',
  'entr',
  'ld.so',
  'rlwrap',
  'setarch',
  'linux32',
  'linux64',
  'i386',
  'x86_64',
  'uname26',
  'dbus-run-session',
  'dbus-launch',
  'caffeinate',
]); // prettier-ignore

const bareName = /^(?:\[|:|[A-Za-z0-9_][A-Za-z0-9_.+@-]*)$/;

/** Adds a simple command and every command that it is known to run. Ends the reading where that cannot be told. */
export function follow(argv: readonly ShellWord[], assignments: readonly string[], reading: Reading): void {
  const [first, ...args] = argv;
  const name = first?.literal;
  if (name === undefined) unproven(`the program \`${(first?.text ?? '').slice(0, 40)}\` is not written out`);
  if (name.includes('/')) unproven(`expected a program's bare name, found the path \`${name.slice(0, 80)}\``);
  checkBuiltIn(name, args, reading);
  if (!bareName.test(name)) unproven(`expected a program's name, found \`${name.slice(0, 40)}\``);
  if (opaque.has(name) || /^ld-linux/.test(name))
    unproven(`what \`${name}\` runs cannot be told from its text`);
  reading.add({ argv, assignments });
  reading.nested(() => followArguments(name, args, reading));
}

function followArguments(name: string, args: readonly ShellWord[], reading: Reading): void {
  const inner = (command: readonly ShellWord[]): void => {
    if (command.length > 0) follow(command, [], reading);
  };
  switch (true) {
    case shells.has(name):
      followShell(name, args, reading);
      break;
    case name === 'find':
      followFind(args, reading);
      break;
    case name === 'env':
      inner(afterAssignments(args, reading));
      break;
    case name === 'xargs':
      inner(xargsCommand(args));
      break;
    case name === 'command' && /^-[vV]$/.test(args[0]?.literal ?? ''):
      break;
    default: {
      const prefix = wrappers.get(name);
      if (prefix) inner(splitPrefix(name, args, prefix).command);
    }
  }
}

/** `sh -c TEXT` and `sh FILE`; a shell that reads its standard input could run anything. */
function followShell(name: string, args: readonly ShellWord[], reading: Reading): void {
  const { options, command } = splitPrefix(name, args, {
    flags: ['-a', '-c', '-e', '-f', '-n', '-u', '-x', '-C'],
    valued: ['-o'],
  });
  for (const { name: option, value } of options) {
    if (option === '-o' && !/^(?:errexit|nounset|xtrace|noglob|pipefail)$/.test(value?.literal ?? '')) {
      unproven(`\`${name} -o\` with an unknown option`);
    }
  }
  const [subject] = command;
  if (options.some((option) => option.name === '-c')) {
    const text = subject?.literal;
    if (text === undefined) unproven(`expected the text of \`${name} -c\` to be written out in quotes`);
    readScript(text, reading, (argv, assignments) => follow(argv, assignments, reading));
  } else if (!subject?.operand || subject.literal === '' || /^\/(?:dev|proc)\//.test(subject.head)) {
    unproven(`\`${name}\` would read commands from a stream`);
  }
}

/** `find … -exec PROGRAM … ;` as often as it stands there. */
function followFind(args: readonly ShellWord[], reading: Reading): void {
  for (const word of args) {
    if (!word.operand && word.literal === undefined)
      unproven('an argument of `find` that could be an option');
  }
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.literal ?? '')) continue;
    const command: ShellWord[] = [];
    for (at += 1; at < args.length; at += 1) {
      const word = args[at];
      if (word === undefined || word.literal === ';') break;
      if (word.literal === '+' && args[at - 1]?.literal === '{}') break;
      command.push(withPlaceholder(word, '{}'));
    }
    if (at >= args.length) unproven('expected `;` or `{} +` to end the command of `find`');
    if (command.length === 0) unproven('expected a program after `-exec`');
    follow(command, [], reading);
  }
}

/** What follows the options and `NAME=value` operands of `env`. */
function afterAssignments(args: readonly ShellWord[], reading: Reading): readonly ShellWord[] {
  const { options, command } = splitPrefix('env', args, env);
  for (const { name, value } of options) {
    if (name === '-u' || name === '--unset') checkAssignedName(value?.literal ?? '', undefined);
  }
  let at = command[0]?.literal === '-' ? 1 : 0;
  for (; at < command.length; at += 1) {
    const word = command[at];
    const equals = word?.head.indexOf('=') ?? -1;
    if (word === undefined || equals === -1) break;
    if (!word.single) unproven('an assignment of `env` that is not one word');
    const name = word.head.slice(0, equals);
    const value = word.literal?.slice(equals + 1);
    checkAssignedName(name, value === undefined ? undefined : { ...word, literal: value });
    reading.assigned.add(name);
  }
  return command.slice(at);
}

/** The command of `xargs`, to which unknown words are added. */
function xargsCommand(args: readonly ShellWord[]): readonly ShellWord[] {
  const { options, command } = splitPrefix('xargs', args, xargs);
  if (command.length === 0) return [];
  const replacing = options.filter(({ name }) => /^(?:-I|-i|--replace)$/.test(name));
  const [replace] = replacing;
  if (replace === undefined) return [...command, { text: '…', head: '', single: false, operand: false }];
  // A later option takes back an earlier one.
  if (replacing.length > 1 || options.some(({ name }) => /^(?:-[Lln]|--max-(?:lines|args))$/.test(name))) {
    unproven('`xargs` with a placeholder and an option that takes it back');
  }
  const placeholder = replace.value === undefined ? '{}' : replace.value.literal;
  if (!placeholder) unproven('a placeholder of `xargs` that is not written out');
  return command.map((word) => withPlaceholder(word, placeholder));
}

/** The word as it is when the placeholder in it stands for a file name that nobody knows yet. */
function withPlaceholder(word: ShellWord, placeholder: string): ShellWord {
  if (word.literal !== undefined && !word.literal.includes(placeholder)) return word;
  const [head = ''] = word.head.split(placeholder);
  return {
    text: word.text,
    head,
    single: word.single,
    operand: word.single && head !== '' && !/^[-+]/.test(head),
  };
}
