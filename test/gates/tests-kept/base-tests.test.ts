import t from 'tap';
import type { ChangeType, PatchFile } from '../../../core/interfaces/patch-set.ts';
import { baseTests } from '../../../gates/tests-kept/base-tests.ts';

const file = (changeType: ChangeType, path: string, linesDeleted = 0, oldPath?: string): PatchFile => ({
  path,
  ...(oldPath === undefined ? {} : { oldPath }),
  changeType,
  ...(changeType === 'add' ? {} : { oldMode: '100755', oldBlob: `blob of ${oldPath ?? path}` }),
  binary: false,
  linesAdded: 1,
  linesDeleted,
  start: 0,
  end: 0,
});
const laid = (...files: PatchFile[]): readonly string[] => [...baseTests({ patch: { files } })].sort();

t.test('`baseTests` is empty if no test file of the base changes', async (t) => {
  t.same(laid(file('add', 'b_test.go'), file('modify', 'src/a.js', 9)), []);
  t.same(laid(file('modify', 'test/a.test.js')), ['test/a.test.js'], 'an added line may end a case');
});

t.test('`baseTests` names changed test files, and new files of cases', async (t) => {
  t.same(
    laid(
      file('modify', 'price/a_test.go', 3),
      file('modify', 'price/gains_test.go'),
      file('add', 'price/new_test.go'),
      file('add', 'integration/slack.go'),
      file('modify', 'price/price.go', 2),
      file('delete', 'test/fixtures/old.json', 4),
      file('rename', 'src/x.spec.js', 0, 'src/x.test.js'),
      file('rename', 'lib/support.js', 1, 'test/support.js'),
    ),
    [
      'price/a_test.go',
      'price/gains_test.go',
      'price/new_test.go',
      'src/x.spec.js',
      'src/x.test.js',
      'test/fixtures/old.json',
      'test/support.js',
    ],
  );
  const swapped = laid(
    file('rename', 'b.test.js', 1, 'a.test.js'),
    file('rename', 'a.test.js', 1, 'b.test.js'),
  );
  t.same([...new Set(swapped)], ['a.test.js', 'b.test.js']);
});
