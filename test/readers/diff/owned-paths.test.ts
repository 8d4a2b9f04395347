import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import {
  ownedPathsIn,
  parseOwners,
  withApprovals,
  withoutAuthors,
} from '../../../readers/diff/owned-paths.ts';

const groups = { '@org/pay': ['ann@x.example', 'ben@x.example'], '@ann': ['ann@x.example'] };
const isKnown = (name: string) => name.endsWith('@x.example');
const read = (text: string) => parseOwners(Buffer.from(text), groups, isKnown);
const change = (path: string) => ({ path, changeType: 'modify' as const });

/** The patterns that decide about these paths. */
function patternsOf(text: string, ...paths: readonly string[]): readonly string[] {
  return ownedPathsIn(read(text), paths.map(change)).map(({ pattern }) => pattern);
}

const one = (pattern: string) => `${pattern} ann@x.example`;

t.test('a pattern covers the paths that CODEOWNERS documents for it', async (t) => {
  for (const [pattern, covered, others] of [
    ['*', ['a.js', 'deep/er/a.js'], []],
    ['**', ['a.js', 'deep/a.js'], []],
    ['/*', ['a.js'], ['deep/a.js']],
    ['*.js', ['a.js', 'deep/a.js'], ['a.jsx', 'a.JS']],
    ['/build/logs/', ['build/logs/x', 'build/logs/deep/x'], ['build/logs', 'src/build/logs/x']],
    ['docs/*', ['docs/start.md'], ['docs/app/fault.md', 'src/docs/start.md']],
    ['docs/**', ['docs/start.md', 'docs/app/fault.md'], ['docs', 'src/docs/start.md']],
    ['apps/', ['apps/x', 'deep/apps/x/y'], ['apps']],
    ['**/logs', ['logs', 'build/logs', 'deep/build/logs/x'], ['logs.txt']],
    ['/src/**/test/*.js', ['src/test/a.js', 'src/deep/er/test/a.js'], ['src/test/deep/a.ts', 'test/a.js']],
    ['/pay', ['pay', 'pay/a.js'], ['payment', 'src/pay']],
    ['a?c.js', ['abc.js', 'x/abc.js'], ['ac.js', 'a/c.js']],
    ['a*b*c', ['abc', 'a1b2c', 'x/abbc/y'], ['ab', 'a/b/c']],
    ['/with\\ blank/', ['with blank/a'], ['with', 'with\\ blank/a']],
    ['{a,b}', ['{a,b}'], ['a', 'b']],
  ] as const) {
    for (const path of covered) t.strictSame(patternsOf(one(pattern), path), [pattern], `${pattern} ${path}`);
    for (const path of others) t.strictSame(patternsOf(one(pattern), path), [], `${pattern} not ${path}`);
  }
});

t.test('the last pattern that matches decides, and one without an owner removes the demand', async (t) => {
  const text = '# all\n* ann@x.example # by default\n\n/pay/ @org/pay\n/pay/docs/\n/pay/docs/api.md @ann\r\n';
  t.strictSame(patternsOf(text, 'a', 'pay/a', 'pay/b'), ['*', '/pay/']);
  t.strictSame(patternsOf(text, 'pay/docs/a'), []);
  t.strictSame(patternsOf(text, 'pay/docs/api.md'), ['/pay/docs/api.md']);
  t.strictSame(ownedPathsIn(read(text), ['pay/b', 'pay/a', 'pay/a'].map(change)), [
    {
      pattern: '/pay/',
      owners: ['@org/pay'],
      principals: ['ann@x.example', 'ben@x.example'],
      paths: ['pay/a', 'pay/b'],
      count: 2,
      approved: [],
    },
  ]);
});

t.test('both names of a moved file count, and the source of a copy does not', async (t) => {
  const text = '/pay/ ann@x.example\n/new/ ben@x.example';
  const moved = { path: 'new/a', oldPath: 'pay/a', changeType: 'rename' as const };
  const patterns = (files: Parameters<typeof ownedPathsIn>[1]) =>
    ownedPathsIn(read(text), files).map(({ pattern }) => pattern);
  t.strictSame(patterns([moved]), ['/pay/', '/new/']);
  t.strictSame(patterns([{ ...moved, changeType: 'copy' }]), ['/new/']);
  t.strictSame(patterns([{ path: 'pay/a', changeType: 'delete' }]), ['/pay/']);
});

t.test('an owner has approved only with an approval that counts', async (t) => {
  const owned = ownedPathsIn(read('* @org/pay'), [change('a')]);
  const approvedBy = (decision: 'approve' | 'reject', status: string, principal: string) =>
    withApprovals(owned, [{ decision, status, principal }])[0]?.approved;
  t.strictSame(approvedBy('approve', 'counts', 'Ben@x.example'), ['Ben@x.example']);
  t.strictSame(approvedBy('approve', 'counts', 'eve@x.example'), []);
  t.strictSame(approvedBy('approve', 'author', 'ben@x.example'), []);
  t.strictSame(approvedBy('reject', 'counts', 'ben@x.example'), []);
});

t.test('an author is not among those whom a change waits for', async (t) => {
  const owned = ownedPathsIn(read('* ann@x.example ben@x.example @org/pay'), [change('a.js')]);
  const left = (...authors: readonly string[]) => withoutAuthors(owned, authors)[0]?.owners;
  t.strictSame(left('Ann <ANN@x.example>'), ['ben@x.example', '@org/pay']);
  t.strictSame(left('@org/pay', 'ben@x.example', 'ann@x.example'), []);
  t.strictSame(left('Eve <eve@x.example>'), owned[0]?.owners);
});

t.test('refuses lines that it cannot read and owners that no one knows, all of them by name', async (t) => {
  const issuesOf = (text: string | Uint8Array) => {
    try {
      parseOwners(Buffer.from(text), groups, isKnown);
    } catch (fault) {
      if (fault instanceof WritError && fault.code === 'CONFIG_INVALID') return fault.detail.issues;
      throw fault;
    }
    return [];
  };
  for (const [text, path, message] of [
    ['!/docs/ ann@x.example', 'line 1', /negated/],
    ['[ab].js ann@x.example', 'line 1', /ranges/],
    ['"/pay/" ann@x.example', 'line 1', /quotes/],
    ['\\#a ann@x.example', 'line 1', /backslash/],
    ['a//b ann@x.example', 'line 1', /expected a path/],
    ['../b ann@x.example', 'line 1', /expected a path/],
    ['/ ann@x.example', 'line 1', /expected a path/],
    ['* eve@y.example', 'line 1', /`eve@y.example` is unknown: `.writ\/allowed_signers`/],
    ['* @org/none', 'line 1', /`@org\/none` is unknown.*`\[approvals.groups\]`/],
    ['* @org/pay/x', 'line 1', /is no `@user`/],
    ['* @', 'line 1', /is no `@user`/],
    [`* ${'ann@x.example '.repeat(65)}`, 'line 1', /at most 64/],
    [`${'a'.repeat(1025)} ann@x.example`, 'line 1', /at most 1024/],
    ['* ann@x.example\n'.repeat(2001), '', /at most 2000/],
    ['#'.repeat(256 * 1024 + 1), '', /bytes/],
    [Buffer.from([0x2a, 0x20, 0xff]), '', /UTF-8/],
  ] as const)
    t.match(issuesOf(text), [{ path, message }], String(text).slice(0, 40));
  const both = '* eve@y.example\n\n[a] ann@x.example';
  t.match(issuesOf(both), [{ path: 'line 1' }, { path: 'line 3' }]);
});
