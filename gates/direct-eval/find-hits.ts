import type { GrammarName } from '../../readers/source/grammar/syntax-tree.ts';
import { grammarOf } from '../../readers/source/language.ts';
import type { JvmGrammar } from '../../readers/source/names/jvm-languages.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { mayHit, type Scanned } from './candidates.ts';
import { csharpHits } from './csharp.ts';
import { goHits } from './go.ts';
import type { Hit } from './hits.ts';
import { javascriptHits } from './javascript.ts';
import { jvmHits } from './jvm.ts';
import { perlHits } from './perl.ts';
import { phpHits } from './php.ts';
import { pythonHits } from './python.ts';
import { rubyHits } from './ruby.ts';
import { type Scan, scanSyntax } from './scan-syntax.ts';
import { shellHits } from './shell.ts';

const jvm = (grammar: JvmGrammar) => (reading: Reading) => jvmHits(reading, grammar);
const finders: Readonly<Record<GrammarName, (reading: Reading) => readonly Hit[]>> = {
  bash: shellHits,
  'c-sharp': csharpHits,
  go: goHits,
  groovy: jvm('groovy'),
  java: jvm('java'),
  javascript: javascriptHits,
  kotlin: jvm('kotlin'),
  php: phpHits,
  python: pythonHits,
  ruby: rubyHits,
  scala: jvm('scala'),
  tsx: javascriptHits,
  typescript: javascriptHits,
};

/** Places of direct execution in a source; Perl, for which no grammar is at hand, is read token by token. */
export async function findHits(source: ChangedSource, language: Scanned): Promise<Scan> {
  const grammar = grammarOf(source.path, language);
  if (grammar === undefined) return { hits: perlHits(source.text, source.whole), complete: true };
  return scanSyntax(source, {
    grammar,
    find: finders[grammar],
    mayHit: (bytes, start, end) => mayHit(bytes, language, start, end),
  });
}
