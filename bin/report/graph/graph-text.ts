/* Prints a thread's graph as a tree in the terminal. */
import type { GraphData, GraphNode } from '../../../api/schemas/other-schemas.ts';
import {
  cellWidth,
  clipCells,
  escapeTerminal,
  type Part,
  type Printer,
  type Style,
  styled,
} from '../../terminal/print.ts';
import { type TreeNode, toName, toRelation, toTags, toTone, toTrees } from './graph-tree.ts';

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
