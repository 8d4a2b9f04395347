import t from 'tap';
import { measureProduct, measureRest } from '../scripts/size/measure-size.ts';

const dollar = '$';
/** A small tree: what each line of it counts as stands beside it here, not in the files. */
const files = [
  {
    path: 'engine/run/start.ts',
    text: [
      '/** Told in a comment. */', // comment
      "import { stop } from './stop.ts';", // code
      "import type { Kind } from '../kind.ts';", // code
      '', // blank
      "const url = 'http://example.org'; // nobody", // code
      `const text = \`one // no comment ${dollar}{stop(/[/"'\`]\\/\\/*/ as Kind)}`, // code
      '', // a blank line inside a template
      '/* no comment either */ anew`;', // code
      'const half = url.length / 2 / 3; /* a', // code
      '', // blank
      '   comment */', // comment
      'export { half, text };', // code
    ].join('\n'),
  },
  {
    path: 'engine/run/stop.ts',
    text: "export const stop = String;\nexport const back = () => import('./start.ts');\n",
  },
  {
    path: 'engine/kind.ts',
    text: '// A rung.\n// And an arrow: rungs, arrows.\nexport type Kind = RegExp;\n',
  },
  { path: 'gates/language.scm', text: '; a comment\n(call name: ";" @name) ; beside code\n' },
  { path: 'gates/words.gen.ts', text: "export const words = ['nobody'];\n" },
  { path: 'gates/table.ts', text: "// Generated from words.json.\nexport const table = ['nobody'];\n" },
  { path: 'index.ts', text: "export { stop } from './engine/run/stop.ts';\n" },
  { path: 'test/start.test.ts', text: "import '../engine/run/start.ts';\n// nobody\n" },
  { path: 'docs/page.md', text: 'Whoever asks is told.\n' },
  { path: 'fixtures/a.ts', text: 'nobody\n' },
];

t.test('size', async (t) => {
  const product = measureProduct(files);

  await t.test('counts product code by module, and each folder of the engine separately', async (t) => {
    t.strictSame(Object.keys(product), ['engine', 'engine/run', 'entry points', 'gates', 'total']);
    t.match(product.total, { files: 5, lines: 20 });
    t.match(product.gates, { files: 1, lines: 2, code: 1, comments: 1 });
  });

  await t.test('distinguishes comments from strings, templates and regular expressions', async (t) => {
    const [start] = files;
    t.match(measureProduct(start === undefined ? [] : [start]).total, { lines: 12, code: 7, comments: 2 });
  });

  await t.test('reports the median and the 90th percentile of lines per file', async (t) => {
    t.match(product.total, { median: 2, p90: 12 });
    t.match(product.engine, { median: 3, p90: 12 });
  });

  await t.test('finds files with one importer in their folder, and cycles', async (t) => {
    // `stop.ts` is imported by the entry point, too, and `kind.ts` from another folder.
    t.match(product.total, { lonely: 1, cycles: 1 });
  });

  await t.test('counts retired words in comments and strings, not in names and imports', async (t) => {
    t.strictSame(product.engine?.retired, { tell: 1, nobody: 1, anew: 1, rung: 2, arrow: 2 });
    t.strictSame(product.gates?.retired, {});
  });

  await t.test('counts tests and documentation pages separately', async (t) => {
    t.match(measureRest(files), {
      test: { files: 1, lines: 2, code: 1, comments: 1, retired: { nobody: 1 } },
      scripts: { files: 0, median: 0 },
      docs: { files: 1, lines: 1, retired: { tell: 1, whoever: 1 } },
    });
  });
});
