import { type WordSearch, wordSearch } from '../../readers/anchors/word-search.ts';
import type { Scanned } from './candidates.ts';

/** Types of the Java platform that may be given a name far from where it is used. */
const jvmEngineTypes: readonly string[] = [
  ...['Runtime', 'ScriptEngine', 'ProcessBuilder', 'roovy', 'gnl', 'ELProcessor', 'ScriptingContainer'],
  ...['JavaCompiler', 'PythonInterpreter'],
];

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
    ...['= Function', '.constructor', 'vm2', 'isolated-vm', 'data:text'],
  ]),
  python: wordSearch([
    'eval',
    'exec',
    'system',
    'popen',
    'subprocess',
    'create_subprocess',
    'builtins',
    'timeit',
    'runpy',
    'rofile',
    'Trace(',
    'Interactive',
    'CDLL',
  ]),
  shell: wordSearch(['eval', '=sh', '=bash', 'bin/']),
  ruby: wordSearch(['alias', 'method(']),
  php: wordSearch(['use function', "= '", '= "'], { fold: true }),
  java: wordSearch([...jvmEngineTypes, 'JShell', 'MVEL', 'bsh.']),
  kotlin: wordSearch(jvmEngineTypes),
  scala: wordSearch([...jvmEngineTypes, 'sys.process', 'twitter.util']),
  go: wordSearch([
    ...['os/exec', 'syscall', 'StartProcess', 'x/sys/', '/goja', '/otto', '/gopher-lua', '/yaegi', '/v8go'],
    ...['/starlark', '/otto.v', 'mvdan.cc/sh'],
  ]),
  csharp: wordSearch(['Diagnostics', 'Scripting', 'CSharpScript', 'ProcessStartInfo']),
};

/** Whether a file can give another name to direct execution, so that a change may use it unseen. */
export function mayRename(bytes: Uint8Array, language: Scanned): boolean {
  return inFile[language]?.found(bytes) ?? false;
}
