/* Collects the nodes and edges of a graph within its limits. */
import type { GraphEdge, GraphNode } from '../schemas/other-schemas.ts';

/** Characters of a name, on one line. */
export const maxLabel = 200;
const maxDetail = 4000;

/** A graph in the making: each id once, each edge once, between nodes that there are, up to a number of both. */
export interface Drawing {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Something was left out. */
  readonly isTruncated: boolean;
  /**
   * Adds a node and returns its id. If another node already uses the id, the new node gets `otherwise`. Returns
   * `undefined` at the node limit.
   */
  add(node: GraphNode, otherwise: string): string | undefined;
  /**
   * Adds an edge between two added nodes. Adds none if a node is missing because of the limit, or if the edge would
   * close a cycle.
   */
  connect(from: string | undefined, to: string | undefined, kind: GraphEdge['kind']): void;
}

/** Opens an empty drawing with the given limits. */
export function openDrawing(maxNodes: number, maxEdges: number): Drawing {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  let isTruncated = false;
  const freeId = (wanted: string): string => {
    let id = wanted;
    for (let count = 2; nodes.has(id); count += 1) id = `${wanted}#${count}`;
    return id;
  };
  return {
    get nodes() {
      return [...nodes.values()];
    },
    get edges() {
      return [...edges.values()];
    },
    get isTruncated() {
      return isTruncated;
    },
    add(node, otherwise) {
      if (nodes.size >= maxNodes) {
        isTruncated = true;
        return undefined;
      }
      const id = nodes.has(node.id) ? freeId(otherwise) : node.id;
      nodes.set(id, {
        ...node,
        id,
        label: toLine(node.label, maxLabel),
        detail: cutText(node.detail, maxDetail),
      });
      return id;
    },
    connect(from, to, kind) {
      if (from === undefined || to === undefined || from === to) return;
      const key = `${kind} ${from} ${to}`;
      if (edges.has(key)) return;
      if (edges.size >= maxEdges) isTruncated = true;
      else edges.set(key, { from, to, kind });
    },
  };
}

/** At most so many characters, whole ones; what is cut off ends in `…`. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  // Drops an unpaired high surrogate at the cut.
  const kept = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  return `${kept}…`;
}

/** The same, on one line. */
export function toLine(text: string, most: number): string {
  return cutText(
    text
      .slice(0, 4 * most)
      .replace(/\s+/g, ' ')
      .trim(),
    most,
  );
}

/** Display of a node: a one-line label, fixed tags, and details on request. */
export type Described = Pick<GraphNode, 'label' | 'tags' | 'detail'>;

/** Entries of a list that are named before the rest is counted. */
const most = 20;

/** Joins lines into `detail`, most informative first. Omits `undefined` and empty lines. */
export function toDetail(...lines: readonly (string | undefined | readonly string[])[]): string {
  return lines
    .flat()
    .filter((line) => line !== undefined && line !== '')
    .join('\n');
}

/** Returns `<name>: <value>`, or `undefined` without a value. */
export function named(name: string, value: string | number | null | undefined): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : `${name}: ${value}`;
}

/** One line for each, as many as a person reads, then how many more there are. */
export function eachOf<T>(items: readonly T[], toLine: (item: T) => string): readonly string[] {
  const lines = items.slice(0, most).map(toLine);
  return items.length > most ? [...lines, `and ${items.length - most} more`] : lines;
}

/** How much of a thread is drawn: more than a person looks through, and little enough for a terminal and a browser. */
export const graphLimits = {
  nodes: 5000,
  edges: 20_000,
  /** Runs that are there at least as one node each. */
  runs: 1000,
  /** Of an intent's history, the last. */
  events: 100,
  /** Intents before and after that of the thread. */
  intents: 50,
  /** An object is kilobytes; a ref that came from elsewhere may hold anything. */
  objectBytes: 4 * 1024 * 1024,
  /** Of all objects together. */
  bytes: 128 * 1024 * 1024,
} as const;
