import { type AnchorSearch, createAnchorSearch } from '../../readers/anchors/anchor-search.ts';
import { type WordSearch, wordSearch } from '../../readers/anchors/word-search.ts';
import type { Language } from '../../readers/source/language.ts';

/** Languages in which direct execution is looked for. */
export type Scanned = Exclude<Language, 'rust' | 'c' | 'swift' | 'elixir'>;

/** A text without which some direct execution cannot be written. */
interface EvidenceWord {
  /** At least four latin1 characters. */
  readonly text: string;
  /**
   * Sticky, from the text's beginning, over latin1: what must hold around it. It sees about a hundred bytes to either
   * side.
   */
  readonly form?: RegExp;
}

/** What a change holds wherever it holds direct execution. It says yes too often, never too rarely. */
interface Evidence {
  readonly words: readonly EvidenceWord[];
  /** Texts that are too short to be words, or are written in either letter case. */
  readonly search?: WordSearch;
}

/** Parts of the names of methods that run a text on the Java platform. */
const jvmWords = `parseExpression, parseRaw, parseClass, compile, Ognl, createExpression, createScript, cook,
  createValueExpression, createMethodExpression, ELProcessor, Evaluator, runScriptlet, getTask, Scripting,
  JavaCompiler, createFastEvaluator, GroovyS`;

/**
 * Every direct execution contains one of these; a change without any is not read further. Where two stand in every
 * example that anybody thought of, both stay: a word too many costs a look, a word too few hides a change.
 */
const words: Readonly<Record<Exclude<Scanned, 'javascript' | 'python'>, string>> = {
  shell: 'eval, sh, source, <(, SHELL, $, |, `, sed, /dev/, /proc/, {}, xargs',
  ruby: 'eval, system, exec, spawn, popen, Open3, send, open, InstructionSequence, method, `, %x, ERB.new, IO., PTY., trap, /dev/',
  php: `eval, assert, create_function, exec, system, passthru, popen, proc_open, preg_, mb_ereg, call_user, array_,
    usort, uasort, uksort, reflectionfunction, iterator_apply, register_shutdown, \`, $_, data:, php://, http, ftp,
    expect:, '.', ' . ', ".", " . "`,
  perl: 'eval, system, exec, open, readpipe, `, qx, ee, -c, do , do(, require, use re',
  java: `exec, eval, Groovy, JShell, MVEL, Eval, compile, ProcessBuilder, command, CommandLine, ${jvmWords}`,
  kotlin: `exec, eval, GroovyShell, ProcessBuilder, Eval, "-c", "/c", -Command, ${jvmWords}`,
  scala: `exec, eval, GroovyShell, Process, Stream, lazyLines, process, interpret, !, "-c", "/c", -Command, Eval,
    ${jvmWords}`,
  go: 'Eval, Command, RunS, RunP, Run(, DoString, LoadString, Exec, exec., StartProcess, .Args, ompile',
  csharp: `CSharpScript, EvaluateAsync, RunAsync, VisualBasicScript, Compile(, CompileAssembly, AddScript,
    InvokeScript, Process, Start(, Arguments, FileName, AddCommand, ScriptBlock, CreatePipeline,
    DynamicExpressionParser, JScriptEvaluate, Evaluate(, Execute(, ExecuteAndWrap, ExecuteCommand,
    CreateScriptSource, RunString, DoString, LoadString`,
};

/** Types of the Java platform that may be given a name far from where it is used. */
const jvmTypes = `Runtime, ScriptEngine, ProcessBuilder, roovy, gnl, ELProcessor, ScriptingContainer, JavaCompiler,
  PythonInterpreter`;

/** What a file holds where a name for direct execution may be given far from where the change uses it. */
const inFile: Readonly<Partial<Record<Scanned, WordSearch>>> = {
  javascript: wordSearch(
    listed(`child_process, shelljs, execa, = eval, : eval, =eval, .eval, ['eval, ["eval, 'vm', "vm", :vm,
      = Function, .constructor, vm2, isolated-vm, data:text`),
  ),
  python: wordSearch(
    listed(`eval, exec, system, popen, subprocess, create_subprocess, builtins, timeit, runpy, rofile, Trace(,
      Interactive, CDLL`),
  ),
  shell: wordSearch(listed('eval, =sh, =bash, bin/')),
  ruby: wordSearch(listed('alias, method(')),
  php: wordSearch(listed(`use function, = ', = "`), { fold: true }),
  java: wordSearch(listed(`${jvmTypes}, JShell, MVEL, bsh.`)),
  kotlin: wordSearch(listed(jvmTypes)),
  scala: wordSearch(listed(`${jvmTypes}, sys.process, twitter.util`)),
  go: wordSearch(
    listed(`os/exec, syscall, StartProcess, x/sys/, /goja, /otto, /gopher-lua, /yaegi, /v8go, /starlark, /otto.v,
      mvdan.cc/sh`),
  ),
  csharp: wordSearch(listed('Diagnostics, Scripting, CSharpScript, ProcessStartInfo')),
};

