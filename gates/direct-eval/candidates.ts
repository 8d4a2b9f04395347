/* Selects the files in which direct execution is possible, quickly. */
import { type WordSearch, wordSearch } from '../../readers/anchors/anchor-search.ts';

/** How a language is searched for files worth a parse: what holds a hit has one of these words, in this form. */
export interface Searches {
  readonly words: WordSearch;
  readonly form?: RegExp;
}

/** Parts of the names of methods that run a text on the Java platform. */
const jvmWords = `parseExpression, parseRaw, parseClass, compile, Ognl, createExpression, createScript, cook,
  createValueExpression, createMethodExpression, ELProcessor, Evaluator, runScriptlet, getTask, Scripting,
  JavaCompiler, createFastEvaluator, GroovyS`;

/**
 * Every direct execution contains one of these words; a change without any of them is not parsed. Two words stay even
 * if every known example contains both. A surplus word costs a search; a missing word hides a change.
 */
const lists: Readonly<Record<string, string>> = {
  shell: 'eval, sh, source, <(, SHELL, $, |, `, sed, /dev/, /proc/, {}, xargs',
  ruby: 'eval, system, exec, spawn, popen, Open3, send, open, InstructionSequence, method, `, %x, ERB.new, IO., PTY., trap, /dev/',
  php: `eval, assert, create_function, exec, system, passthru, popen, proc_open, preg_, mb_ereg, call_user, array_,
    usort, uasort, uksort, reflectionfunction, iterator_apply, register_shutdown, \`, $_, data:, php://, http, ftp,
    expect:, '.', ' . ', ".", " . "`,
  perl: 'eval, system, exec, open, readpipe, `, qx, ee, sh, cmd, do , do(, require, use re',
  java: `exec, eval, Groovy, JShell, MVEL, Eval, compile, ProcessBuilder, command, CommandLine, ${jvmWords}`,
  kotlin: `exec, eval, GroovyShell, ProcessBuilder, Eval, sh", shell", cmd, .exe", ${jvmWords}`,
  scala: `exec, eval, GroovyShell, Process, Stream, lazyLines, process, interpret, !, sh", shell", cmd, .exe", Eval,
    ${jvmWords}`,
  go: 'Eval, Command, RunS, RunP, Run(, DoString, LoadString, Exec, exec., StartProcess, .Args, ompile',
  csharp: `CSharpScript, EvaluateAsync, RunAsync, VisualBasicScript, Compile(, CompileAssembly, AddScript,
    InvokeScript, Process, Start(, Arguments, FileName, AddCommand, ScriptBlock, CreatePipeline,
    DynamicExpressionParser, JScriptEvaluate, Evaluate(, Execute(, ExecuteAndWrap, ExecuteCommand,
    CreateScriptSource, RunString, DoString, LoadString`,
};

/** Objects with methods that start processes, under the names recognized without an import; and all globals. */
const owners =
  '(?<![\\w$])(?:child_process|childProcess|cp|shelljs|Bun|globalThis|window|global|self|top|parent|frames|defaultView)';
/** White space, a new line's mark in the diff, and what may be between an object and its member. */
const gap = '[\\s+?!)]{0,30}';
const member = `${owners}${gap}\\.|\\*/${gap}\\.|\\.\\.`;
const isRunner = `(?:(?<![\\w$.])|(?<=${member}))`;
/** A timer that receives a function does not evaluate text. */
const noFunction =
  '(?!\\s{0,8}\\([\\s+]{0,60}(?:async\\b|function\\b|\\([^()\'"`]{0,60}\\)[^\\n=]{0,30}=>|[\\w$]{1,60}\\s{0,8}=>))';
const isType = '(?<=[\\w$]\\??: Function)(?<!\\?\\s[^\\n]{0,80})(?:;|\\)(?!\\s*\\()';

/** Where a word is common: what must hold around it, else it counts by itself. A form begins with its word. */
type Forms = Readonly<Record<string, string>>;

