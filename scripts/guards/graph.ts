import { type Guard, within } from './guard.ts';

const drawn = 'test/api/graph/to-graph.test.ts';
const command = 'test/bin/commands/graph.test.ts';
const page = 'test/bin/report/graph/graph-html.test.ts';
const text = 'test/bin/report/graph/graph-text.test.ts';
const room = 'a graph has room for so much';
const pushed = 'a record that anybody has pushed';
const browser = 'in a real browser';
const document = 'the page is one document without a request';

/** What holds of a drawing, whoever wrote the records that it is made of. */
export const guards: readonly Guard[] = [
  ...within('api/graph/drawing.ts', drawn, [
    ['a graph has room for so many nodes', 'if (nodes.size >= maxNodes)', 'if (nodes.size < 0)', room],
    ['a graph has room for so many edges', 'if (edges.size >= maxEdges)', 'if (edges.size < 0)', room],
    [
      'an id stands once',
      'nodes.has(node.id) ? freeId(otherwise) : node.id',
      'node.id',
      'circles, ids that stand',
    ],
  ]),
  ...within('api/graph/object-nodes.ts', drawn, [
    [
      'what was not read whole lacks nothing',
      '|| !isWhole ||',
      '||',
      'what a record names and does not hold',
    ],
  ]),
  ...within('api/graph/cut-text.ts', drawn, [
    [
      'text is bounded',
      'if (text.length <= most) return text;',
      'if (text) return text;',
      'text of an object',
    ],
  ]),
  ...within('api/graph/record-reader.ts', command, [
    [
      'a large object is not read',
      'const small = entries.filter(({ sizeBytes }) => sizeBytes <= graphLimits.objectBytes);',
      'const small = entries;',
      pushed,
    ],
    [
      'a record that cannot be listed hinders nothing',
      'if (isWritError(fault)) return undefined;\n      throw',
      'throw',
      pushed,
    ],
  ]),
  ...within('bin/report/graph/graph-tree.ts', text, [
    [
      'a tree has no circle',
      'kindOrder.indexOf(from.kind) < kindOrder.indexOf(node.kind)',
      "from.kind !== 'intent'",
      'edges in circles',
    ],
  ]),
  ...within('bin/report/graph/graph-text.ts', text, [
    [
      'a line is measured as it is printed',
      'clipCells(escapeTerminal(text), most)',
      'clipCells(text, most)',
      'no line is wider',
    ],
  ]),
  ...within('bin/report/graph/graph-list.ts', page, [
    ['a name in the list is text', 'escapeHtml(toName(node), 200)', 'toName(node)', document],
    ['a detail is text', 'escapeHtml(toDetail(node))', 'toDetail(node)', document],
    ['a page is not endless', 'return left < 0 ?', 'return left < -1e9 ?', document],
  ]),
  ...within('bin/report/graph/graph-svg.ts', page, [
    [
      'a name in the drawing is text',
      'escapeHtml(clipCells(toName(node), nodeCells), 200)',
      'toName(node)',
      document,
    ],
  ]),
  ...within('bin/report/graph/graph-script.ts', page, [
    ['what was dragged was not tapped', 'if (moved > 4) event.preventDefault();', '', browser],
    [
      'the drawing is not lost at a side',
      'at.x = between(shown - whole.width * at.zoom, at.x, clientWidth - shown);',
      '',
      browser,
    ],
  ]),
  ...within('bin/report/page-frame.ts', page, [
    ['a page loads nothing', `"default-src 'none'",`, '', document],
    [
      'a page runs no other style',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of the source.
      "`style-src '${digestOf(style)}'`,",
      "`style-src 'unsafe-inline'`,",
      document,
    ],
  ]),
];
