import { grammarOf } from '../../readers/source/language.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { lex } from '../../readers/source/tokens/lex.ts';
import { syntaxes } from '../../readers/source/tokens/syntax.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { mayHit, type Scanned } from './candidates.ts';
import { csharpHits } from './csharp.ts';
import { goHits } from './go.ts';
import type { Hit } from './hit.ts';
import { javaHits } from './java.ts';
import { javascriptHits } from './javascript.ts';
import { jvmHits } from './jvm.ts';
import { perlHits } from './perl.ts';
import { phpHits } from './php.ts';
import { pythonHits } from './python.ts';
import { rubyHits } from './ruby.ts';
import { scalaHits } from './scala.ts';
import { type Scan, scanSyntax } from './scan-syntax.ts';
import { shellHits } from './shell.ts';
import { type TokenView, viewTokens } from './token-view.ts';

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

/** Places of direct execution in a source; where no grammar is at hand the text is read token by token. */
export async function findHits(source: ChangedSource, language: Scanned): Promise<Scan> {
  const grammar = grammarOf(source.path, language);
  const find = byTree[language];
  if (grammar === undefined || !find) return { hits: lexedHits(source, language), complete: true };
  return scanSyntax(source, {
    grammar,
    find,
    mayHit: (bytes, start, end) => mayHit(bytes, language, start, end),
  });
}

function lexedHits(source: ChangedSource, language: Scanned): readonly Hit[] {
  if (language === 'shell') return [];
  const syntax = syntaxes[language];
  const whole = source.whole ? lex(source.text, syntax, { lineBound: false }) : undefined;
  const tokens =
    whole && !whole.confused ? whole.tokens : lex(source.text, syntax, { lineBound: true }).tokens;
  const finder: (view: TokenView, text: string) => readonly Hit[] =
    language === 'perl' ? perlHits : language === 'scala' ? scalaHits : jvmHits;
  return finder(viewTokens(tokens), source.text);
}
