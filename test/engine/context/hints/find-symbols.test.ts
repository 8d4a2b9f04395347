import t from 'tap';
import { findSymbols } from '../../../../engine/context/hints/find-symbols.ts';
import { eachBlob } from '../../../../engine/context/import-graph.ts';
import type { SampleFile } from '../../../workspace/git/sample-repository.ts';
import { sampleTree } from '../sample-tree.ts';

async function found(
  t: Parameters<typeof sampleTree>[0],
  files: Readonly<Record<string, SampleFile>>,
  symbols: readonly string[],
) {
  const { objects, entries } = await sampleTree(t, files);
  const { sites, unresolved, gaps } = await findSymbols(
    (files, take) => eachBlob(objects, files, take),
    entries,
    symbols,
  );
  return {
    sites: sites.map(({ symbol, path, startLine, endLine }) => `${symbol} ${path}:${startLine}-${endLine}`),
    texts: sites.map(({ text }) => Buffer.from(text).toString('utf8')),
    unresolved,
    gaps,
  };
}

t.test('finds definitions in every supported language', async (t) => {
  const files: Record<string, string> = {
    'a.ts': [
      'import { unrelated } from "./x";',
      'export async function load(path: string): Promise<void> {',
      '  const re = /[\'"{]/;',
      '}',
      'export const limit = 3;',
      'export const make = (one: string) => {',
      '  return one;',
      '};',
      'export interface Shape {',
      '  area(): number;',
      '}',
      'type Alias =',
      '  | "a"',
      '  | "b";',
      'export default class Store<T> {',
      '  static async open(path: string) {',
      '    load(path);',
      '  }',
      '}',
      'load("call");',
      '// function mentioned() {}',
    ].join('\n'),
    'b.py':
      'class Thing(Base):\n    def run(self):\n        pass\n\n    def stop(self):\n        pass\n\nLIMIT = [\n    1,\n]\nThing()\n',
    'c.go':
      'package c\n\ntype Server struct {\n\tport int\n}\n\nfunc (s *Server) Listen() error {\n\treturn nil\n}\n',
    'd.rs': "pub(crate) fn parse<'a>(x: &'a str) -> u8 {\n    0\n}\nmacro_rules! shout {\n    () => {};\n}\n",
    'E.java':
      'public class E {\n    public static int count(int a) throws X {\n        return count(a);\n    }\n}\n',
    'f.c':
      '#define WIDTH 3\nstruct point {\n  int x;\n};\nstatic int area(struct point *p)\n{\n  return 0;\n}\nint area(struct point *p);\n',
    'g.rb': 'module G\n  def self.call(a)\n    a\n  end\nend\n',
    'h.php': '<?php\nfunction hello() {\n  return 1;\n}\n',
    'i.sh': 'deploy() {\n  echo hi\n}\ndeploy\n',
    'j.kt': 'data class Pair(val a: Int)\nfun String.shout(): String {\n  return this\n}\n',
    'k.swift': 'struct Point {\n  func move() {\n  }\n}\n',
  };
  const cases: Record<string, readonly string[]> = {
    load: ['a.ts:2-4'],
    limit: ['a.ts:5-5'],
    make: ['a.ts:6-8'],
    Shape: ['a.ts:9-11'],
    Alias: ['a.ts:12-14'],
    Store: ['a.ts:15-19'],
    'Store.open': ['a.ts:16-18'],
    open: ['a.ts:16-18'],
    'Store#open()': ['a.ts:16-18'],
    Thing: ['b.py:1-6'],
    'Thing.run': ['b.py:2-3'],
    LIMIT: ['b.py:8-10'],
    'Server.Listen': ['c.go:7-9'],
    Server: ['c.go:3-5'],
    parse: ['d.rs:1-3'],
    shout: ['d.rs:4-6', 'j.kt:2-4'],
    'd::parse': ['d.rs:1-3'],
    count: ['E.java:2-4'],
    WIDTH: ['f.c:1-1'],
    point: ['f.c:2-4'],
    area: ['f.c:5-8'],
    'G.call': ['g.rb:2-4'],
    hello: ['h.php:2-4'],
    deploy: ['i.sh:1-3'],
    Pair: ['j.kt:1-1'],
    'Point.move': ['k.swift:2-3'],
  };
  const { sites, unresolved } = await found(t, files, Object.keys(cases));
  t.strictSame(
    sites,
    Object.entries(cases).flatMap(([symbol, places]) => places.map((place) => `${symbol} ${place}`)),
  );
  t.strictSame(unresolved, []);
});

t.test(
  'names that are only called, mentioned or imported are unresolved, as are invalid names',
  async (t) => {
    const names = ['used', 'mentioned', 'imported', 'absent', 'Store.absent', '...', '', 'a b'];
    const { sites, unresolved } = await found(
      t,
      {
        'a.ts':
          'import { imported } from "./b";\nused({\n});\n// function mentioned() {}\nx.function.used;\nclass Store {}\n',
        'b.py': '# def mentioned():\nused(1)\n',
      },
      names,
    );
    t.strictSame(sites, []);
    t.strictSame(unresolved, names);
  },
);

t.test('a path before the symbol limits the search to that file', async (t) => {
  const files = { 'a.ts': 'export function one() {}\n', 'b.ts': 'export function one() {}\n' };
  t.strictSame((await found(t, files, ['b.ts#one'])).sites, ['b.ts#one b.ts:1-1']);
  t.strictSame((await found(t, files, ['b.ts:one'])).sites, ['b.ts:one b.ts:1-1']);
  t.strictSame((await found(t, files, ['one'])).sites, ['one a.ts:1-1', 'one b.ts:1-1']);
});

t.test('a snippet holds the UTF-8 text of its lines, at most 200 of them', async (t) => {
  const { texts, sites } = await found(
    t,
    {
      'a.ts': `export const größe = "ü";\nexport function long() {\n${'  x();\n'.repeat(400)}}\n`,
    },
    ['größe', 'long'],
  );
  t.equal(texts[0], 'export const größe = "ü";\n');
  t.strictSame(sites, ['größe a.ts:1-1', 'long a.ts:2-201']);
});

t.test('a symbol defined in many places gives at most sixteen snippets', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`f${index}.ts`, 'export function many() {}\n'.repeat(30)]),
  );
  t.equal((await found(t, files, ['many'])).sites.length, 16);
});
