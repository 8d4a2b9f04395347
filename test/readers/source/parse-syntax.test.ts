import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { createPool, evaluateRuleTask } from '../../../core/kernel/worker/pool.ts';
import { shippedGrammar } from '../../../gates/direct-eval/scan-change.ts';
import { rules } from '../../../gates/rules.ts';
import { toRuleInput } from '../../../plugins/testers/gate-tester.ts';
import {
  dropRuntime,
  parseBudget,
  parseSyntax,
  plainText,
} from '../../../readers/source/grammar/parse-syntax.ts';
import type { GrammarName } from '../../../readers/source/grammar/syntax-tree.ts';
import { long } from '../../rooms/long.ts';

const names: readonly GrammarName[] = [
  'bash',
  'c-sharp',
  'go',
  'groovy',
  'java',
  'javascript',
  'kotlin',
  'php',
  'python',
  'ruby',
  'scala',
  'tsx',
  'typescript',
];

t.test('every grammar loads once and parses text', async (t) => {
  for (const name of names) {
    const grammar = await shippedGrammar(name);
    t.equal(await shippedGrammar(name), grammar, name);
    t.ok((parseSyntax(grammar, 'a;\n')?.nodes.length ?? 0) > 1, name);
  }
});

/** Bytes of every function of a module (WebAssembly core specification, 5.5.13). */
function functionLengths(file: string): readonly number[] {
  const bytes = readFileSync(new URL(import.meta.resolve(file)));
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const id = bytes[at++];
    const end = number() + at;
    if (id === 10) {
      const lengths: number[] = [];
      for (let left = number(); left > 0; left -= 1) {
        const length = number();
        lengths.push(length);
        at += length;
      }
      return lengths;
    }
    at = end;
  }
  return [];
}

const texts = {
  bash: 'f() { if [ "$1" = x ]; then echo "a $b" | grep -e c; fi; }\n',
  typescript: 'const a = (b: string): c<d> => f(b.g, { h: [1, 2.5], i: /j/ });\n',
};

long('grammar functions are never optimised, while runtime functions are', async (t) => {
  const ofRuntime = new Set(functionLengths('web-tree-sitter/web-tree-sitter.wasm'));
  for (const [name, text] of Object.entries(texts)) {
    const all = functionLengths(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`);
    const own = new Set(all.filter((length) => length > 1000 && !ofRuntime.has(length)));
    t.ok(own.size > 0);
    const script = `
    const at = (path) => new URL(path, ${JSON.stringify(new URL('../../../', import.meta.url).href)});
    const { shippedGrammar } = await import(at('gates/direct-eval/scan-change.ts'));
    const { parseSyntax } = await import(at('readers/source/grammar/parse-syntax.ts'));
    const grammar = await shippedGrammar(${JSON.stringify(name)});
    const text = ${JSON.stringify(text)}.repeat(400);
    for (let round = 0; round < 12; round += 1) parseSyntax(grammar, text);`;
    const { stdout } = spawnSync(
      process.execPath,
      ['--trace-wasm-compilation-times', '--wasm-sync-tier-up', '--input-type=module', '-e', script],
      { encoding: 'utf8', maxBuffer: 1e8 },
    );
    const optimised = [...stdout.matchAll(/using TurboFan.*bodysize (\d+)/g)].map(([, bytes]) =>
      Number(bytes),
    );
    t.ok(optimised.some((length) => ofRuntime.has(length)));
    t.same(
      optimised.filter((length) => own.has(length)),
      [],
      name,
    );
  }
});

t.test('node offsets start at the given offset', async (t) => {
  const tree = parseSyntax(await shippedGrammar('javascript'), 'f(x)', { offset: 100 });
  t.match(
    tree?.nodes.find(({ type }) => type === 'call_expression'),
    { start: 100, end: 104 },
  );
});

t.test('gives up when the budget is used up and still parses the next text', async (t) => {
  const grammar = await shippedGrammar('javascript');
  const budget = { steps: 10, pieces: 1_000 };
  t.equal(parseSyntax(grammar, 'f({[('.repeat(4_000), { budget }), undefined);
  t.ok(budget.steps < 0, 'steps are counted');
  const next = parseSyntax(await shippedGrammar('javascript'), 'f(x)');
  t.ok(next && next.faults.length === 0);
});

t.test('a scanner that reads the rest of the text for each token uses up the pieces', async (t) => {
  const text = '<<E\n'.repeat(50_000);
  const budget = parseBudget(text.length);
  t.equal(parseSyntax(await shippedGrammar('bash'), text, { budget }), undefined);
  t.ok(budget.pieces < 0 && budget.steps > 0);
  const next = parseSyntax(await shippedGrammar('bash'), 'cat <<E\na\nE\n');
  t.ok(next && next.faults.length === 0);
});

t.test('a tree does not depend on where pieces end', async (t) => {
  const text = `/* ${'é'.repeat(5_000)} */\nconst name = "${'a'.repeat(9_000)}";\n`.repeat(3);
  const tree = parseSyntax(await shippedGrammar('javascript'), text);
  t.equal(tree?.faults.length, 0);
  const strings = tree?.nodes.filter(({ type }) => type === 'string') ?? [];
  t.same(
    strings.map(({ start, end }) => end - start),
    [9_002, 9_002, 9_002],
  );
});

t.test('loads grammars into a new runtime after the old one was dropped', async (t) => {
  const before = await shippedGrammar('python');
  dropRuntime();
  const after = await shippedGrammar('python');
  t.not(after, before);
  t.ok(parseSyntax(after, 'f(x)\n'));
});

t.test('plain text keeps every offset', async (t) => {
  const bytes = Buffer.from('a\u00a0b\u2028c\ufeffé→').toString('latin1');
  const plain = plainText(bytes);
  t.equal(plain.length, bytes.length);
  t.match(plain, /^a {2}b {2}\nc {3}[\u0100-\u017f]{5}$/);
});

t.test('a rule parses with grammars in worker threads', async (t) => {
  const pool = createPool({ clock: systemClock, threads: Math.min(2, availableParallelism()) });
  t.teardown(() => pool.close());
  const module = rules.find(({ id }) => id === 'no-direct-eval')?.module.href ?? '';
  const asked = ['a.js', 'b.ts', 'c.tsx'].map((path) => {
    const input = toRuleInput({
      name: path,
      files: { [path]: { candidate: 'const run = eval;\nrun(x);\n' } },
    });
    return pool.run(evaluateRuleTask, { id: 'no-direct-eval', module, input }, { timeoutMs: 60_000 });
  });
  for (const outcome of await Promise.all(asked)) t.match(outcome, { ok: true, value: [{ line: 2 }] });
});

t.test('a NUL byte does not hide the code behind it', async (t) => {
  const rule = rules.find(({ id }) => id === 'no-direct-eval');
  const { judge } = await import('../../../gates/rules/no-direct-eval.ts');
  const files = { 'a.js': { candidate: 'const x = 1; /*\0*/ eval(x);\n' } };
  t.match(await judge(toRuleInput({ name: 'nul', files }, rule)), [
    { severity: 'error', line: 1, column: 20 },
  ]);
});
