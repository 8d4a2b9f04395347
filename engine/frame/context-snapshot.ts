import { sha256Hex } from '../../core/base/digest.ts';
import type { ContextItemKind, TrustTier } from '../../core/contract/context.ts';
import type { EvidencePolicy } from '../../core/contract/evidence-policy.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { ObjectBody } from '../store/object-shapes.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { type Admission, type Candidate, type NotAdmitted, toSource } from './admission.ts';
import { isAllowedHost } from './domain-rules.ts';
import { eachBlob } from './each-blob.ts';
import type { ExpandedHints } from './expand-hints.ts';

/** One thing that an attempt starts from. */
export interface ContextItem {
  readonly kind: ContextItemKind;
  /** Path of a File, path and lines of a Snippet (`a.ts#L3-L9`), the URL itself. */
  readonly name: string;
  readonly uri: string;
  /** Of the content; of a Url, of what its description says. */
  readonly sha256: string;
  readonly trustTier: TrustTier;
  readonly selectedBy: 'hint' | 'symbol' | 'api' | 'one-hop';
  readonly tags: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** Of a Snippet; from 1, inclusive. */
  readonly lines?: readonly [from: number, to: number];
}

/** Something that was looked up and did not enter. */
export interface RejectedItem {
  readonly kind: ContextItemKind;
  readonly name: string;
  readonly reason: NotAdmitted['reason'] | 'unreadable';
  readonly message: string;
}

/** The items of a snapshot, best first, and the content of those that no tree of the repository holds. */
export interface ContextItems {
  readonly items: readonly ContextItem[];
  readonly rejected: readonly RejectedItem[];
  /** Content of Snippet and Url items, as admitted, by SHA-256. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

export interface ContextItemsRequest {
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
  readonly selectedBy: ContextItem['selectedBy'];
  readonly lines?: ContextItem['lines'];
};

const selectionOrder = ['hint', 'symbol', 'api', 'one-hop'] as const;

/**
 * Brings what the hints lead to into the context, one admission each. Items are ranked by `evidence.strategy` and
 * `evidence.trustTiers`, then by its order within a tier, then by how directly the contract asked for them;
 * each holds the SHA-256 of what was admitted. Data classes are not judged here.
 */
export async function collectContextItems(request: ContextItemsRequest): Promise<ContextItems> {
  const { objects, tree, spec, hints, strategy, admit } = request;
  const items: (ContextItem & { readonly order: number })[] = [];
  const rejected: RejectedItem[] = [];
  const blobs = new Map<string, Uint8Array>();
  const enter = async (selected: Selected): Promise<void> => {
    const { kind, name, uri, selectedBy, trustTier, lines } = selected;
    const outcome = await admit(selected);
    if (!outcome.admitted) {
      rejected.push({ kind, name, reason: outcome.reason, message: outcome.message });
      return;
    }
    const sha256 = sha256Hex(outcome.bytes);
    const order = (await strategy.order?.(toSource(spec.evidence, selected))) ?? 0;
    items.push({
      order,
      kind,
      name,
      uri,
      sha256,
      trustTier,
      selectedBy,
      tags: outcome.tags,
      sizeBytes: outcome.bytes.length,
      ...(lines === undefined ? {} : { lines }),
    });
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

/** Stable; the first of two items for the same thing stays. */
function ranked(
  items: readonly (ContextItem & { readonly order: number })[],
  tiers: readonly TrustTier[],
): readonly ContextItem[] {
  const place = (tier: TrustTier): number => (tiers.includes(tier) ? tiers.indexOf(tier) : tiers.length);
  const byUri = new Map<string, (typeof items)[number]>();
  for (const item of items) if (!byUri.has(item.uri)) byUri.set(item.uri, item);
  const directness = ({ selectedBy }: ContextItem): number => selectionOrder.indexOf(selectedBy);
  const orderOf = (a: (typeof items)[number], b: typeof a): number =>
    place(a.trustTier) - place(b.trustTier) || a.order - b.order || directness(a) - directness(b);
  return [...byUri.values()].sort(orderOf).map(({ order: _, ...item }) => item);
}

/** The body of the `context_snapshot` object. */
export function contextSnapshotBody(
  { tree, spec, hints }: Pick<ContextItemsRequest, 'tree' | 'spec' | 'hints'>,
  { items, rejected }: Pick<ContextItems, 'items' | 'rejected'>,
  runId: string,
): ObjectBody<'context_snapshot'> {
  return {
    run: runId,
    strategy: spec.evidence.strategy,
    base_tree: tree,
    trust_tiers: spec.evidence.trustTiers,
    items: items.map((item) => ({
      kind: item.kind,
      name: item.name,
      uri: item.uri,
      sha256: item.sha256,
      trust_tier: item.trustTier,
      selected_by: item.selectedBy,
      tags: item.tags,
      size_bytes: item.sizeBytes,
      ...(item.tags.trust === 'untrusted' ? { trust: 'untrusted' as const } : {}),
      ...(item.lines === undefined ? {} : { line_from: item.lines[0], line_to: item.lines[1] }),
    })),
    rejected,
    unresolved: hints.unresolved,
    not_expanded: hints.notExpanded,
    total_bytes: items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}
