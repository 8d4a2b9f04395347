import t from 'tap';
import { importersOf, readImportGraph } from '../../../engine/context/import-graph.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import { long } from '../../rooms/long.ts';
import { makeRepository, type SampleFile } from '../../workspace/git/sample-repository.ts';
import { sampleTree } from './sample-tree.ts';

async function edgesOf(
  t: Parameters<typeof sampleTree>[0],
  files: Readonly<Record<string, SampleFile>>,
  around = Object.keys(files),
): Promise<readonly string[]> {
  const { graph } = await readImportGraph({ ...(await sampleTree(t, files)), around });
  return [...graph].flatMap(([from, targets]) => [...targets].map((to) => `${from} > ${to}`)).sort();
}

t.test('relative specifiers resolve as in TypeScript or Node', async (t) => {
  const edges = await edgesOf(t, {
    'src/main.ts': [
      `import './plain'; import './written.ts'; import './mapped.js'; import './module.mjs'; import './common.cjs';`,
      `import './view.jsx'; import './folder'; import './folder/'; import '..'; import '../other/deep.ts';`,
      `import './data.json'; import './style.css?inline'; import './declared';`,
      `import 'react'; import '@scope/x'; import '/etc/passwd'; import '../../outside'; import './nowhere'; import './main';`,
    ].join('\n'),
    'src/plain.ts': '',
    'src/plain.js': '',
    'src/written.ts': '',
    'src/mapped.ts': '',
    'src/module.mts': '',
    'src/common.cts': '',
    'src/view.tsx': '',
    'src/folder/index.ts': `import './part'; import './';`,
    'src/folder/part.jsx': '',
    'src/data.json': '{}',
    'src/style.css': '',
    'src/declared.d.ts': '',
    'index.js': '',
    'other/deep.ts': `export * from '../src/main.js'`,
  });
  t.strictSame(edges, [
    'other/deep.ts > src/main.ts',
    'src/folder/index.ts > src/folder/part.jsx',
    'src/main.ts > index.js',
    'src/main.ts > other/deep.ts',
    'src/main.ts > src/common.cts',
    'src/main.ts > src/data.json',
    'src/main.ts > src/declared.d.ts',
    'src/main.ts > src/folder/index.ts',
    'src/main.ts > src/mapped.ts',
    'src/main.ts > src/module.mts',
    'src/main.ts > src/plain.ts',
    'src/main.ts > src/style.css',
    'src/main.ts > src/view.tsx',
    'src/main.ts > src/written.ts',
  ]);
});

t.test('resolves Python modules in packages, beside the file and under `src`', async (t) => {
  const edges = await edgesOf(t, {
    'app/pkg/__init__.py': 'from . import a\nfrom .sub.deep import thing',
    'app/pkg/a.py': 'from .b import c\nfrom . import b, nothing\nimport pkg.b\nimport os',
    'app/pkg/b.py': 'from .sub import deep, other\nfrom .... import far',
    'app/pkg/sub/__init__.py': '',
    'app/pkg/sub/deep.py': 'from ..a import x\nfrom ... import above',
    'script.py': 'import beside\nfrom lib.core import run\nimport root.mod as m',
    'beside.py': '',
    'src/lib/core.py': '',
    'root/mod.pyi': '',
  });
  t.strictSame(edges, [
    'app/pkg/__init__.py > app/pkg/a.py',
    'app/pkg/__init__.py > app/pkg/sub/deep.py',
    'app/pkg/a.py > app/pkg/__init__.py',
    'app/pkg/a.py > app/pkg/b.py',
    'app/pkg/b.py > app/pkg/sub/__init__.py',
    'app/pkg/b.py > app/pkg/sub/deep.py',
    'app/pkg/sub/deep.py > app/pkg/a.py',
    'script.py > beside.py',
    'script.py > root/mod.pyi',
    'script.py > src/lib/core.py',
  ]);
});

t.test('reads no imports from binary, large, symlinked or vendored files', async (t) => {
  const tree = await sampleTree(t, {
    'a.ts': `import './b'; import './linked';`,
    'b.ts': `\0import './a'`,
    'large.ts': `import './a';\n${' '.repeat(1024 * 1024)}`,
    'node_modules/x/index.js': `require('../../a.ts')`,
    'linked.ts': { link: 'a.ts' },
  });
  const { graph, gaps } = await readImportGraph({ ...tree, around: ['a.ts'] });
  t.strictSame([...graph], [['a.ts', new Set(['b.ts'])]]);
  t.strictSame(gaps, ['javascript: 1 files over 1048576 bytes']);
});

t.test('reads imports only in the languages of the given files', async (t) => {
  const files = { 'a.ts': `import './b'`, 'b.ts': '', 'c.py': 'import d', 'd.py': '', 'e.go': '' };
  t.strictSame(await edgesOf(t, files, ['c.py']), ['c.py > d.py']);
  t.strictSame(await edgesOf(t, files, ['e.go', 'README.md']), []);
});

t.test('resolves identical content from each place it appears in', async (t) => {
  const edges = await edgesOf(t, {
    'x/a.ts': `import './b'`,
    'x/b.ts': '',
    'y/a.ts': `import './b'`,
    'y/b.ts': '',
  });
  t.strictSame(edges, ['x/a.ts > x/b.ts', 'y/a.ts > y/b.ts']);
});

t.test('`importersOf` reverses the import graph', async (t) => {
  const graph = new Map([
    ['a', new Set(['c'])],
    ['b', new Set(['c', 'a'])],
  ]);
  t.strictSame(
    [...importersOf(graph)],
    [
      ['c', new Set(['a', 'b'])],
      ['a', new Set(['b'])],
    ],
  );
});

/** `count` files of 1 KB, each importing its neighbour; made without a working tree. */
async function largeTree(t: { testdir(): string }, count: number) {
  const sample = makeRepository(t.testdir());
  const body = 'export const line = "some text of a usual length";\n'.repeat(20);
  const files = Array.from({ length: count }, (_, index) => {
    const text = `import './f${index + 1}.js';\n// ${index}\n${body}`;
    return `M 100644 inline src/f${index}.ts\ndata ${text.length}\n${text}\n`;
  });
  const commit = 'commit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 0\n';
  sample.gitInput(commit + files.join(''), 'fast-import', '--quiet');
  const objects = await openRepository(sample.dir);
  return { objects, entries: await listTree(objects, 'main') };
}

long('20,000 files are read whole; of more, only what was asked for, and a gap says so', async (t) => {
  const { objects, entries } = await largeTree(t, 20_001);
  const within = await readImportGraph({ objects, entries: entries.slice(0, 20_000), around: ['src/f7.ts'] });
  t.strictSame(within.gaps, []);
  t.strictSame(importersOf(within.graph).get('src/f7.ts'), new Set(['src/f6.ts']));
  const beyond = await readImportGraph({ objects, entries, around: ['src/f7.ts'] });
  t.match(beyond.gaps, [/^javascript: importers, because the tree holds 20001 files/]);
  t.strictSame([...beyond.graph], [['src/f7.ts', new Set(['src/f8.ts'])]]);
});
