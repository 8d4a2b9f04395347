/* Scans the added lines of a change for places in its sources. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import type { GrammarName } from '../../readers/source/grammar/syntax-tree.ts';
import { grammarOf, type Language } from '../../readers/source/language.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import {
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { mayHit, type Searches } from './candidates.ts';
import { csharpHits } from './csharp.ts';
import { goHits } from './go.ts';
import { firstAdded, type Hit } from './hits.ts';
import { javascriptHits } from './javascript.ts';
import { jvmHits, type jvmLanguages } from './jvm.ts';
import { perlHits } from './perl.ts';
import { phpHits } from './php.ts';
import { pythonHits } from './python.ts';
import { rubyHits } from './ruby.ts';
import { type Scan, scanSyntax } from './scan-syntax.ts';
import { shellHits } from './shell.ts';

/** What looks for places in the sources of some languages. */
export interface SourceScan {
  /** By language; another one is not read. */
  readonly searches: ReadonlyMap<string, Searches>;
  /** Whether a hit is of this scan: a call that executes text has a reason, another one the id of a row. */
  isMine(hit: Hit): boolean;
  /** `offset`: where the change added it. */
  toFinding(source: ChangedSource, hit: Hit, offset: number): Finding;
  /** A finding about what was not scanned. */
  unscanned(message: string, path?: string): Finding;
  /** Ends of sentences about places that are not listed, a file that is not read, and one that is too large. */
  readonly says: { readonly many: string; readonly unread: string; readonly large: string };
}

const maxFindings = 500;

/** What a scan finds in the lines that a change adds. */
export async function scanChange(input: RuleInput, scan: SourceScan): Promise<readonly Finding[]> {
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

async function scanFile(input: RuleInput, file: PatchFile, scan: SourceScan): Promise<readonly Finding[]> {
  const language = candidateLanguage(input, file, scan);
  if (language === undefined) return [];
  const { says, unscanned } = scan;
  const source = candidateSource(input, file, language);
  if (!source) {
    const binary = 'is source that git takes for binary, and its content was not given';
    return [unscanned(`\`${file.path}\` ${binary}: it cannot be ${says.unread}`, file.path)];
  }
  const { hits, complete } = await findHits(source, language, scan);
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
export function candidateLanguage(
  input: RuleInput,
  file: PatchFile,
  { searches }: SourceScan,
): Language | undefined {
  const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const search = language && searches.get(language);
  if (!search) return undefined;
  const content = input.files[file.path]?.candidate;
  const isCandidate =
    file.binary ||
    (content ? mayHit(search, content) : mayHit(search, input.patch.diff, file.start, file.end));
  return isCandidate ? language : undefined;
}

const jvm = (grammar: keyof typeof jvmLanguages) => (reading: Reading) => jvmHits(reading, grammar);
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

/** Finds the hits of a scan in a source. Perl has no bundled grammar, so it is read token by token. */
export async function findHits(
  source: ChangedSource,
  language: Language,
  { searches, isMine }: Pick<SourceScan, 'searches' | 'isMine'>,
): Promise<Scan> {
  const grammar = grammarOf(source.path, language);
  const search = searches.get(language);
  if (grammar === undefined || !search) return { hits: perlHits(source.text, source.whole), complete: true };
  const find = (reading: Reading) => finders[grammar](reading).filter(isMine);
  return scanSyntax(source, { grammar, find, search });
}
