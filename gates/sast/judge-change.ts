import type { Finding } from '../../core/contract/finding.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { type WordSearch, wordSearch } from '../../readers/anchors/word-search.ts';
import { grammarOf } from '../../readers/source/language.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from '../direct-eval/hits.ts';
import { type SourceScan, scanChange } from '../direct-eval/scan-change.ts';
import { scanSyntax } from '../direct-eval/scan-syntax.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { csharpSast } from './csharp.ts';
import { goSast } from './go.ts';
import { javaSast } from './java.ts';
import { javascriptSast } from './javascript.ts';
import { phpSast } from './php.ts';
import { pythonSast } from './python.ts';
import { type SastRow, sastRow, sastRows } from './rows.ts';
import { rubySast } from './ruby.ts';
import { readSastOptions, type SastOptions } from './sast-options.ts';
import { shellSast } from './shell.ts';

const rule = 'sast';

/** Languages that we have rows for. */
type Analysed = 'python' | 'javascript' | 'java' | 'go' | 'ruby' | 'php' | 'csharp' | 'shell';

const finders: Readonly<Record<Analysed, (reading: Reading) => readonly Hit[]>> = {
  python: pythonSast,
  javascript: javascriptSast,
  java: javaSast,
  go: goSast,
  ruby: rubySast,
  php: phpSast,
  csharp: csharpSast,
  shell: shellSast,
};

/** Full-width and mathematical letters, which Python reads as plain ones. */
const pythonLetters = ['\xef\xbd', '\xf0\x9d'];

const searches = new Map<string, { readonly change: WordSearch; readonly file: WordSearch }>(
  Object.keys(finders).map((language) => {
    const rows: readonly SastRow[] = sastRows.filter(({ id }) => id.startsWith(`sast/${language}-`));
    const words = rows.flatMap((row) => row.words);
    const fold = language === 'php';
    const change = wordSearch(language === 'python' ? [...words, ...pythonLetters] : words, { fold });
    const file = wordSearch([...new Set(rows.flatMap(({ origins = [] }) => origins))], { fold });
    return [language, { change, file }];
  }),
);
const mayHit = (bytes: Uint8Array, language: Analysed, start?: number, end?: number): boolean =>
  searches.get(language)?.change.found(bytes, start, end) ?? false;

/** What our rows say of the added lines. A finding with `detail.incomplete` says that something was not scanned. */
export async function judgeChange(input: RuleInput): Promise<readonly Finding[]> {
  const options = readSastOptions(input.options);
  const problems = options.problems.map(
    (problem): Finding => ({
      rule,
      severity: 'error',
      message: `\`[rules.sast]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
    }),
  );
  const scan: SourceScan<Analysed> = {
    isRead: (language): language is Analysed => language !== undefined && searches.has(language),
    mayHit,
    mayRename: (bytes, language) => searches.get(language)?.file.found(bytes) ?? false,
    async find(source, language) {
      const grammar = grammarOf(source.path, language);
      // We have no rows for Groovy.
      if (grammar === undefined || grammar === 'groovy') return { hits: [], complete: true };
      const isCandidate = (bytes: Uint8Array, start: number, end: number) =>
        mayHit(bytes, language, start, end);
      return scanSyntax(source, { grammar, find: finders[language], mayHit: isCandidate });
    },
    toFinding: (source, hit, offset) => toFinding(source, hit, offset, options),
    unscanned: (message, path) => ({
      rule,
      severity: 'error',
      message,
      ...(path === undefined ? {} : { path }),
      detail: { incomplete: true },
    }),
    says: { many: 'were found', unread: 'analysed', large: ', and not all of it was analysed' },
  };
  return [...problems, ...(await scanChange(input, scan))];
}

function toFinding(source: ChangedSource, hit: Hit, offset: number, options: SastOptions): Finding {
  const row = sastRow(hit.why);
  const call = Buffer.from(hit.call, 'latin1').toString('utf8').slice(0, 200);
  const isAllowed = options.isAllowed(hit.why, source.path);
  const why = row ? `${row.why}; ${row.instead}` : hit.why;
  return {
    rule,
    severity: isAllowed ? 'note' : (row?.severity ?? 'error'),
    message: isAllowed ? `\`${call}\` is allowed here by \`[rules.sast]\`: it ${why}` : `\`${call}\` ${why}`,
    path: source.path,
    ...source.positionOf(offset),
    detail: {
      row: hit.why,
      ...(row ? { cwe: `CWE-${row.cwe}` } : {}),
      call,
      language: source.language,
      ...(source.whole ? {} : { seen: 'diff only' }),
      ...(isAllowed ? { suppressed: true, reason: 'config' } : {}),
    },
  };
}
