/* Collects the context of an attempt from the hints of its spec. */
import { sha256Hex } from '../../core/base/canonical.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type {
  ClassWords,
  ContextItemKind,
  EvidencePolicy,
  TrustTier,
} from '../../core/interfaces/privacy.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { Hooks } from '../../core/kernel/hooks.ts';
import { declaringLanguage } from '../../readers/source/language.ts';
import { isAllowedHost } from '../../spec/evidence-domains.ts';
import { contextItem, type ObjectBody, objectShapes } from '../../store/object-shapes.ts';
import { toStored } from '../../store/shape.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { listTree, type TreeEntry } from '../../workspace/git/tree.ts';
import { hintPattern } from '../plan/predicted-writes.ts';
import { scopeRootOf } from '../plan/scope.ts';
import {
  type Admission,
  type Candidate,
  type ContextFrame,
  type ContextFrames,
  openAdmission,
  openContextFrames,
  toSource,
} from './admission.ts';
import { type ApiUrl, findApis } from './hints/api-urls.ts';
import { type DefinitionSite, findSymbols } from './hints/find-symbols.ts';
import { eachBlob, importersOf, isFile, readImportGraph } from './import-graph.ts';

interface ContextRequest {
  readonly objects: GitDirectory;
  /** Base tree of the attempt. */
  readonly tree: string;
  readonly spec: EffectiveIntentSpec;
  /** The strategy that the spec names. */
  readonly strategy: EvidencePolicy;
  readonly hooks: Pick<Hooks, 'frame'>;
  readonly runId: string;
  /** `[redaction]` of the config at the policy commit. */
  readonly words?: ClassWords;
}

/** What one attempt starts from. */
interface TakenContext {
  /** Body of the `context_snapshot` object; `undefined` if `runPolicy.snapshotOnRunStart` is off. */
  readonly snapshot: ObjectBody<'context_snapshot'> | undefined;
  /**
   * Content that no tree of the repository holds, named by SHA-256; to be retained by
   * `objectStore.blobRetentionStrategy`.
   */
  readonly blobs: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly frames: ContextFrames;
  /** For the provenance: one uri and digest per item of the snapshot. */
  readonly dependencies: readonly DigestedThing[];
}

/**
 * Collects the context of an attempt: expands the hints on its base tree, admits the items they select, and opens the
 * pipeline with its seed.
 */
export async function collectContext(request: ContextRequest): Promise<TakenContext> {
  const { objects, tree, spec, strategy, hooks, runId, words } = request;
  const admit = openAdmission({ spec, strategy, hooks, runId, ...(words ? { words } : {}) });
  const frames = await openContextFrames(spec, admit);
  if (!spec.objmodel.runPolicy.snapshotOnRunStart)
    return { snapshot: undefined, blobs: [], frames, dependencies: [] };
  const hints = await expandHints(objects, await listTree(objects, tree), spec);
  const { items, rejected, blobs } = await collectContextItems({
    objects,
    tree,
    spec,
    hints,
    strategy,
    admit,
  });
  return {
    snapshot: {
      run: runId,
      strategy: spec.evidence.strategy,
      base_tree: tree,
      trust_tiers: spec.evidence.trustTiers,
      items,
      rejected,
      unresolved: hints.unresolved,
      not_expanded: hints.notExpanded,
      total_bytes: items.reduce((sum, { size_bytes: size = 0 }) => sum + size, 0),
    },
    blobs: [...blobs],
    frames,
    dependencies: items.map(({ name, uri, sha256 }) => ({ name, uri, digest: { sha256 } })),
  };
}

type Snapshot = ObjectBody<'context_snapshot'>;

/** The items of a snapshot, best first, and the content of those that no tree of the repository holds. */
interface ContextItems {
  readonly items: Snapshot['items'];
  /** What was looked up and did not enter. */
  readonly rejected: NonNullable<Snapshot['rejected']>;
  /** Content of Snippet and Url items, as admitted, by SHA-256. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

interface ContextItemsRequest {
  readonly objects: GitDirectory;
  readonly tree: string;
  readonly spec: EffectiveIntentSpec;
  readonly hints: ExpandedHints;
  readonly strategy: EvidencePolicy;
  readonly admit: Admission;
}

type Selected = Candidate & {
  readonly kind: ContextItemKind;
  readonly uri: string;
  readonly selectedBy: (typeof selectionOrder)[number];
  /** Of a Snippet; from 1, inclusive. */
  readonly lines?: readonly [from: number, to: number];
};

/** An item as it is stored, and what it is ranked by. */
interface RankedItem {
  readonly selected: Selected;
  readonly order: number;
  readonly item: Snapshot['items'][number];
}

const selectionOrder = ['hint', 'symbol', 'api', 'one-hop'] as const;

/**
 * Collects the items that the hints select and admits each one. Items are ranked by `evidence.strategy` and
 * `evidence.trustTiers`, then by the strategy's order within a tier, then by how directly the spec requested them.
 * Each item holds the SHA-256 of the admitted bytes. Data classes are not checked here.
 */
