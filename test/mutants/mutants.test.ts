import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { describeMutant, type Mutant } from '../../scripts/mutants/mutant.ts';
import { mutateSource } from '../../scripts/mutants/mutate-source.ts';
import { sampleEvenly } from '../../scripts/mutants/sample-evenly.ts';
import { survivors } from '../../scripts/mutants/survivors.ts';
import { describeTestFile } from '../../scripts/mutants/test-files.ts';
import { testsOfLine } from '../../scripts/mutants/tests-of-line.ts';

const root = join(import.meta.dirname, '../..');

/** Every change of a text, by what it is. */
async function changesOf(text: string): Promise<readonly string[]> {
  const mutants = await mutateSource('a.ts', text);
  return mutants.map((mutant) => `${mutant.operator}: ${describeMutant(text, mutant).change}`);
}

t.test('conditions, operators, constants, elements and calls are changed, one at a time', async (t) => {
  const rows: readonly (readonly [text: string, changes: readonly string[]])[] = [
    ['if (a) b = c;', ['if removed: if (a) b = c; → ;', 'negated: (a) → (!(a))']],
    ['if (a) b(); else c();', ['negated: (a) → (!(a))', 'call removed: b(); → ;', 'call removed: c(); → ;']],
    ['const x = a && b;', ['operator: && → ||']],
    ['const x = a < 3;', ['operator: < → <=', 'off by one: 3 → 4']],
    ['const x = a === b ? 1 : 2;', ['negated: a === b → !(a === b)', 'operator: === → !==']],
    ['const x = a ?? b;', ['default removed: a ?? b → a']],
    ['const x = true;', ['constant: true → false']],
    ["const x = ['a', b];", ["empty text: 'a' → ''", "element removed: 'a', → ", 'element removed: , b → ']],
    ['const x = a.filter(b);', ['filter removed: a.filter(b) → a']],
    ['const x = a.some(b);', ['quantifier: some → every']],
    ['await a();', ['awaited call removed: await a(); → ;']],
    ['throw a;', ['throw removed: throw a; → ;']],
  ];
  for (const [text, changes] of rows) t.strictSame(await changesOf(text), changes, text);
});

t.test('types, modules, sentences and limits are left alone', async (t) => {
  for (const text of [
    "import { a } from './a.ts';",
    "export { a } from './a.ts';",
    "type A = true | 1 | 'a';",
    "interface A { readonly a: 'b' }",
    "let a: 'b' | undefined;",
    'const a = b as 1;',
    "const a = import('./a.ts');",
    "const a = { message: 'never' };",
    "const a = 'two words';",
    "const a = '/place';",
    'const a = b * 1024;',
  ])
    t.strictSame(await changesOf(text), [], text);
});

t.test('a mutant knows the line that it changes', async (t) => {
  const text = 'const a = 1;\n\n  if (a) b();\n';
  const [first] = await mutateSource('a.ts', text);
  t.match(first, { file: 'a.ts', line: 3 });
  t.equal(first && describeMutant(text, first).line, 'if (a) b();');
});

t.test('a sample is the same for its seed, has one mutant of a line, and reaches every part', async (t) => {
  const texts = new Map(
    ['a.ts', 'b.ts', 'c.ts'].map((file) => [
      file,
      Array.from({ length: 40 }, (_, at) => `if (a${at} && c) b();\nif (a) b();\n`).join(''),
    ]),
  );
  const mutantsOf = async (all: ReadonlyMap<string, string>) =>
    (await Promise.all([...all].map(([file, text]) => mutateSource(file, text)))).flat();
  const mutants = await mutantsOf(texts);
  const sample = sampleEvenly(texts, mutants, 60, 7);
  t.strictSame(sampleEvenly(texts, mutants, 60, 7), sample);
  t.notSame(sampleEvenly(texts, mutants, 60, 8), sample);
  t.equal(new Set(sample.map(({ file, line }) => `${file}:${line}`)).size, 60);
  for (const [file, { length }] of Map.groupBy(sample, ({ file }) => file))
    t.ok(length > 10 && length < 30, `${file}: ${length}`);
  t.equal(sampleEvenly(texts, mutants, 1000, 7).length, 240, 'one of each line where there are no more');

  const moved = new Map(texts).set('a.ts', `if (z) y();\n${texts.get('a.ts')}`);
  const what = (of: ReadonlyMap<string, string>, drawn: readonly Mutant[]) =>
    drawn.map((one) => `${one.file} ${describeMutant(of.get(one.file) ?? '', one).line} ${one.operator}`);
  const before = what(texts, sample);
  const after = new Set(what(moved, sampleEvenly(moved, await mutantsOf(moved), 60, 7)));
  t.ok(before.filter((one) => !after.has(one)).length <= 1, 'a line more draws no other lines anew');
});

t.test(
  'the tests of a line are those that run it, its own first, then the quickest, last what fails',
  async (t) => {
    const ran = (seconds: number, lines: readonly number[], passed = true) => ({
      digest: '',
      passed,
      seconds,
      lines: { 'x/a.ts': lines },
    });
    const map = {
      sources: { 'x/a.ts': 'now' },
      tests: {
        'test/x/a.test.ts': ran(3, [1, 2]),
        'test/z/importing.test.ts': ran(2, [2]),
        'test/x/b.test.ts': ran(1, [2]),
        'test/speaking.test.ts': ran(1, [2]),
        'test/slow.test.ts': ran(7, [2]),
        'test/quick.test.ts': ran(1, [2]),
        'test/other.test.ts': ran(1, [1]),
        'test/broken.test.ts': ran(1, [2], false),
        'test/gone.test.ts': ran(1, [2]),
      },
    };
    const texts: Record<string, string> = {
      'test/z/importing.test.ts': "import { a } from '../../x/a.ts';",
      'test/speaking.test.ts': "t.equal(refusal, 'blinded');",
      'test/x/unseen.test.ts': '',
      'test/y/a.test.ts': '',
    };
    const there = [...Object.keys(map.tests).filter((test) => !test.includes('gone')), ...Object.keys(texts)];
    const files = new Map(there.map((test) => [test, describeTestFile(test, texts[test] ?? '')]));
    const names = (line: number, digest: string, file = 'x/a.ts') =>
      testsOfLine(
        map,
        { file, line, around: "if (a) throw 'blinded';", digest, importers: ['x/a.ts'] },
        files,
      ).map(({ test }) => test);
    t.strictSame(names(2, 'now'), [
      'test/x/a.test.ts',
      'test/z/importing.test.ts',
      'test/speaking.test.ts',
      'test/x/b.test.ts',
      'test/quick.test.ts',
      'test/x/unseen.test.ts',
      'test/slow.test.ts',
      'test/broken.test.ts',
    ]);
    t.strictSame(names(3, 'now'), ['test/x/unseen.test.ts']);
    t.equal(names(3, 'changed since').length, 9, 'of a source that was changed nobody knows the lines');
    t.strictSame(
      new Set(names(3, 'now', 'x/new.ts')),
      new Set(names(3, 'changed since')),
      'what the map has not seen is run by who runs what imports it',
    );
  },
);

t.test('every survivor stands where it is looked for, and has a reason', async (t) => {
  for (const { file, line, change, reason } of survivors) {
    const text = readFileSync(join(root, file), 'utf8');
    const found = (await mutateSource(file, text))
      .map((mutant) => describeMutant(text, mutant))
      .filter((one) => one.line === line && one.change === change);
    t.equal(found.length > 0, true, `${file}: ${line}: ${change}`);
    t.ok(reason.length > 10, reason);
  }
});
