import t, { type Test } from 'tap';
import { expandHints } from '../../../engine/context/collect-context.ts';
import type { SampleFile } from '../../workspace/git/sample-repository.ts';
import type { Json } from '../sample.ts';
import { contractWith } from './sample-contract.ts';
import { sampleTree } from './sample-tree.ts';

const files: Readonly<Record<string, SampleFile>> = {
  'src/a.ts': `import { b } from './b.js';\nexport function start() {}\n`,
  'src/b.ts': `import './c.ts';\nexport const b = 1;\n`,
  'src/c.ts': '',
  'src/main.ts': `import './a.ts';\n`,
  'src/[id]/page.ts': `import '../a.ts';\n`,
  'lib/tool.py': 'from . import other\n',
  'lib/__init__.py': '',
  'lib/other.py': '',
  'cmd/run.go': 'package main\n',
  'cmd/more.go': 'package main\n',
  'README.md': '[a](src/a.ts)\n',
};

async function expanded(t: Test, hints: Json, metadata: Json = {}) {
  const { objects, entries } = await sampleTree(t, files);
  const spec = contractWith({ intent: { touchHints: hints }, metadata });
  const { files: found, ...rest } = await expandHints(objects, entries, spec);
  return {
    ...rest,
    hint: found.filter(({ selectedBy }) => selectedBy === 'hint').map(({ entry }) => entry.path),
    hop: found.filter(({ selectedBy }) => selectedBy === 'one-hop').map(({ entry }) => entry.path),
  };
}

t.test('a hinted file brings its imports and importers, but only one hop away', async (t) => {
  const { hint, hop, notExpanded, unresolved } = await expanded(t, { files: ['src/a.ts'] });
  t.strictSame(hint, ['src/a.ts']);
  t.strictSame(hop, ['src/[id]/page.ts', 'src/b.ts', 'src/main.ts']);
  t.strictSame({ notExpanded, unresolved }, { notExpanded: [], unresolved: [] });
});

t.test('hints are paths, directories and globs, and duplicates are dropped', async (t) => {
  for (const [pattern, ...paths] of [
    ['src/b.ts', 'src/b.ts'],
    ['./src/b.ts', 'src/b.ts'],
    ['src/', 'src/[id]/page.ts', 'src/a.ts', 'src/b.ts', 'src/c.ts', 'src/main.ts'],
    ['src/**', 'src/[id]/page.ts', 'src/a.ts', 'src/b.ts', 'src/c.ts', 'src/main.ts'],
    ['src/*.ts', 'src/a.ts', 'src/b.ts', 'src/c.ts', 'src/main.ts'],
    ['src/{a,b}.ts', 'src/a.ts', 'src/b.ts'],
    ['**/*.md', 'README.md'],
    ['src/[id]/page.ts', 'src/[id]/page.ts'],
    ['lib', 'lib/__init__.py', 'lib/other.py', 'lib/tool.py'],
  ] as const) {
    const { hint, unresolved } = await expanded(t, { files: [pattern, pattern] });
    t.strictSame(hint, paths, pattern);
    t.strictSame(unresolved, [], pattern);
  }
});

t.test('expands Python imports and records other languages as not expanded', async (t) => {
  const { hop, notExpanded } = await expanded(t, { files: ['lib/tool.py', 'cmd/**', 'README.md'] });
  t.strictSame(hop, ['lib/other.py']);
  t.strictSame(notExpanded, ['go: 2 files, no import graph']);
});

t.test('records hints that match nothing as unresolved', async (t) => {
  const { hint, sites, urls, unresolved } = await expanded(t, {
    files: ['src/new.ts', '../outside', '/etc/passwd', 'a\0b'],
    symbols: ['start', 'absent'],
    apis: ['/users'],
  });
  t.strictSame({ hint, urls }, { hint: [], urls: [] });
  t.strictSame(
    sites.map(({ path, startLine }) => `${path}:${startLine}`),
    ['src/a.ts:2'],
  );
  t.strictSame(unresolved, [
    'files: src/new.ts',
    'files: ../outside',
    'files: /etc/passwd',
    'files: a\uFFFDb',
    'symbols: absent',
    'apis: /users',
  ]);
});

t.test('hints in a monorepo are relative to the target locator', async (t) => {
  const target = { repo: { type: 'monorepo', locator: '//src' } };
  const { hint, hop } = await expanded(t, { files: ['a.ts', 'README.md'] }, { target });
  t.strictSame(hint, ['src/a.ts']);
  t.ok(hop.includes('src/b.ts'));
});
