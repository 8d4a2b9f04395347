import { execFileSync } from 'node:child_process';
import t from 'tap';
import { printable } from '../../../core/base/printable.ts';
import { branchRef, encodeId, isRefName, requireRefName } from '../../../workspace/git/ref-name.ts';
import { listRefs, readRef, updateRefs } from '../../../workspace/git/refs.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from './sample-repository.ts';

t.test('ref names are validated as git validates them', async (t) => {
  const names = [
    'refs/heads/main',
    'refs/ai/runs/x',
    'refs/a..b',
    'refs/a b',
    'refs/.a',
    'refs/a/.b',
    'refs/a.lock',
    'refs/a.lock/b',
    'refs/a.',
    'refs/a/',
    'refs//a',
    'refs/a~1',
    'refs/a^',
    'refs/a:b',
    'refs/a?',
    'refs/a*',
    'refs/a[',
    'refs/a\\b',
    'refs/a@{b',
    'refs/@',
    'refs/a\nb',
    'refs/a\x7f',
    'refs/ü',
    'refs/-x',
    'refs/a%2Fb',
  ];
  for (const name of names) {
    let gitAgrees = true;
    try {
      execFileSync('git', ['check-ref-format', name], { stdio: 'ignore' });
    } catch {
      gitAgrees = false;
    }
    t.equal(isRefName(name), gitAgrees, JSON.stringify(name));
  }
  for (const name of ['main', '', '--output=x', 'HEAD', `refs/${'x'.repeat(2000)}`])
    t.equal(isRefName(name), false, name);
  t.throws(() => requireRefName('refs/a\nb'), { code: 'REF_INVALID', detail: { ref: 'refs/a\\u000ab' } });
});

t.test('branch names become full refs, and options or HEAD are refused', async (t) => {
  t.equal(branchRef('main'), 'refs/heads/main');
  t.equal(branchRef('refs/heads/a/b'), 'refs/heads/a/b');
  for (const name of ['-x', '--output=x', 'HEAD', 'a..b', 'a\nb', '', 'refs/heads/', 'refs/heads/-x'])
    t.throws(() => branchRef(name), { code: 'REF_INVALID' }, name);
});

t.test('an encoded id is always one ref component and is unique', async (t) => {
  const ids = [
    'plain-id_1',
    'a/b',
    'a%2Fb',
    '../x',
    '..',
    '.',
    'a..b',
    'x.lock',
    'X.LOCK',
    'a.',
    '-x',
    'ü',
    'a\nb',
    'a b',
    '@{',
    '',
    '%',
    'a:b',
    'v1.2.3',
    '字'.repeat(128),
    '字'.repeat(127),
    'x'.repeat(180),
    'x'.repeat(181),
  ];
  const encoded = ids.map(encodeId);
  t.equal(new Set(encoded).size, ids.length);
  for (const [index, name] of encoded.entries()) {
    t.equal(isRefName(`refs/ai/runs/${name}`), true, `${ids[index]}`);
    t.ok(name.length <= 200 && !name.includes('/') && !name.startsWith('-'), name);
  }
  t.equal(encodeId('0198c0de-7abc-7def-8123-456789abcdef'), '0198c0de-7abc-7def-8123-456789abcdef');
  t.equal(encodeId('v1.2.3'), 'v1.2.3');
  t.equal(encodeId('a/b'), 'a%2Fb');
  t.equal(printable('a\u001b[31m\u202e'), 'a\\u001b[31m\\u202e');
});

t.test('refs move together by compare-and-swap, or not at all', async (t) => {
  const sample = makeRepository(t.testdir());
  const one = sample.commit({ a: '1' });
  const two = sample.commit({ a: '2' });
  const repo = await openRepository(sample.dir);
  t.same(
    await updateRefs(
      repo,
      [
        { ref: 'refs/ai/x', old: undefined, new: one },
        { ref: 'refs/ai/y', old: undefined, new: two },
      ],
      'made',
    ),
    { moved: true },
  );
  t.same(await listRefs(repo, 'refs/ai/'), [
    { ref: 'refs/ai/x', object: one },
    { ref: 'refs/ai/y', object: two },
  ]);
  t.same(
    await updateRefs(
      repo,
      [
        { ref: 'refs/ai/x', old: one, new: two },
        { ref: 'refs/ai/y', old: one, new: one },
      ],
      'lost',
    ),
    {
      moved: false,
      stale: [{ ref: 'refs/ai/y', expected: one, found: two }],
    },
  );
  t.equal(await readRef(repo, 'refs/ai/x'), one);
  t.match(await updateRefs(repo, [{ ref: 'refs/ai/x', old: undefined, new: two }], 'exists'), {
    moved: false,
    stale: [{ found: one }],
  });
  t.match(await updateRefs(repo, [{ ref: 'refs/ai/none', old: one, new: two }], 'gone'), {
    moved: false,
    stale: [{ found: undefined }],
  });
  t.same(await updateRefs(repo, [{ ref: 'refs/ai/x', old: one, new: undefined }], 'removed'), {
    moved: true,
  });
  t.equal(await readRef(repo, 'refs/ai/x'), undefined);
  await t.rejects(updateRefs(repo, [{ ref: 'refs/ai/a b', old: undefined, new: one }], 'x'), {
    code: 'REF_INVALID',
  });
  await t.rejects(updateRefs(repo, [{ ref: 'refs/ai/z', old: undefined, new: 'f'.repeat(40) }], 'x'), {
    code: 'GIT_FAILED',
  });
  t.same(await listRefs(repo, 'refs/none'), []);
});
