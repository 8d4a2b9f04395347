/* The grammars of highlight.js that both screens load, and how their result is read. */
import type { Emitter, LanguageFn } from 'highlight.js';
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

interface Run {
  readonly text: string;
  readonly scopes: readonly string[];
}

export interface Found {
  readonly runs: readonly Run[];
  /** Offsets of constructs that are open at the end of the code. */
  readonly openAt: readonly number[];
}

/** Collects the output of a highlight.js grammar as flat runs instead of HTML. */
class RunEmitter implements Emitter {
  readonly #runs: Run[] = [];
  readonly #open: { readonly scope: string; readonly at: number }[] = [];
  #length = 0;
  #openAt: readonly number[] = [];

  startScope(scope: string): void {
    this.#open.push({ scope, at: this.#length });
  }

  endScope(): void {
    this.#open.pop();
  }

  /** Grammars call this method under two names (`highlight.js` 11). */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    if (text === '') return;
    this.#runs.push({ text, scopes: this.#open.map(({ scope }) => scope) });
    this.#length += text.length;
  }

  __addSublanguage(emitter: Emitter, _language: string): void {
    if (!(emitter instanceof RunEmitter)) return;
    for (const { text, scopes } of emitter.found().runs) {
      this.#runs.push({ text, scopes: [...this.#open.map(({ scope }) => scope), ...scopes] });
      this.#length += text.length;
    }
  }

  finalize(): void {
    this.#openAt = this.#open.map(({ at }) => at);
  }

  toHTML(): string {
    return '';
  }

  found(): Found {
    return { runs: this.#runs, openAt: this.#openAt };
  }
}

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

/** Syntax tokens of the code. `undefined` if the language is unknown or its grammar reports an error. */
export function readCode(code: string, language: string): Found | undefined {
  const found = known.get(language);
  if (found === undefined) return undefined;
  if (own.getLanguage(found.name) === undefined) own.registerLanguage(found.name, found.read);
  const { _emitter: emitter, errorRaised } = own.highlight(code, {
    language: found.name,
    ignoreIllegals: true,
  });
  return errorRaised === undefined && emitter instanceof RunEmitter ? emitter.found() : undefined;
}