async function collectContextItems(request: ContextItemsRequest): Promise<ContextItems> {
  const { objects, tree, spec, hints, strategy, admit } = request;
  const items: RankedItem[] = [];
  const rejected: ContextItems['rejected'][number][] = [];
  const blobs = new Map<string, Uint8Array>();
  const enter = async (selected: Selected): Promise<void> => {
    const { kind, name, lines } = selected;
    const outcome = await admit(selected);
    if (!outcome.admitted) {
      rejected.push({ kind, name, reason: outcome.reason, message: outcome.message });
      return;
    }
    const sha256 = sha256Hex(outcome.bytes);
    const order = (await strategy.order?.(toSource(spec.evidence, selected))) ?? 0;
    const { tags, bytes } = outcome;
    const item = toStored(contextItem, {
      ...selected,
      sha256,
      tags,
      sizeBytes: bytes.length,
      ...(tags.trust === 'untrusted' ? { trust: 'untrusted' as const } : {}),
      ...(lines === undefined ? {} : { lineFrom: lines[0], lineTo: lines[1] }),
    });
    items.push({ selected, order, item });
    if (kind !== 'File') blobs.set(sha256, outcome.bytes);
  };

  const howByEntry = new Map(hints.files.map(({ entry, selectedBy }) => [entry, selectedBy]));
  await eachBlob(objects, [...howByEntry.keys()], async (entry, bytes) => {
    const { path } = entry;
    const selectedBy = howByEntry.get(entry) ?? 'hint';
    if (bytes) await enter(fromTree('File', path, treeUri(tree, path), bytes, selectedBy));
    else rejected.push({ kind: 'File', name: path, reason: 'unreadable', message: 'git does not hold it' });
  });
  for (const { symbol, path, startLine, endLine, text } of hints.sites) {
    const place = `#L${startLine}-L${endLine}`;
    const snippet = fromTree('Snippet', path + place, treeUri(tree, path) + place, text, 'symbol');
    await enter({ ...snippet, tags: { ...snippet.tags, symbol }, lines: [startLine, endLine] });
  }
  for (const { api, url, description, text } of hints.urls) {
    await enter({
      form: 'item',
      kind: 'Url',
      name: url,
      uri: url,
      url,
      bytes: text,
      trustTier: isAllowedHost(spec.evidence, url) ? 'vendor-doc' : 'web',
      selectedBy: 'api',
      tags: { selected_by: 'api', api, description },
    });
  }
  return { items: ranked(items, strategy.rank(spec.evidence.trustTiers)), rejected, blobs };
}

function fromTree(
  kind: ContextItemKind,
  name: string,
  uri: string,
  bytes: Uint8Array,
  selectedBy: Selected['selectedBy'],
): Selected {
  const tags = { selected_by: selectedBy };
  return { form: 'item', kind, name, uri, bytes, trustTier: 'repo', selectedBy, tags };
}

function treeUri(tree: string, path: string): string {
  return `urn:writ:tree:${tree}:${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Sorts stably and keeps the first of two items with the same URI. */
function ranked(items: readonly RankedItem[], tiers: readonly TrustTier[]): Snapshot['items'] {
  const place = (tier: TrustTier): number => (tiers.includes(tier) ? tiers.indexOf(tier) : tiers.length);
  const byUri = new Map<string, RankedItem>();
  for (const one of items) if (!byUri.has(one.item.uri)) byUri.set(one.item.uri, one);
  const directness = ({ selected }: RankedItem): number => selectionOrder.indexOf(selected.selectedBy);
  const orderOf = (a: RankedItem, b: RankedItem): number =>
    place(a.selected.trustTier) - place(b.selected.trustTier) ||
    a.order - b.order ||
    directness(a) - directness(b);
  return [...byUri.values()].sort(orderOf).map(({ item }) => item);
}

/** A file that the hints lead to. */
interface HintedFile {
  readonly entry: TreeEntry;
  readonly selectedBy: 'hint' | 'one-hop';
}

/** The items that the hints of a spec select in one tree. */
interface ExpandedHints {
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
 * Expands `touchHints`: files by glob and one hop of the import graph in both directions, symbols to definition
 * sites, APIs to URLs. At most 10,000 files of 64 MiB; omitted files are listed in the result.
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

/** The body of the `context_frame` object for a frame that a run still sees, or `evicted`, no longer. */
export function frameBody(runId: string, frame: ContextFrame, evicted: boolean): ObjectBody<'context_frame'> {
  const { sequence, text, tags } = frame;
  return toStored(objectShapes.context_frame, {
    ...frame,
    run: runId,
    seq: sequence,
    summary: text,
    evicted,
    digest: sha256Hex(text),
    ...(tags.trust === 'untrusted' ? { trust: 'untrusted' as const } : {}),
  });
}