/** How far around a word its form is looked at. */
const reach = 96;

/**
 * Objects whose methods start processes, under the names that are read without their import; and those that lend all
 * globals.
 */
const owners =
  '(?<![\\w$])(?:child_process|childProcess|cp|shelljs|Bun|globalThis|window|global|self|top|parent|frames|defaultView)';
/** White space, a new line's mark in the diff, and what may stand between an object and its member. */
const gap = '[\\s+?!)]{0,30}';
const member = `${owners}${gap}\\.|\\*/${gap}\\.|\\.\\.`;

/** The name by itself, or as a member of what runs processes: `pattern.exec` is another function. */
function runner(text: string, endings: string): EvidenceWord {
  return { text, form: new RegExp(`(?:(?<![\\w$.])|(?<=${member}))${text}${endings}(?![\\w$])`, 'y') };
}

function alone(text: string, after = ''): EvidenceWord {
  return { text, form: new RegExp(`(?<![\\w$])${text}(?![\\w$])${after}`, 'y') };
}

/** A timer that is handed a function runs no text. */
const noFunction =
  '(?!\\s{0,8}\\([\\s+]{0,60}(?:async\\b|function\\b|\\([^()\'"`]{0,60}\\)[^\\n=]{0,30}=>|[\\w$]{1,60}\\s{0,8}=>))';
const typed = '(?!(?<=[\\w$]\\??: Function)(?<!\\?\\s[^\\n]{0,80})(?:;|\\)(?!\\s*\\()))';

