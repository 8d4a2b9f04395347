import type { LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { type Found, RunEmitter } from './run-emitter.ts';

/** The names that a block of code may be marked with, by language. */
const languages: readonly (readonly [string, LanguageFn, readonly string[]])[] = [
  ['bash', bash, ['sh', 'shell', 'zsh', 'console', 'dockerfile', 'makefile']],
  ['css', css, ['scss']],
  ['diff', diff, ['patch']],
  ['go', go, ['golang']],
  ['java', java, ['kotlin', 'kt']],
  ['javascript', javascript, ['js', 'jsx', 'mjs', 'cjs']],
  ['json', json, ['jsonc', 'json5', 'jsonl']],
  ['markdown', markdown, ['md', 'mdx']],
  ['python', python, ['py', 'python3']],
  ['rust', rust, ['rs']],
  ['sql', sql, ['sqlite', 'postgresql', 'mysql']],
  ['typescript', typescript, ['ts', 'tsx', 'mts', 'cts']],
  ['xml', xml, ['html', 'svg', 'xhtml', 'vue']],
  ['yaml', yaml, ['yml']],
];

const own = hljs.newInstance();
own.configure({ __emitter: RunEmitter });
const known = new Map(
  languages.flatMap(([name, read, others]) => [name, ...others].map((one) => [one, { name, read }] as const)),
);

/** Which word of the code is what; nothing where the language is unknown, or its grammar gives up. */
export function readCode(code: string, language: string): Found | undefined {
  const found = known.get(language);
  if (found === undefined) return undefined;
  // The first block in a language compiles its grammar.
  if (own.getLanguage(found.name) === undefined) own.registerLanguage(found.name, found.read);
  const { _emitter: emitter, errorRaised } = own.highlight(code, {
    language: found.name,
    ignoreIllegals: true,
  });
  return errorRaised === undefined && emitter instanceof RunEmitter ? emitter.found() : undefined;
}

/** Whether code of that language can be coloured. */
export function knowsLanguage(name: string): boolean {
  return known.has(name);
}
