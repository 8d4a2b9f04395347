import type { GrammarName } from '../grammar/grammar-name.ts';
import { loadGrammar } from '../grammar/load-grammar.ts';
import { parseSyntax } from '../grammar/parse-syntax.ts';
import { plainText } from '../grammar/plain-text.ts';
import type { SyntaxTree } from '../grammar/syntax-tree.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { lex } from '../source/lex.ts';
import { syntaxes } from '../source/syntax.ts';
import { mayHit, type Scanned } from './candidates.ts';
import { csharpHits } from './csharp.ts';
import { doubtfulLines } from './doubtful-lines.ts';
import { goHits } from './go.ts';
import type { Hit } from './hit.ts';
import { javaHits } from './java.ts';
import { javascriptHits } from './javascript.ts';
import { jvmHits } from './jvm.ts';
import { perlHits } from './perl.ts';
import { phpHits } from './php.ts';
import { pythonHits } from './python.ts';
import { type Reading, readTree } from './reading.ts';
import { rubyHits } from './ruby.ts';
import { scalaHits } from './scala.ts';
import { shellHits } from './shell.ts';
import { type TokenView, viewTokens } from './token-view.ts';

/** What was found, and whether all of the text was read. */
export interface Scan {
  readonly hits: readonly Hit[];
  /** False where the text took too long: what it holds is not known. */
  readonly complete: boolean;
}

const byTree: Readonly<Partial<Record<Scanned, (reading: Reading) => readonly Hit[]>>> = {
  javascript: javascriptHits,
  python: pythonHits,
  ruby: rubyHits,
  php: phpHits,
  java: javaHits,
  go: goHits,
  csharp: csharpHits,
  shell: shellHits,
};

const grammars: Readonly<Partial<Record<Scanned, GrammarName>>> = {
  python: 'python',
  ruby: 'ruby',
  php: 'php',
  java: 'java',
  go: 'go',
  csharp: 'c-sharp',
  shell: 'bash',
};

const markup = /\.(?:vue|svelte|astro|html|htm)$/i;
const groovy = /(?:\.groovy|\.gradle|(?:^|\/)Jenkinsfile)$/i;
/** Ordinary source takes half a millisecond per thousand characters. */
const millisecondsFor = (length: number): number => 250 + length * 0.005;
const maxDoubts = 5_000;

/** The grammar that reads a file, or `undefined` where none is at hand and the text is read token by token. */
export function grammarOf(path: string, language: Scanned): GrammarName | undefined {
  if (groovy.test(path)) return undefined;
  if (language !== 'javascript') return grammars[language];
  if (/\.[jt]sx$/i.test(path)) return 'tsx';
  return /\.[cm]?ts$/i.test(path) || markup.test(path) ? 'typescript' : 'javascript';
}

/**
 * Places of direct execution in a source, comments and strings left aside. Where only pieces of a file are seen, or where the grammar
 * did not fit, nothing is taken for a comment or string beyond its own line: what cannot be told is reported.
 */
export async function findHits(source: ChangedSource, language: Scanned): Promise<Scan> {
  const name = grammarOf(source.path, language);
  const find = byTree[language];
  if (name === undefined || !find) return { hits: lexedHits(source, language), complete: true };
  const grammar = await loadGrammar(name);
  const plain = plainText(markup.test(source.path) ? onlyScripts(source.text) : source.text);
  const prefix = language === 'php' && !source.whole && !plain.includes('<?') ? '<?php ' : '';
  const tree = parseSyntax(grammar, prefix + plain, {
    offset: -prefix.length,
    milliseconds: millisecondsFor(plain.length),
  });
  const hits = new Map<number, Hit>();
  const keep = (found: readonly Hit[]) => {
    for (const hit of found) if (!hits.has(hit.start)) hits.set(hit.start, hit);
  };
  if (tree) keep(find(readTree(tree, source.text, source.whole)));
  const isComplete = await readDoubts({ source, language, name, plain, tree, find, keep });
  return { hits: [...hits.values()].sort((a, b) => a.start - b.start), complete: isComplete };
}

interface Doubts {
  readonly source: ChangedSource;
  readonly language: Scanned;
  readonly name: GrammarName;
  readonly plain: string;
  readonly tree: SyntaxTree | undefined;
  readonly find: (reading: Reading) => readonly Hit[];
  readonly keep: (hits: readonly Hit[]) => void;
}

/** Reads lines on which the tree is a guess once more, each by itself. False where there is no time for all. */
async function readDoubts({ source, language, name, plain, tree, find, keep }: Doubts): Promise<boolean> {
  const started = performance.now();
  const bytes = Buffer.from(source.text, 'latin1');
  let count = 0;
  for (const { start, end } of doubtfulLines(tree, plain, source.whole)) {
    if (!source.isAdded(start)) continue;
    const line = plain.slice(start, end);
    if (!mayHit(bytes, language, start, end)) continue;
    count += 1;
    const left = started + millisecondsFor(plain.length) - performance.now();
    if (count > maxDoubts || left <= 0) return false;
    const prefix = language === 'php' ? '<?php ' : '';
    const alone = parseSyntax(await loadGrammar(name), prefix + line, {
      offset: start - prefix.length,
      milliseconds: left,
    });
    if (!alone) return false;
    keep(find(readTree(alone, source.text, false)));
  }
  return true;
}

function lexedHits(source: ChangedSource, language: Scanned): readonly Hit[] {
  if (language === 'shell') return [];
  const syntax = syntaxes[language];
  const whole = source.whole ? lex(source.text, syntax, { lineBound: false }) : undefined;
  const tokens =
    whole && !whole.confused ? whole.tokens : lex(source.text, syntax, { lineBound: true }).tokens;
  const finder: (view: TokenView) => readonly Hit[] =
    language === 'perl' ? perlHits : language === 'scala' ? scalaHits : jvmHits;
  return finder(viewTokens(tokens));
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