/** Each hit of `javascriptHits` has one of these in its file. */
const javascriptEvidence: Evidence = {
  words: [
    alone('eval'),
    runner('exec', '(?:Sync|File|FileSync)?'),
    runner('spawn', '(?:Sync)?'),
    { text: 'fork', form: new RegExp(`(?<=${member})fork(?![\\w$])`, 'y') },
    alone('execScript'),
    {
      text: 'Function',
      form: new RegExp(`(?<=(?<![\\w$])(?:Async|Generator|AsyncGenerator)?)Function(?![\\w$])${typed}`, 'y'),
    },
    alone('setTimeout', noFunction),
    alone('setInterval', noFunction),
    alone('setImmediate', noFunction),
    { text: 'runIn', form: /runIn(?:New|This)?Context/y },
    ...plainWords(listed('compileFunction, execa, shelljs, node-pty')),
    alone('_compile'),
    {
      text: 'constructor',
      // A method of that name follows no dot; a comparison, an assignment and the name of a class call nothing.
      form: /(?<=\.(?:[ \t\r]|\n[+ ]?){0,40}|\/[ \t]{0,10}|["'`])constructor(?![\w$])(?!\s{0,8}(?:[!=]=|=(?![=>])|\.(?!\s{0,8}(?:constructor|call|apply|bind))))/y,
    },
    { text: 'shell', form: /(?<![\w$])shell["'`\]]{0,2}\s{0,8}[:,}=]/y },
    alone('child_process'),
    {
      text: 'data:',
      form: /(?<=import[^;]{0,80}["'`]\s{0,8})data:|data:(?:text|application)\/(?:java|ecma|type|x-java)/y,
    },
    { text: 'Worker', form: /(?<=(?<![\w$])(?:Shared)?)Worker\s{0,8}\(/y },
    // A module's name that is put together.
    {
      text: 'require',
      form: /(?<![\w$])require\s{0,8}\(\s{0,8}(?:["'][^"'\n]{0,40}["']\s{0,8}\+|`[^`\n]{0,40}\$\{|\[)/y,
    },
    { text: 'binding', form: /(?<=\.\s{0,8})binding\s{0,8}\(/y },
    ...plainWords(['Deno.Command', 'Deno.run', 'globalEval', 'isolated-vm', "'vm2'", '"vm2"', 'Reflect.get']),
    // An escaped letter in a name.
    ...['\\u00', '\\u{0', '\\u{4', '\\u{6', '\\u{7'].map((text) => ({
      text,
      form: /\\u(?:\{0{0,40}[4-7][0-9a-fA-F]\}|00[4-7][0-9a-fA-F])/y,
    })),
    ...["'vm'", '"vm"', '`vm`'].map((text) => ({ text })),
    { text: 'e:vm', form: /e:vm(?![\w$])/y },
    { text: 'vm.S', form: /(?<![\w$])vm\.S(?:cript|ourceTextModule)/y },
    ...plainWords(listed('globalThis[, window[, global[, self[')),
  ],
};

/** Each hit of `pythonHits` has one of these in its file. */
const pythonEvidence: Evidence = {
  // Full-width and mathematical letters, which Python reads as plain ones.
  search: wordSearch(['\xef\xbd', '\xf0\x9d']),
  words: [
    { text: 'eval', form: /(?<![\w.])eval(?!\w)/y },
    { text: 'exec', form: /(?<![\w.])exec(?:file)?(?!\w)|(?<!\w)exec(?:_(?!\w)|[lv])/y },
    // `compile` runs nothing but in a mode that is written down.
    { text: 'single', form: /(?<=["'])single(?=["'])/y },
    { text: 'system', form: /(?<!\w)system(?!\w)/y },
    { text: 'popen', form: /(?<!\w)popen/y },
    { text: 'shell', form: /(?<!\w)shell["']?\s{0,8}[=:]/y },
    { text: 'globals', form: /(?<!\w)globals\s{0,8}\(/y },
    ...plainWords(listed('Popen, check_output, check_call, getoutput, statusoutput, subprocess, builtins')),
    { text: 'profile', form: /(?<=(?:import|from)\s{1,4})profile(?!\w)|(?<![\w.])profile\.(?:run|Profile)/y },
    ...plainWords(listed('cProfile, timeit, runpy, pdb., import pdb, from pdb, bdb., Trace(')),
    ...plainWords(listed('interact, Interactive, runsource, runcode, compile_command')),
    ...plainWords(listed('attrgetter, methodcaller, CDLL, cdll, windll, LoadLibrary')),
    ...plainWords(listed('getattr, import_module, __import__, spawn, sh.Command')),
  ],
};

const evidence = {
  javascript: javascriptEvidence,
  python: pythonEvidence,
  ...Object.fromEntries(
    Object.entries(words).map(([language, list]) => [language, toEvidence(list, language)]),
  ),
} as Readonly<Record<Scanned, Evidence>>;

/** By the first four bytes, so that no text is made of a place where only another language has a word. */
const wordsByHead: ReadonlyMap<Scanned, ReadonlyMap<number, readonly EvidenceWord[]>> = new Map(
  (Object.keys(evidence) as Scanned[]).map((language) => [
    language,
    Map.groupBy(evidence[language].words, ({ text }) => Buffer.from(text, 'latin1').readInt32LE()),
  ]),
);

/** Texts that `anchorTest` is to be told of, over all languages. */
export const evidenceAnchors: readonly string[] = [
  ...new Set(Object.values(evidence).flatMap(({ words: known }) => known.map(({ text }) => text))),
];

const searches = new Map<Scanned, AnchorSearch<undefined>>();

/** Narrows to the languages in which direct execution is looked for. */
export function isScanned(language: Language | undefined): language is Scanned {
  return language !== undefined && language in evidence;
}

/** Whether bytes of a change can hold direct execution, or use a name for it that they give. */
export function mayHit(bytes: Uint8Array, language: Scanned, start = 0, end = bytes.length): boolean {
  if (hitsInSearch(bytes, language, start, end)) return true;
  const { words: known } = evidence[language];
  if (known.length === 0) return false;
  const search = searches.get(language) ?? createAnchorSearch(known.map(({ text }) => [undefined, text]));
  searches.set(language, search);
  const test = anchorTest(bytes, language, start, end);
  let holds = false;
  search.scan(bytes, start, end, (_, at) => {
    holds = test(at);
    return holds;
  });
  return holds;
}

/** What of `mayHit` no anchor tells. */
export function hitsInSearch(bytes: Uint8Array, language: Scanned, start: number, end: number): boolean {
  return evidence[language].search?.found(bytes, start, end) ?? false;
}

/** Asked where one of `evidenceAnchors` stands: whether that is evidence in this language. */
export function anchorTest(
  bytes: Uint8Array,
  language: Scanned,
  start: number,
  end: number,
): (at: number) => boolean {
  const known = wordsByHead.get(language);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (at) => {
    const words = at + 4 > end ? undefined : known?.get(buffer.readInt32LE(at));
    if (words === undefined) return false;
    const from = Math.max(start, at - reach);
    const window = buffer.toString('latin1', from, Math.min(end, at + reach));
    return words.some(({ text, form }) => {
      if (!window.startsWith(text, at - from)) return false;
      if (!form) return true;
      form.lastIndex = at - from;
      return form.test(window);
    });
  };
}

/** Whether a file can give another name to direct execution, so that a change may use it unseen. */
export function mayRename(bytes: Uint8Array, language: Scanned): boolean {
  return inFile[language]?.found(bytes) ?? false;
}

function toEvidence(text: string, language: string): Evidence {
  const list = listed(text);
  const fold = language === 'php';
  const isSearched = fold || list.some(({ length }) => length < 4);
  return isSearched ? { words: [], search: wordSearch(list, { fold }) } : { words: plainWords(list) };
}

/** Words that count wherever they stand. */
function plainWords(texts: readonly string[]): readonly EvidenceWord[] {
  return texts.map((text) => ({ text }));
}

/** Texts apart by commas; white space behind a comma does not count. */
function listed(text: string): readonly string[] {
  return text.split(/,\s*/);
}
