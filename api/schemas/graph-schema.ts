import { type Admitted, flag, list, oneOf, record, text } from './shape.ts';

/** A thread as a graph of versions (resolutions B, `graph --json`); `truncated` where not all of it is there. */
export const graphSchema = record(
  {
    thread_id: text,
    title: text,
    nodes: list(
      record({
        id: text,
        kind: oneOf('intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'),
        label: text,
        tags: list(text),
        detail: text,
      }),
    ),
    edges: list(
      record({
        from: text,
        to: text,
        kind: oneOf(
          'plan',
          'replaced-by',
          'task',
          'before',
          'run',
          'part-of',
          'patchset',
          'evidence',
          'decision',
          'rests-on',
          'revised',
          'superseded-by',
        ),
      }),
    ),
  },
  { truncated: flag },
);
export type GraphData = Admitted<typeof graphSchema>;
export type GraphNode = GraphData['nodes'][number];
export type GraphEdge = GraphData['edges'][number];
