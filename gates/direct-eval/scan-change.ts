/* Scans the added lines of a change for places in its sources. */

import { readFile } from 'node:fs/promises';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import {
  type Grammar,
  loadGrammar,
  parseBudget,
  parseSyntax,
  plainText,
} from '../../readers/source/grammar/parse-syntax.ts';
import type { GrammarName, SyntaxNode, SyntaxTree } from '../../readers/source/grammar/syntax-tree.ts';
import { grammarOf, isMarkup, type Language } from '../../readers/source/language.ts';
import { type Reading, readTree } from '../../readers/source/names/reading.ts';
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

/** The grammar of that name, read on first use in this thread. Throws GRAMMAR_FAULT if it does not load. */
export function shippedGrammar(name: GrammarName): Promise<Grammar> {
  return loadGrammar(name, () => readFile(grammarFile(name)));
}

/** Where a grammar is installed. */
export function grammarFile(name: GrammarName): URL {
  switch (name) {
    case 'groovy':
      return new URL(import.meta.resolve('@lumis-sh/wasm-groovy/tree-sitter-groovy.wasm'));
    case 'kotlin':
      return new URL(import.meta.resolve('@lumis-sh/wasm-kotlin/tree-sitter-kotlin.wasm'));
    case 'scala':
      return new URL(import.meta.resolve('@lumis-sh/wasm-scala/tree-sitter-scala.wasm'));
    default:
      return new URL(import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`));
  }
}

/** What was found, and whether all of the text was read. */
interface Scan {
  readonly hits: readonly Hit[];
  /** False if the text is too large or exceeded the parse budget: there may be further hits. */
  readonly complete: boolean;
}

/** Who looks for what. */
interface SyntaxQuestion {
  readonly grammar: GrammarName;
  readonly find: (reading: Reading) => readonly Hit[];
  /** Lines that cannot hold a hit are not read once more. */
  readonly search: Searches;
}

const maxDoubts = 5_000;
/** A tree needs some hundred bytes per byte of source: of a larger text only lines are read. */
const maxTreeChars = 1024 * 1024;
/** A longer line is not read by itself. */
const maxLineChars = 512 * 1024;

/** Finds hits outside comments and strings; in pieces of a file, and around faults, these end with their line. */
async function scanSyntax(source: ChangedSource, question: SyntaxQuestion): Promise<Scan> {
  const { grammar: name, find } = question;
  const grammar = await shippedGrammar(name);
  const plain = plainText(isMarkup(source.path) ? onlyScripts(source.text) : source.text);
  const prefix = name === 'php' && !source.whole && !plain.includes('<?') ? '<?php ' : '';
  const isTooLarge = plain.length > maxTreeChars;
  const tree = isTooLarge
    ? undefined
    : parseSyntax(grammar, prefix + plain, {
        offset: -prefix.length,
      });
  const hits = new Map<number, Hit>();
  const keep = (found: readonly Hit[]) => {
    for (const hit of found) if (!hits.has(hit.start)) hits.set(hit.start, hit);
  };
  const reading = tree && readTree(tree, source.text, source.whole);
  if (reading) keep(find(reading));
  const isSure = await readDoubts(source, question, { plain, tree, keep });
  return {
    hits: [...hits.values()].sort((a, b) => a.start - b.start),
    complete: isSure && reading !== undefined,
  };
}

interface Doubts {
  readonly plain: string;
  readonly tree: SyntaxTree | undefined;
  readonly keep: (hits: readonly Hit[]) => void;
}

/** Reads lines on which the tree is a guess once more, each by itself. False when the budget is too small for all. */
async function readDoubts(
  source: ChangedSource,
  { grammar, find, search }: SyntaxQuestion,
  { plain, tree, keep }: Doubts,
): Promise<boolean> {
  const budget = parseBudget(plain.length);
  const bytes = Buffer.from(source.text, 'latin1');
  let count = 0;
  for (const { start, end } of doubtfulLines(tree, plain, source.whole)) {
    if (!source.isAdded(start)) continue;
    const line = plain.slice(start, end);
    if (!mayHit(search, bytes, start, end)) continue;
    count += 1;
    if (count > maxDoubts || line.length > maxLineChars) return false;
    const prefix = grammar === 'php' ? '<?php ' : '';
    const alone = parseSyntax(await shippedGrammar(grammar), prefix + line, {
      offset: start - prefix.length,
      budget,
    });
    if (!alone) return false;
    keep(find(readTree(alone, source.text, false)));
  }
  return true;
}

/** Markup with everything outside `<script>` blanked, so that offsets stay. Without any block, the text as it is. */
function onlyScripts(text: string): string {
  if (!/<script\b[^>]*>/i.test(text)) return text;
  return text.replace(/(?:^|<\/script)[\s\S]*?(?:<script\b[^>]*>|$)/gi, (outside) =>
    outside.replace(/[^\n]/g, ' '),
  );
}

/** Nodes that hide code across lines. The first line of a piece may already be inside one. */
const spanning =
  /comment|groovy_doc|interpolated_string|^(?:string|template_string|encapsed_string|string_literal|raw_string|raw_string_literal|verbatim_string_literal|interpreted_string_literal|interpolated_string_expression|regex|concatenated_string|subshell)$/;
/** What hides whole lines. */
const covering = /^(?:ERROR|text|heredoc|heredoc_body|heredoc_content|nowdoc|nowdoc_body|uninterpreted)$/;

/** Lines that a tree may have read wrongly: around faults, and in pieces of a file inside what spans lines. */
function* doubtfulLines(
  tree: SyntaxTree | undefined,
  text: string,
  isWhole: boolean,
): Generator<{ readonly start: number; readonly end: number }> {
  if (!tree) return yield* linesBetween(text, 0, text.length);
  const nodes: readonly SyntaxNode[] = isWhole
    ? tree.faults
    : tree.nodes.filter(
        ({ type, start, end }) =>
          covering.test(type) || (spanning.test(type) && text.slice(start, end).includes('\n')),
      );
  let done = 0;
  for (const { start, end } of [...nodes, ...(isWhole ? [] : tree.faults)].sort(
    (a, b) => a.start - b.start,
  )) {
    // A node of a line that is done needs no search for the start of that line.
    const from = start < done ? done : Math.max(done, text.lastIndexOf('\n', Math.max(0, start - 1)) + 1);
    const next = text.indexOf('\n', Math.max(end, from));
    const to = next === -1 ? text.length : next;
    if (from >= to) continue;
    yield* linesBetween(text, from, to);
    done = to + 1;
  }
}

function* linesBetween(
  text: string,
  from: number,
  to: number,
): Generator<{ readonly start: number; readonly end: number }> {
  let start = from;
  while (start < to) {
    const next = text.indexOf('\n', start);
    const end = next === -1 || next > to ? to : next;
    yield { start, end };
    start = end + 1;
  }
}
