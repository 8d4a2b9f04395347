import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { declaringLanguage } from '../../readers/source/language.ts';
import { hintPattern } from '../plan/hint-pattern.ts';
import { scopeRootOf } from '../plan/scope.ts';
import type { GitDirectory } from '../vcs/git.ts';
import type { TreeEntry } from '../vcs/tree.ts';
import { eachBlob, isFile } from './each-blob.ts';
import { type ApiUrl, findApis } from './hints/api-urls.ts';
import { type DefinitionSite, findSymbols } from './hints/find-symbols.ts';
import { importersOf, readImportGraph } from './import-graph.ts';

/** A file that the hints lead to. */
export interface HintedFile {
  readonly entry: TreeEntry;
  readonly selectedBy: 'hint' | 'one-hop';
}

/** What the hints of a contract lead to in one tree. */
export interface ExpandedHints {
  /** Hinted files in tree order, then what they import and what imports them. */
  readonly files: readonly HintedFile[];
  readonly sites: readonly DefinitionSite[];
  readonly urls: readonly ApiUrl[];
  /** Entries that lead nowhere, as `files: …`, `symbols: …`, `apis: …`. */
  readonly unresolved: readonly string[];
  /** Languages and files that were not expanded, in words. */
  readonly notExpanded: readonly string[];
}

type Spec = Pick<EffectiveIntentSpec, 'intent' | 'metadata'>;

const maxFiles = 10_000;
const maxFileBytes = 64 * 1024 * 1024;
const maxPatterns = 1000;

/**
 * Expands `touchHints` (document 1, Intent; resolutions, touchHints one hop): files by glob and one hop of the import
 * graph in both directions, symbols to definition sites, APIs to URLs. At most 10,000 files of 64 MiB; what is left out
 * is said.
 */
export async function expandHints(
  objects: GitDirectory,
  entries: readonly TreeEntry[],
  spec: Spec,
): Promise<ExpandedHints> {
  const { files: patterns, symbols, apis } = spec.intent.touchHints;
  const root = scopeRootOf(spec.metadata.target.repo);
  const { hinted, unmatched } = matchFiles(entries, distinct(patterns), root);
  const [hop, named, described] = await Promise.all([
    oneHop(objects, entries, hinted),
    findSymbols((files, take) => eachBlob(objects, files, take), entries, distinct(symbols)),
    findApis(objects, entries, distinct(apis)),
  ]);
  const chosen = [
    ...hinted.map((entry) => ({ entry, selectedBy: 'hint' as const })),
    ...hop.entries.map((entry) => ({ entry, selectedBy: 'one-hop' as const })),
  ];
  const files = chosen.filter(({ entry }) => entry.sizeBytes <= maxFileBytes).slice(0, maxFiles);
  const left = chosen.length - files.length;
  return {
    files,
    sites: named.sites,
    urls: described.urls,
    unresolved: [
      ...unmatched.map((entry) => `files: ${entry}`),
      ...named.unresolved.map((entry) => `symbols: ${entry}`),
      ...described.unresolved.map((entry) => `apis: ${entry}`),
    ],
    notExpanded: [
      ...otherLanguages(hinted),
      ...hop.gaps,
      ...named.gaps,
      ...described.gaps,
      ...(left === 0
        ? []
        : [`files: ${left} of ${chosen.length} beyond ${maxFiles} files or ${maxFileBytes} bytes`]),
    ],
  };
}

/** Each entry once, NUL replaced: no path holds one, and no stored object may. */
function distinct(entries: readonly string[]): readonly string[] {
  return [...new Set(entries.map((entry) => entry.replaceAll('\0', '\uFFFD')))];
}

function matchFiles(
  entries: readonly TreeEntry[],
  patterns: readonly string[],
  root: string,
): { readonly hinted: readonly TreeEntry[]; readonly unmatched: readonly string[] } {
  const files = entries.filter(isFile);
  const hinted = new Set<TreeEntry>();
  const unmatched = patterns.slice(0, maxPatterns).filter((pattern) => {
    const matches = hintPattern(pattern, root);
    const found = matches ? files.filter(({ path }) => matches(path)) : [];
    for (const entry of found) hinted.add(entry);
    return found.length === 0;
  });
  return {
    hinted: files.filter((entry) => hinted.has(entry)),
    unmatched: [...unmatched, ...patterns.slice(maxPatterns)],
  };
}

async function oneHop(
  objects: GitDirectory,
  entries: readonly TreeEntry[],
  hinted: readonly TreeEntry[],
): Promise<{ readonly entries: readonly TreeEntry[]; readonly gaps: readonly string[] }> {
  const around = new Set(hinted.map(({ path }) => path));
  const { graph, gaps } = await readImportGraph({ objects, entries, around });
  const importers = importersOf(graph);
  const reached = new Set<string>();
  for (const path of around) {
    for (const next of graph.get(path) ?? []) reached.add(next);
    for (const next of importers.get(path) ?? []) reached.add(next);
  }
  return { entries: entries.filter(({ path }) => reached.has(path) && !around.has(path)), gaps };
}

/** Hinted source in languages that no import graph is read for. */
function otherLanguages(hinted: readonly TreeEntry[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of hinted) {
    const language = declaringLanguage(path);
    if (language === undefined || language === 'javascript' || language === 'python') continue;
    counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([language, count]) => `${language}: ${count} files, no import graph`);
}
