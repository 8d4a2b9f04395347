import type { Language } from '../source/language.ts';
import { type WordSearch, wordSearch } from '../source/word-search.ts';

/** Languages in which direct execution is looked for. */
export type Scanned = Exclude<Language, 'rust' | 'c' | 'swift' | 'elixir'>;

/** Full-width and mathematical letters, which Python reads as plain ones. */
const pythonLetters = ['\xef\xbd', '\xf0\x9d'];

/** Every direct execution contains one of these; a change without any is not read further. */
const inChange: Readonly<Record<Scanned, WordSearch>> = {
  javascript: wordSearch([
    ...[
      'eval',
      'exec',
      'Function',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'runIn',
      'compileFunction',
      '_compile',
    ],
    ...[
      'constructor',
      'shell',
      'spawn',
      'child_process',
      'data:',
      '\\u00',
      '\\u{0',
      '\\u{4',
      '\\u{6',
      '\\u{7',
      'fork',
    ],
    ...["'vm'", '"vm"', ':vm', 'vm.S', 'globalThis[', 'window[', 'global[', 'self[', 'Reflect'],
  ]),
  python: wordSearch([
    ...[
      'eval',
      'exec',
      'compile',
      'system',
      'popen',
      'Popen',
      'output',
      'subprocess',
      'shell',
      'builtins',
      'getattr',
    ],
    ...['import_module', '__import__', 'globals', 'spawn', ...pythonLetters],
  ]),
  shell: wordSearch(['eval', 'sh', 'source', '<(', 'SHELL', '$']),
  ruby: wordSearch([
    ...[
      'eval',
      'system',
      'exec',
      'spawn',
      'popen',
      'Open3',
      'send',
      'open',
      'InstructionSequence',
      'method',
      '`',
      '%x',
    ],
  ]),
  php: wordSearch(
    [
      ...[
        'eval',
        'assert',
        'create_function',
        'exec',
        'system',
        'passthru',
        'popen',
        'proc_open',
        'preg_',
        'mb_ereg',
      ],
      ...[
        'call_user',
        'array_',
        'usort',
        'uasort',
        'uksort',
        'reflectionfunction',
        'iterator_apply',
        'register_shutdown',
        '`',
      ],
    ],
    { fold: true },
  ),
  perl: wordSearch(['eval', 'system', 'exec', 'open', 'readpipe', '`', 'qx', 'ee', '-c']),
  java: wordSearch([
    'exec',
    'eval',
    'Groovy',
    'JShell',
    'MVEL',
    'Eval',
    'compile',
    'ProcessBuilder',
    'command',
  ]),
  kotlin: wordSearch(['exec', 'eval', 'GroovyShell', 'ProcessBuilder', 'Eval', '"-c"', '"/c"', '-Command']),
  scala: wordSearch([
    'exec',
    'eval',
    'GroovyShell',
    'Process',
    'Stream',
    'lazyLines',
    'lines_',
    'process',
    'interpret',
    '!',
  ]),
  go: wordSearch([
    'Eval',
    'Command',
    'RunS',
    'RunP',
    'Run(',
    'DoString',
    'LoadString',
    'Exec',
    'exec.',
    'StartProcess',
  ]),
  csharp: wordSearch([
    ...[
      'CSharpScript',
      'EvaluateAsync',
      'RunAsync',
      'CompileAssembly',
      'AddScript',
      'InvokeScript',
      'Process',
      'Start(',
    ],
    ...['Arguments', 'FileName'],
  ]),
};

/** What a file holds where a name for direct execution may be given far from where the change uses it. */
const inFile: Readonly<Partial<Record<Scanned, WordSearch>>> = {
  javascript: wordSearch([
    ...[
      'child_process',
      'shelljs',
      'execa',
      '= eval',
      ': eval',
      '=eval',
      '.eval',
      "['eval",
      '["eval',
      "'vm'",
      '"vm"',
      ':vm',
    ],
    ...['= Function', '.constructor'],
  ]),
  python: wordSearch(['eval', 'exec', 'system', 'popen', 'subprocess', 'builtins', 'create_subprocess']),
  shell: wordSearch(['eval', '=sh', '=bash', 'bin/']),
  ruby: wordSearch(['alias', 'method(']),
  php: wordSearch(['use function', "= '", '= "'], { fold: true }),
  java: wordSearch(['Runtime', 'ScriptEngine', 'ProcessBuilder', 'Groovy', 'JShell', 'MVEL', 'bsh.']),
  kotlin: wordSearch(['Runtime', 'ScriptEngine', 'ProcessBuilder']),
  scala: wordSearch(['sys.process', 'Runtime', 'ScriptEngine', 'ProcessBuilder']),
  go: wordSearch(['os/exec', 'syscall', '/goja', '/otto', '/gopher-lua', '/yaegi', '/v8go', '/starlark']),
  csharp: wordSearch(['Diagnostics', 'Scripting', 'CSharpScript', 'ProcessStartInfo']),
};

/** Narrows to the languages in which direct execution is looked for. */
export function isScanned(language: Language | undefined): language is Scanned {
  return language !== undefined && language in inChange;
}

/** Whether bytes of a change can hold direct execution, or use a name for it that they give. */
export function mayHit(bytes: Uint8Array, language: Scanned, start?: number, end?: number): boolean {
  return inChange[language].found(bytes, start, end);
}

/** Whether a file can give another name to direct execution, so that a change may use it unseen. */
export function mayRename(bytes: Uint8Array, language: Scanned): boolean {
  return inFile[language]?.found(bytes) ?? false;
}
