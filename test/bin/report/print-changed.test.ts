import t from 'tap';
import type { ChangedSince } from '../../../api/run/approve-run.ts';
import { printChanged } from '../../../bin/report/words.ts';
import type { Part } from '../../../bin/terminal/print.ts';

const change: ChangedSince = {
  people: ['ann@x.example', 'ben@x.example'],
  base_commit: '1'.repeat(40),
  candidate_tree: '2'.repeat(40),
  patch: 'changed',
  diff: ['@@', '-+  added', '++   added'],
  left_out: 7,
  verdict: ['check `unit` (fast): 3 tests passed, were 2'],
};

function printed(...changes: readonly ChangedSince[]): readonly string[] {
  const lines: string[] = [];
  const write = (...parts: readonly Part[]): void => {
    lines.push(parts.map((part) => (typeof part === 'string' ? part : part.text)).join(''));
  };
  printChanged(write, changes, '3'.repeat(40));
  return lines;
}

t.test('`printChanged` shows the difference of the patches and of the verdicts', async (t) => {
  t.strictSame(printed(), []);
  t.strictSame(printed(change), [
    `changed  since ann@x.example, ben@x.example signed for tree ${'2'.repeat(40)}`,
    `  base       was ${'1'.repeat(40)}`,
    '  patch      changed:',
    '    @@',
    '    -+  added',
    '    ++   added',
    '    … 7 more lines',
    '  verdict    check `unit` (fast): 3 tests passed, were 2',
    `  see it     git diff ${'2'.repeat(40)} ${'3'.repeat(40)}`,
  ]);
  const same = printed({ ...change, patch: 'same', diff: [], left_out: 0, verdict: [] });
  t.ok(same.includes('  patch      the same octet by octet'));
  t.ok(same.includes('  verdict    the same'));
});
