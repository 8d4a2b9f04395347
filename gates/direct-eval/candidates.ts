import { type AnchorSearch, createAnchorSearch } from '../../readers/anchors/anchor-search.ts';
import { wordSearch } from '../../readers/anchors/word-search.ts';
import type { Language } from '../../readers/source/language.ts';
import { type Evidence, type EvidenceWord, plainWords } from './evidence.ts';
import { javascriptEvidence } from './javascript-evidence.ts';
import { pythonEvidence } from './python-evidence.ts';

/** Languages in which direct execution is looked for. */
export type Scanned = Exclude<Language, 'rust' | 'c' | 'swift' | 'elixir'>;

/** Parts of the names of methods that run a text on the Java platform. */
const jvmEngineWords: readonly string[] = [
  ...[
    'parseExpression',
    'parseRaw',
    'parseClass',
    'compile',
    'Ognl',
    'createExpression',
    'createScript',
    'cook',
  ],
  ...[
    'createValueExpression',
    'createMethodExpression',
    'ELProcessor',
    'Evaluator',
    'runScriptlet',
    'getTask',
  ],
  ...['Scripting', 'JavaCompiler', 'createFastEvaluator', 'GroovyS'],
];

/**
 * Every direct execution contains one of these; a change without any is not read further. Where two stand in every
 * example that anybody thought of, both stay: a word too many costs a look, a word too few hides a change.
 */
const words: Readonly<Record<Exclude<Scanned, 'javascript' | 'python'>, readonly string[]>> = {
  shell: ['eval', 'sh', 'source', '<(', 'SHELL', '$', '|', '`', 'sed', '/dev/', '/proc/', '{}', 'xargs'],
  ruby: [
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
      'ERB.new',
      'IO.',
      'PTY.',
      'trap',
      '/dev/',
    ],
  ],
  php: [
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
    ...['$_', 'data:', 'php://', 'http', 'ftp', 'expect:', "'.'", "' . '", '"."', '" . "'],
  ],
  perl: [
    ...['eval', 'system', 'exec', 'open', 'readpipe', '`', 'qx', 'ee', '-c', 'do ', 'do(', 'require'],
    'use re',
  ],
  java: [
    ...['exec', 'eval', 'Groovy', 'JShell', 'MVEL', 'Eval', 'compile', 'ProcessBuilder', 'command'],
    ...jvmEngineWords,
    'CommandLine',
  ],
  kotlin: [
    ...['exec', 'eval', 'GroovyShell', 'ProcessBuilder', 'Eval', '"-c"', '"/c"', '-Command'],
    ...jvmEngineWords,
  ],
  scala: [
    ...['exec', 'eval', 'GroovyShell', 'Process', 'Stream', 'lazyLines', 'process', 'interpret', '!'],
    ...['"-c"', '"/c"', '-Command', 'Eval'],
    ...jvmEngineWords,
  ],
  go: [
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
    '.Args',
    'ompile',
  ],
  csharp: [
    ...[
      'CSharpScript',
      'EvaluateAsync',
      'RunAsync',
      'VisualBasicScript',
      'Compile(',
      'CompileAssembly',
      'AddScript',
      'InvokeScript',
      'Process',
      'Start(',
    ],
    ...['Arguments', 'FileName', 'AddCommand', 'ScriptBlock', 'CreatePipeline', 'DynamicExpressionParser'],
    ...['JScriptEvaluate', 'Evaluate(', 'Execute(', 'ExecuteAndWrap', 'ExecuteCommand', 'CreateScriptSource'],
    ...['RunString', 'DoString', 'LoadString'],
  ],
};

/** How far around a word its form is looked at. */
const reach = 96;

function toEvidence(list: readonly string[], language: string): Evidence {
  const fold = language === 'php';
  const isSearched = fold || list.some(({ length }) => length < 4);
  return isSearched ? { words: [], search: wordSearch(list, { fold }) } : { words: plainWords(list) };
}

const evidence: Readonly<Record<Scanned, Evidence>> = {
  javascript: javascriptEvidence,
  python: pythonEvidence,
  shell: toEvidence(words.shell, 'shell'),
  ruby: toEvidence(words.ruby, 'ruby'),
  php: toEvidence(words.php, 'php'),
  perl: toEvidence(words.perl, 'perl'),
  java: toEvidence(words.java, 'java'),
  kotlin: toEvidence(words.kotlin, 'kotlin'),
  scala: toEvidence(words.scala, 'scala'),
  go: toEvidence(words.go, 'go'),
  csharp: toEvidence(words.csharp, 'csharp'),
};

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
