/* Converts the graph of a thread to trees, and prints them in the terminal. */
import type { GraphData, GraphEdge, GraphNode } from '../../../api/schemas/other-schemas.ts';
import {
  cellWidth,
  clipCells,
  escapeTerminal,
  type Part,
  type Printer,
  type Style,
  styled,
} from '../../terminal/print.ts';

/** A node with what is shown below it. */
export interface TreeNode {
  readonly node: GraphNode;
  readonly children: readonly TreeNode[];
  /** Incoming edges except the one from the parent in the tree. */
  readonly also: readonly { readonly kind: GraphEdge['kind']; readonly from: GraphNode }[];
}

/**
 * Order of kinds. A parent must have an earlier kind than its child, so cycles of edges cannot cause endless
 * recursion.
 */
export const kindOrder: readonly GraphNode['kind'][] = [
  'thread',
  'intent',
  'plan',
  'task',
  'run',
  'patchset',
  'evidence',
  'decision',
];

/** Edge kinds that define the parent of a node; other kinds are cross references. */
const below: ReadonlySet<GraphEdge['kind']> = new Set([
  'plan',
  'task',
  'run',
  'patchset',
  'evidence',
  'decision',
]);

/**
 * The graph as trees, each node in them once, in the order of the nodes: below the first that an edge puts it under.
 */
export function toTrees({ nodes: recorded, edges }: Pick<GraphData, 'nodes' | 'edges'>): readonly TreeNode[] {
  const nodes = recorded.map(inWords);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map<string, GraphNode>();
  const also = new Map<string, TreeNode['also'][number][]>();
  for (const { kind, from: fromId, to } of edges) {
    const from = byId.get(fromId);
    const node = byId.get(to);
    if (from === undefined || node === undefined) continue;
    const isBelow = below.has(kind) && kindOrder.indexOf(from.kind) < kindOrder.indexOf(node.kind);
    if (isBelow && !parentOf.has(to)) parentOf.set(to, from);
    else put(also, to, { kind, from });
  }
  const childrenOf = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    const parent = parentOf.get(node.id);
    if (parent) put(childrenOf, parent.id, node);
  }
  const grow = (node: GraphNode): TreeNode => ({
    node,
    children: (childrenOf.get(node.id) ?? []).map(grow),
    also: also.get(node.id) ?? [],
  });
  return nodes.filter(({ id }) => !parentOf.has(id)).map(grow);
}

/** A node with the word of reports for a decision to abandon: `refused`. `--json` keeps the word of the record. */
function inWords(node: GraphNode): GraphNode {
  const { kind, label, tags } = node;
  if (!tags.includes('abandon')) return node;
  const shown = kind === 'decision' ? label.replace(/^abandon(?=,|$)/, 'refused') : label;
  return { ...node, label: shown, tags: tags.map((tag) => (tag === 'abandon' ? 'refused' : tag)) };
}

function put<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** A node's name beside its kind: once is enough (`run run 0198…`). */
export function toName({ kind, label }: GraphNode): string {
  return label.startsWith(`${kind} `) ? label.slice(kind.length + 1) : label;
}

/** Returns tags to show next to the name, without a tag that the name begins with. */
export function toTags(node: GraphNode): readonly string[] {
  const name = toName(node);
  return node.tags.filter((tag) => !name.startsWith(tag));
}

/** Describes an edge that does not come from the parent; `undefined` if the tree shows it anyway. */
export function toRelation({ kind, from }: TreeNode['also'][number]): string | undefined {
  if (kind === 'replaced-by' || kind === 'superseded-by') return `in place of ${from.label}`;
  if (kind === 'before') return `after ${from.label.split(':')[0] ?? ''}`;
  if (kind === 'revised') return 'the spec was changed';
  return undefined;
}

type Tone = 'good' | 'bad' | 'open';

/** A map: a tag may be a word of a record that anybody wrote, `constructor` for one. */
const tones: ReadonlyMap<string, Tone> = new Map([
  ['commit', 'good'],
  ['passed', 'good'],
  ['merge', 'good'],
  ['applied', 'good'],
  ['refused', 'bad'],
  ['stop', 'bad'],
  ['rollback', 'bad'],
  ['failed', 'bad'],
  ['rejected', 'bad'],
  ['damaged', 'bad'],
  ['missing', 'bad'],
  ['retry', 'open'],
  ['replan', 'open'],
  ['wait-for-approval', 'open'],
  ['wait-for-budget', 'open'],
  ['waiting', 'open'],
  ['interrupted', 'open'],
  ['running', 'open'],
]);

