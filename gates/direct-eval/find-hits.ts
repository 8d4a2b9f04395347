import type { ChangedSource } from '../source/changed-source.ts';
import type { Language } from '../source/language.ts';
import { lex } from '../source/lex.ts';
import { lexShell } from '../source/lex-shell.ts';
import { syntaxes } from '../source/syntax.ts';
import { csharpHits, goHits, jvmHits } from './compiled.ts';
import type { Hit } from './hit.ts';
import { javascriptHits } from './javascript.ts';
import { perlHits } from './perl.ts';
import { phpHits } from './php.ts';
import { pythonHits } from './python.ts';
import { rubyHits } from './ruby.ts';
import { shellHits } from './shell.ts';
import { type TokenView, viewTokens } from './token-view.ts';

type Scanned = Exclude<Language, 'rust' | 'c' | 'swift' | 'elixir'>;

/** Every hit contains one of these; a file section without any is not read further. Linear: no pattern repeats. */
const candidates: Readonly<Record<Scanned, RegExp>> = {
  javascript:
    /eval|exec|Function|setTimeout|setInterval|setImmediate|runIn|vm\s*\.|_compile|constructor|shell|spawn|["'`](?:-[a-z]*c|\/[ckCK]|-[cC]ommand)\b|\\u/,
  python: /eval|exec|compile|system|popen|output|subprocess|shell|["'](?:-[a-z]*c|\/[ckCK])\b/,
  shell: /eval|sh\b|source|\.\s*<\(|<\(/,
  ruby: /eval|system|exec|spawn|popen|Open3|send|`|%x|["'](?:-[a-z]*c|\/[ckCK])\b/,
  php: /eval|assert|create_function|exec|system|passthru|popen|proc_open|preg_replace|`|["'](?:-[a-z]*c|\/[ckCK])\b/i,
  perl: /eval|system|exec|open|`|qx|ee|["'](?:-[a-z]*c|\/[ckCK])\b/,
  java: /exec|eval|GroovyShell|["'](?:-[a-z]*c|\/[ckCK])\b/,
  kotlin: /exec|eval|GroovyShell|["'](?:-[a-z]*c|\/[ckCK])\b/,
  go: /Eval|RunString|RunScript|DoString|["'`](?:-[a-z]*c|\/[ckCK])\b/,
  csharp: /UseShellExecute|CSharpScript|CompileAssembly|AddScript|InvokeScript|["'](?:-[a-z]*c|\/[ckCK])\b/,
};

const finders: Readonly<
  Record<Exclude<Scanned, 'shell'>, (view: TokenView, isWhole: boolean) => readonly Hit[]>
> = {
  javascript: javascriptHits,
  python: pythonHits,
  ruby: rubyHits,
  php: phpHits,
  perl: perlHits,
  java: jvmHits,
  kotlin: jvmHits,
  go: goHits,
  csharp: csharpHits,
};

const markup = /\.(?:vue|svelte|astro|html|htm)$/i;

/** Narrows to the languages in which direct execution is looked for. */
export function isScanned(language: Language | undefined): language is Scanned {
  return language !== undefined && language in candidates;
}

/** Whether a text can hold a hit at all. */
export function mayHit(text: string, language: Scanned): boolean {
  return candidates[language].test(text);
}

/**
 * Places of direct execution in a source, comments and strings left aside. Where the text is not whole, or does not end in code,
 * nothing is taken for a comment or string beyond its own line: what cannot be told is reported.
 */
export function findHits(source: ChangedSource, language: Scanned): readonly Hit[] {
  if (language === 'shell') {
    const whole = source.whole ? lexShell(source.text, false) : undefined;
    return shellHits(whole && !whole.confused ? whole.words : lexShell(source.text, true).words);
  }
  const text = markup.test(source.path) ? onlyScripts(source.text) : source.text;
  const syntax = syntaxes[language];
  const whole = source.whole ? lex(text, syntax, { lineBound: false }) : undefined;
  const tokens = whole && !whole.confused ? whole.tokens : lex(text, syntax, { lineBound: true }).tokens;
  return finders[language](viewTokens(tokens), source.whole);
}

/** Markup with everything outside `<script>` blanked, so that offsets stay. Without any block, the text as it is. */
function onlyScripts(text: string): string {
  const open = /<script\b[^>]*>/gi;
  const lower = text.toLowerCase();
  const parts: string[] = [];
  let from = 0;
  for (let match = open.exec(text); match; match = open.exec(text)) {
    const start = match.index + match[0].length;
    const close = lower.indexOf('</script', start);
    const end = close === -1 ? text.length : close;
    parts.push(blank(text.slice(from, start)), text.slice(start, end));
    from = end;
    open.lastIndex = end;
  }
  return parts.length === 0 ? text : parts.join('') + blank(text.slice(from));
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
