import t from 'tap';
import type { ChangeType, PatchFile } from '../../../../../core/contract/patch-set.ts';
import { baseTests } from '../../../../../engine/run/judge/expectations/base-tests.ts';

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
const laid = (...files: PatchFile[]): Record<string, unknown> =>
  Object.fromEntries(
    [...baseTests(files)].map(([path, leaf]) => [path, typeof leaf === 'object' ? leaf.object : leaf]),
  );

t.test('`baseTests` is empty if no test file lost a line', async (t) => {
  t.same(laid(file('modify', 'test/a.test.js'), file('add', 'b_test.go'), file('modify', 'src/a.js', 9)), {});
});

t.test('`baseTests` restores each changed test file to its base version once', async (t) => {
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
    {
      'price/a_test.go': 'blob of price/a_test.go',
      'price/gains_test.go': 'blob of price/gains_test.go',
      'price/new_test.go': undefined,
      'test/fixtures/old.json': 'blob of test/fixtures/old.json',
      'src/x.spec.js': undefined,
      'src/x.test.js': 'blob of src/x.test.js',
      'test/support.js': 'blob of test/support.js',
    },
  );
  const swapped = laid(
    file('rename', 'b.test.js', 1, 'a.test.js'),
    file('rename', 'a.test.js', 1, 'b.test.js'),
  );
  t.same(swapped, { 'b.test.js': 'blob of b.test.js', 'a.test.js': 'blob of a.test.js' });
});
