import type { GraphNode } from '../../../api/schemas/graph-schema.ts';
import { escapeHtml } from '../escape-html.ts';
import type { TreeNode } from './graph-tree.ts';
import { toName, toRelation, toTags } from './graph-words.ts';
import { toTone } from './to-tone.ts';

/** Characters of all details together: a page stays one that a telephone opens. */
const maxDetails = 3_000_000;
const maxRelations = 20;

/** The trees as a nested list that needs no script; `entryOf` gives the id of each node's entry. */
export function graphList(trees: readonly TreeNode[], entryOf: (node: GraphNode) => string): string {
  let left = maxDetails;
  const toDetail = ({ detail }: GraphNode): string => {
    left -= detail.length;
    return left < 0 ? 'left out: the page would be too large; `--json` has it' : detail;
  };
  const toItem = ({ node, children, also }: TreeNode): string => {
    const relations = also.slice(0, maxRelations).flatMap((one) => {
      const words = toRelation(one);
      return words === undefined ? [] : `<a href="#${entryOf(one.from)}">${escapeHtml(words, 240)}</a>`;
    });
    const tags = [...toTags(node)].map(
      (tag) => `<span class="pill ${toTone(tag) ?? ''}">${escapeHtml(tag, 60)}</span>`,
    );
    return `<li id="${entryOf(node)}" class="of-${node.kind}"><details><summary><span class="kind">${node.kind}</span> <bdi class="name ${toneOf(node)}">${escapeHtml(toName(node), 200)}</bdi> ${tags.join(' ')}</summary>${relations.length === 0 ? '' : `<p class="small soft">${relations.join(', ')}</p>`}<pre><bdi>${escapeHtml(toDetail(node))}</bdi></pre></details>${toList(children)}</li>`;
  };
  const toList = (some: readonly TreeNode[]): string =>
    some.length === 0 ? '' : `<ul>${some.map(toItem).join('')}</ul>`;
  return `<div class="tree">${toList(trees)}</div>`;
}

/** Of what a name itself says (`commit 1a2b…`). */
function toneOf(node: GraphNode): string {
  const said = node.tags.find((tag) => toName(node).startsWith(tag));
  return (said === undefined ? undefined : toTone(said)) ?? '';
}
