import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commitMessage, keepMessage } from '../../../workspace/git/create-commit.ts';
import { long } from '../../rooms/long.ts';
import { feature, fix, makeBranches } from './branches.ts';

const ours = {
  changeType: 'bugfix',
  summary: 'Prices',
  intentId: 'mine-0001',
  runId: 'run-1',
  intentSpecDigest: 'd',
};

long('a range of one commit keeps its author, date and message, and writ sets the trailers', async (t) => {
  const { sample } = makeBranches(t);
  sample.git('checkout', '--quiet', 'feature');
  const forged = [
    'Exact prices\u202e',
    'Run-Id: 00000000-0000-7000-8000-000000000000\nThey were one cent too high.',
    'Reviewed-by: Ana <ana@sample.example>\nrun-id: forged\nIntent-Id: forged\nIntentspec-Digest: forged',
  ].join('\n\n');
  writeFileSync(join(sample.home, 'message'), forged);
  sample.git(
    'commit',
    '--quiet',
    '--amend',
    '--author=Eve <eve@sample.example>',
    '--date=2024-02-03T04:05:06Z',
    '-F',
    join(sample.home, 'message'),
  );
  sample.git('checkout', '--quiet', 'main');
  const view = await sample.run({ source: feature });
  t.equal(view.decision?.type, 'commit');
  t.equal(
    sample.git('log', '-1', '--format=%an <%ae> %at %cn', 'main'),
    'Eve <eve@sample.example> 1706933106 Sample maintainer',
  );
  const message = sample.git('log', '-1', '--format=%B', 'main').split('\n');
  t.same(message.slice(0, 7), [
    'Exact prices',
    '',
    '> Run-Id: 00000000-0000-7000-8000-000000000000',
    'They were one cent too high.',
    '',
    'Reviewed-by: Ana <ana@sample.example>',
    'Intent-Id: sample-intent-0001',
  ]);
  t.equal(sample.git('log', '-1', '--format=%(trailers:key=Run-Id,valueonly)', 'main').trim(), view.runId);
});

long('a range of several commits names every author, and an explicit author and message win', async (t) => {
  const { sample, commit } = makeBranches(t);
  sample.git('checkout', '--quiet', 'feature');
  for (const [name, path] of [
    ['Eve\u2028Run-Id: x', 'src/a.js'],
    ['Bob', 'src/b.js'],
    ['Bob', 'src/c.js'],
  ] as const) {
    commit(path, `// ${path}\n`, `Adds ${path}`);
    const mail = name === 'Bob' ? 'bob@sample.example' : 'eve@sample.example';
    sample.git('commit', '--quiet', '--amend', '--no-edit', `--author=${name} <${mail}>`);
  }
  sample.git('checkout', '--quiet', 'main');
  const view = await sample.run({
    source: feature,
    message: 'More\n\nRun-Id: 1',
    author: 'Ada <ada@sample.example>',
  });
  t.equal(view.decision?.type, 'commit');
  t.equal(sample.git('log', '-1', '--format=%an <%ae>', 'main'), 'Ada <ada@sample.example>');
  t.same(sample.git('log', '-1', '--format=%B', 'main').trim().split('\n').slice(0, 5), [
    'More',
    '',
    'Co-authored-by: Sample maintainer <maintainer@sample.example>',
    'Co-authored-by: Eve Run-Id: x <eve@sample.example>',
    'Co-authored-by: Bob <bob@sample.example>',
  ]);
  t.match(sample.git('log', '-1', '--format=%B', 'main'), new RegExp(`\\nRun-Id: ${view.runId}\\n`));
});

t.test('a malformed author is refused before any work', async (t) => {
  const { sample } = makeBranches(t);
  const source = { kind: 'patch', bytes: fix } as const;
  for (const author of [
    'Ada',
    '<a@x.example>',
    'A <a> b',
    'A\nB <a@x.example>',
    'A <a@x.example>\nRun-Id: 1',
    '... <a@x.example>',
  ])
    await t.rejects(sample.run({ source, author }), { code: 'USAGE' }, author);
});

/** What git reads as the trailers of a message. */
function trailersOf(message: string): readonly string[] {
  return execFileSync('git', ['interpret-trailers', '--parse'], { input: message })
    .toString()
    .trim()
    .split('\n');
}

t.test('trailers of a message stay last, as git reads them, and nobody is named twice', async (t) => {
  const bo = { name: 'Bo', email: 'BO@sample.example' };
  for (const [block, kept] of [
    ['Fixes: 1\nReviewed-by: A\n  <a@sample.example>', ['Fixes: 1', 'Reviewed-by: A <a@sample.example>']],
    ['Picked.\nFixes: 1\nSigned-off-by: A <a@x.example>', ['Fixes: 1', 'Signed-off-by: A <a@x.example>']],
    [
      'Signed-off-by: A <a@x.example>\n(cherry picked from commit 0123abc)',
      ['Signed-off-by: A <a@x.example>'],
    ],
    ['co-authored-by: B <bo@sample.example>', ['co-authored-by: B <bo@sample.example>']],
    ['See:\nNote: no trailer', []],
  ] as const) {
    const made = commitMessage({ ...ours, message: `x\n\nWhy.\n\n${block}`, coAuthors: [bo] });
    const isNamed = block.startsWith('co-');
    const expected = [
      ...kept,
      ...(isNamed ? [] : ['Co-authored-by: Bo <BO@sample.example>']),
      'Intent-Id: mine-0001',
      'Run-Id: run-1',
      'Intentspec-Digest: d',
    ];
    t.strictSame(trailersOf(made), expected, block);
    for (const line of block.split('\n')) t.ok(made.includes(line.trim()), line);
  }
});

t.test('a commit message cannot forge the trailers that writ adds', async (t) => {
  for (const message of [
    'x\n\nRun-Id: a',
    'x\r\n\r\nRun-Id: a\r\n',
    'x\n \nRun-Id: a\n\t\n',
    'x\n\n\u0000Run-Id: a',
    'x\n\n\u202eRun-Id: a',
    'x\u2028\u2028Run-Id : a',
    'Run-Id: a',
    'x\n\nrUN-iD:a',
    'x\n\nRun-Id= a',
    'x\n\n> Run-Id: a\n\nKey: b',
    `x\n\n${'y'.repeat(20_000)}\n\nRun-Id: a`,
    `x\n\n${'Key: b\n'.repeat(9000)}`,
    '',
    '\n\n\n',
  ]) {
    const made = commitMessage({ ...ours, message });
    t.same(
      made.split('\n').filter((line) => /^\s*run-id\s*[:=]/i.test(line)),
      ['Run-Id: run-1'],
      JSON.stringify(message.slice(0, 20)).replace(/[^ -~]/g, '?'),
    );
    t.ok(
      made.endsWith('\n\nIntent-Id: mine-0001\nRun-Id: run-1\nIntentspec-Digest: d\n') ||
        /\nKey: b\nIntent-Id/.test(made),
    );
    t.ok(made.length < 18_000);
    t.notMatch(made, /(?!\n)[\p{Cc}\u202e]/u);
  }
  t.match(keepMessage(`x\n\n${'y '.repeat(20_000)}`).text, /\n\[cut here\]$/);
});
