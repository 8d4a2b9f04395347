/* The rule `no-direct-eval`, and the scan of a change on which `sast` builds too. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { CandidateSearch, RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import type { GrammarName } from '../../readers/source/grammar/syntax-tree.ts';
import { grammarOf, type Language } from '../../readers/source/language.ts';
import type { JvmGrammar } from '../../readers/source/names/jvm-languages.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { isScanned, mayHit, mayRename, type Scanned } from '../direct-eval/candidates.ts';
import { csharpHits } from '../direct-eval/csharp.ts';
import { goHits } from '../direct-eval/go.ts';
import { firstAdded, type Hit } from '../direct-eval/hits.ts';
import { javascriptHits } from '../direct-eval/javascript.ts';
import { jvmHits } from '../direct-eval/jvm.ts';
import { perlHits } from '../direct-eval/perl.ts';
import { phpHits } from '../direct-eval/php.ts';
import { pythonHits } from '../direct-eval/python.ts';
import { rubyHits } from '../direct-eval/ruby.ts';
import { type Scan, scanSyntax } from '../direct-eval/scan-syntax.ts';
import { shellHits } from '../direct-eval/shell.ts';
import {
  becomesCode,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';

/** What looks for places in the sources of some languages. */
export interface SourceScan<Read extends Language> {
  isRead(language: Language | undefined): language is Read;
  /** Whether bytes of a change can contain a hit. It may return false positives, never false negatives. */
  mayHit(bytes: Uint8Array, language: Read, start?: number, end?: number): boolean;
  /** Whether a file can give another name to what is looked for, so that a change may use it unseen. */
  mayRename(bytes: Uint8Array, language: Read): boolean;
  find(source: ChangedSource, language: Read): Promise<Scan>;
  /** `offset`: where the change added it. */
  toFinding(source: ChangedSource, hit: Hit, offset: number): Finding;
  /** A finding about what was not scanned. */
  unscanned(message: string, path?: string): Finding;
  /** Ends of sentences about places that are not listed, a file that is not read, and one that is too large. */
  readonly says: { readonly many: string; readonly unread: string; readonly large: string };
}

const maxFindings = 500;

/** What a scan finds in the lines that a change adds. */
export async function scanChange<Read extends Language>(
  input: RuleInput,
  scan: SourceScan<Read>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    findings.push(...(await scanFile(input, file, scan)));
    if (findings.length > maxFindings) {
      const more = scan.unscanned(
        `more than ${maxFindings} places ${scan.says.many}; the rest is not listed`,
      );
      return [...findings.slice(0, maxFindings), more];
    }
  }
  return findings;
}

async function scanFile<Read extends Language>(
  input: RuleInput,
  file: PatchFile,
  scan: SourceScan<Read>,
): Promise<readonly Finding[]> {
  const language = candidateLanguage(input, file, scan);
  if (language === undefined) return [];
  const { says, unscanned } = scan;
  const source = candidateSource(input, file, language);
  if (!source) {
    const binary = 'is source that git takes for binary, and its content was not given';
    return [unscanned(`\`${file.path}\` ${binary}: it cannot be ${says.unread}`, file.path)];
  }
  const { hits, complete } = await scan.find(source, language);
  const large = `\`${file.path}\` is too large to be read whole${says.large}. Split the file`;
  const findings = complete ? [] : [unscanned(large, file.path)];
  for (const hit of hits) {
    const added = firstAdded(source, hit);
    if (added !== undefined) findings.push(scan.toFinding(source, hit, added));
    if (findings.length > maxFindings) break;
  }
  return findings;
}

/** The language of a changed file in which a scan could find something; `undefined` where it need not be read. */
export function candidateLanguage<Read extends Language>(
  input: RuleInput,
  file: PatchFile,
  { isRead, mayHit, mayRename }: SourceScan<Read>,
): Read | undefined {
  const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  if (!isRead(language)) return undefined;
  const content = input.files[file.path]?.candidate;
  const isCandidate =
    file.binary ||
    mayHit(input.patch.diff, language, file.start, file.end) ||
    (content !== undefined &&
      (mayRename(content, language) || (becomesCode(input, file, language) && mayHit(content, language))));
  return isCandidate ? language : undefined;
}

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

/** Finds direct execution in a source. Perl has no bundled grammar, so it is read token by token. */
export async function findHits(source: ChangedSource, language: Scanned): Promise<Scan> {
  const grammar = grammarOf(source.path, language);
  if (grammar === undefined) return { hits: perlHits(source.text, source.whole), complete: true };
  return scanSyntax(source, {
    grammar,
    find: finders[grammar],
    mayHit: (bytes, start, end) => mayHit(bytes, language, start, end),
  });
}

const rule = 'no-direct-eval';

const scan: SourceScan<Scanned> = {
  isRead: isScanned,
  mayHit,
  mayRename,
  find: findHits,
  toFinding(source, hit, offset) {
    const call = Buffer.from(hit.call, 'latin1').toString('utf8');
    return {
      rule,
      severity: 'error',
      message: `\`${call}\` ${hit.why}`,
      path: source.path,
      ...source.positionOf(offset),
      detail: { call, language: source.language, ...(source.whole ? {} : { seen: 'diff only' }) },
    };
  },
  unscanned: (message, path) => ({
    rule,
    severity: 'error',
    message,
    ...(path === undefined ? {} : { path }),
  }),
  says: { many: 'execute text directly', unread: 'scanned', large: ': it may hold direct execution' },
};

/** Refuses added lines that execute text directly: docs/direct-execution.md defines what counts. */
export const judge: RuleFunction = (input) => scanChange(input, scan);

/** Files in a supported language with a changed word that direct execution requires. */
export const candidates: CandidateSearch = {
  anchors: [],
  begin: (input, file) => candidateLanguage(input, file, scan) !== undefined,
};

/** If no word of direct execution is in the change or the files, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => candidateLanguage(input, file, scan) === undefined);