/** How a tag of a node is meant, for colours; `undefined` for one that is neither good nor bad. */
export function toTone(tag: string): Tone | undefined {
  return tones.get(tag);
}

/** What every terminal has; the drawing is the same in all of them. */
const columns = 80;
/** The longest name of a kind, with the gap after it. */
const kindWidth = 10;

const colours: Readonly<Record<string, Style>> = { good: 'green', bad: 'red', open: 'yellow' };

/** The graph as a tree in lines of at most 80 columns; the newest is last. */
export function printGraph(printer: Printer, graph: GraphData): void {
  printer.line(styled('bold', clip(graph.title, columns)));
  printer.line(styled('dim', `thread ${graph.thread_id}`));
  if (printer.quiet) return;
  printer.line();
  if (graph.nodes.length === 0) printer.line('nothing was planned or run in it yet');
  for (const tree of toTrees(graph)) printTree(printer, tree, '', '');
  if (graph.truncated === true) {
    printer.line();
    printer.line(styled('yellow', 'note'), '  this is not all of it: what is newest is drawn');
  }
}

function printTree(printer: Printer, tree: TreeNode, first: string, rest: string): void {
  printNode(printer, tree, first);
  const lines = toLines(tree.children);
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    const [head, tail] = isLast ? ['└─ ', '   '] : ['├─ ', '│  '];
    if ('node' in line) printTree(printer, line, `${rest}${head}`, `${rest}${tail}`);
    else printTogether(printer, line, `${rest}${head}`);
  }
}

/** Leaf evidence with one of these tags is grouped on one line. */
const folded = ['passed', 'skipped'];

interface Together {
  readonly tag: string;
  readonly nodes: readonly GraphNode[];
}

function toLines(children: readonly TreeNode[]): readonly (TreeNode | Together)[] {
  const isFolded = ({ node }: TreeNode, tag: string): boolean =>
    node.kind === 'evidence' && node.tags.includes(tag);
  const together = folded
    .map(
      (tag): Together => ({
        tag,
        nodes: children.filter((child) => isFolded(child, tag)).map(({ node }) => node),
      }),
    )
    .filter(({ nodes }) => nodes.length > 1);
  const tags = together.map(({ tag }) => tag);
  return [...together, ...children.filter((child) => !tags.some((tag) => isFolded(child, tag)))];
}

function printTogether(printer: Printer, { tag, nodes }: Together, lead: string): void {
  const room = columns - lead.length - kindWidth - tag.length - 3;
  const names = clip(nodes.map(({ label }) => label).join(', '), room);
  printer.line(styled('dim', lead), 'evidence'.padEnd(kindWidth), names, ' ', ...tagParts([tag]));
}

function printNode(printer: Printer, { node, also }: TreeNode, lead: string): void {
  const { kind, detail } = node;
  const room = columns - lead.length - kindWidth;
  const name = toName(node);
  const tags = toTags(node);
  const told = tags.length === 0 ? '' : ` [${tags.join(' ')}]`;
  // A tag is ours and short, and it is what a person looks for.
  const label = clip(name, Math.max(room - cellWidth(told), 12));
  const used = cellWidth(label) + cellWidth(told);
  const said = [...also.flatMap((one) => toRelation(one) ?? []), detail.split('\n')[0] ?? ''];
  const more = clip(said.filter((one) => one !== '').join('; '), room - used - 2);
  const style = kind === 'intent' ? 'bold' : colourOf(node.tags.find((tag) => name.startsWith(tag)));
  printer.line(
    styled('dim', lead),
    kind.padEnd(kindWidth),
    style === undefined ? label : styled(style, label),
    ...(told === '' ? [] : [' ', ...tagParts(tags)]),
    ...(room - used < 12 || more === '' ? [] : [styled('dim', `  ${more}`)]),
  );
}

function tagParts(tags: readonly string[]): readonly Part[] {
  const words = tags.map((tag): Part => {
    const tone = colourOf(tag);
    return tone === undefined ? tag : styled(tone, tag);
  });
  return ['[', ...words.flatMap((word, index) => (index === 0 ? [word] : [' ', word])), ']'];
}

function colourOf(tag: string | undefined): Style | undefined {
  const tone = tag === undefined ? undefined : toTone(tag);
  return tone && colours[tone];
}

/** Clips to one line, measured after escaping. */
function clip(text: string, most: number): string {
  // Printing escapes again, which does not change printable text.
  return clipCells(escapeTerminal(text), most);
}