/** Each hit of `javascriptHits` has one of these in its file. */
const javascriptForms: Forms = {
  ...plain(`compileFunction, execa, shelljs, node-pty, Deno.Command, Deno.run, globalEval, isolated-vm, 'vm2', "vm2",
    Reflect.get, 'vm', "vm", \`vm\`, globalThis[, window[, global[, self[`),
  eval: alone('eval'),
  child_process: alone('child_process'),
  execScript: alone('execScript'),
  _compile: alone('_compile'),
  setTimeout: alone('setTimeout') + noFunction,
  setInterval: alone('setInterval') + noFunction,
  setImmediate: alone('setImmediate') + noFunction,
  // The name by itself, or as a member of what runs processes: `pattern.exec` is another function.
  exec: `${isRunner}exec(?:Sync|File|FileSync)?(?![\\w$])`,
  spawn: `${isRunner}spawn(?:Sync)?(?![\\w$])`,
  fork: `(?<=${member})fork(?![\\w$])`,
  Function: `(?<=(?<![\\w$])(?:Async|Generator|AsyncGenerator)?)Function(?![\\w$])(?!${isType}))`,
  runIn: 'runIn(?:New|This)?Context',
  // A method definition named `constructor` follows no dot. A comparison, an assignment and a class name are not
  // calls.
  constructor:
    '(?<=\\.(?:[ \\t\\r]|\\n[+ ]?){0,40}|\\/[ \\t]{0,10}|["\'`])constructor(?![\\w$])(?!\\s{0,8}(?:[!=]=|=(?![=>])|\\.(?!\\s{0,8}(?:constructor|call|apply|bind))))',
  shell: '(?<![\\w$])shell["\'`\\]]{0,2}\\s{0,8}[:,}=]',
  'data:': '(?<=import[^;]{0,80}["\'`]\\s{0,8})data:|data:(?:text|application)\\/(?:java|ecma|type|x-java)',
  Worker: '(?<=(?<![\\w$])(?:Shared)?)Worker\\s{0,8}\\(',
  // A module's name that is put together.
  require:
    '(?<![\\w$])require\\s{0,8}\\(\\s{0,8}(?:["\'][^"\'\\n]{0,40}["\']\\s{0,8}\\+|`[^`\\n]{0,40}\\$\\{|\\[)',
  binding: '(?<=\\.\\s{0,8})binding\\s{0,8}\\(',
  // An escaped letter in a name.
  '\\u00': '\\\\u00[4-7][0-9a-fA-F]',
  '\\u{': '\\\\u\\{0{0,40}[4-7][0-9a-fA-F]\\}',
  'e:vm': 'e:vm(?![\\w$])',
  'vm.S': '(?<![\\w$])vm\\.S(?:cript|ourceTextModule)',
};

/** Each hit of `pythonHits` has one of these in its file. */
const pythonForms: Forms = {
  ...plain(`Popen, check_output, check_call, getoutput, statusoutput, subprocess, builtins, cProfile, timeit, runpy, pdb.,
    import pdb, from pdb, bdb., Trace(, interact, Interactive, runsource, runcode, compile_command, attrgetter,
    methodcaller, CDLL, cdll, windll, LoadLibrary, getattr, import_module, __import__, spawn, sh.Command`),
  // Full-width and mathematical letters, which Python reads as plain ones.
  ...plain('\xef\xbd, \xf0\x9d'),
  eval: '(?<![\\w.])eval(?!\\w)',
  exec: '(?<![\\w.])exec(?:file)?(?!\\w)|(?<!\\w)exec(?:_(?!\\w)|[lv])',
  // The result of `compile` can run only with a literal mode.
  single: '(?<=["\'])single(?=["\'])',
  system: '(?<!\\w)system(?!\\w)',
  popen: '(?<!\\w)popen',
  shell: '(?<!\\w)shell["\']?\\s{0,8}[=:]',
  globals: '(?<!\\w)globals\\s{0,8}\\(',
  profile: '(?<=(?:import|from)\\s{1,4})profile(?!\\w)|(?<![\\w.])profile\\.(?:run|Profile)',
};

/** Where direct execution is possible, by language. */
export const executing: ReadonlyMap<string, Searches> = new Map([
  ...Object.entries(lists).map(([language, list]): [string, Searches] => [
    language,
    { words: wordSearch(listed(list), { fold: language === 'php' }) },
  ]),
  ...Object.entries({ javascript: javascriptForms, python: pythonForms }).map(
    ([language, forms]): [string, Searches] => [
      language,
      {
        words: wordSearch(Object.keys(forms)),
        form: new RegExp(Object.values(forms).join('|')),
      },
    ],
  ),
]);

/** Whether bytes of a file or a change can hold a hit. It may return false positives, never false negatives. */
export function mayHit({ words, form }: Searches, bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  if (!words.found(bytes, start, end)) return false;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return !form || form.test(buffer.toString('latin1', start, end));
}

function alone(text: string): string {
  return `(?<![\\w$])${text}(?![\\w$])`;
}

function plain(list: string): Forms {
  return Object.fromEntries(listed(list).map((text) => [text, text.replace(/\W/g, '\\$&')]));
}

/** Texts apart by commas; white space behind a comma does not count. */
function listed(text: string): readonly string[] {
  return text.split(/,\s*/);
}
