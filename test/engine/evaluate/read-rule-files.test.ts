import t from 'tap';
import { readRuleFiles } from '../../../engine/evaluate/read-reports.ts';
import { makeBench } from '../../workspace/patch/patched.ts';

const add = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const move = (from: string, to: string): string =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;

t.test('a rule receives only the changed files that match its `reads` patterns', async (t) => {
  const bench = await makeBench({ 'old.ts': 'old\n', 'kept.ts': 'kept\n' });
  const patch = await bench.apply(add('new.ts') + add('note.md') + move('old.ts', 'old.txt'));
  const read = async (rule: Parameters<typeof readRuleFiles>[2]) =>
    Object.keys(await readRuleFiles(bench.scratch, patch, rule)).sort();
  t.strictSame(await read({ reads: ['**/*.ts'] }), ['new.ts', 'old.txt'], 'what it was called counts');
  t.strictSame(await read({ reads: ['**/*.ts'], readsUnchanged: true }), ['kept.ts', 'new.ts', 'old.txt']);
  t.strictSame(await read({ reads: ['**/*.py'], readsUnchanged: true }), []);
  t.strictSame(await read({}), []);
});
