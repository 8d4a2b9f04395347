import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { wordingFindings } from '../../../engine/evaluate/evaluate-rules.ts';
import { maskStated } from '../../../engine/open/read-authorship.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { readMail } from '../../../workspace/patch/mail.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { add, plain, token, tracesOf } from './scene.ts';

const nobody = { authors: [], committers: [] };
const refusedIn = (message: string, summary = 'Prices'): readonly string[] =>
  maskStated({ message }, nobody, summary, []).wording.refused ?? [];

long('a token in a commit message of a range is refused and not stored again', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  sample.git('checkout', '--quiet', '-b', 'feature');
  writeFileSync(join(sample.root, 'src/more.js'), 'export const more = 1;\n');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', `More\n\nWith ${token}.`);
  sample.git('checkout', '--quiet', 'main');
  const before = tracesOf(sample, token);
  const source = { kind: 'range', range: 'main..feature' } as const;
  const view = await sample.run({ source }, plain);
  t.equal(view.decision?.type, 'abandon');
  t.match(view.findings, [
    {
      rule: 'secrets',
      severity: 'error',
      message:
        /the message of the commit that would be sealed holds what looks like a secret: .*`--message TEXT`/,
      detail: { wording: 'message' },
    },
  ]);
  t.strictSame(tracesOf(sample, token), before, 'it stands where the person had it, and nowhere else');
  const kept = sample.git('show', `refs/ai/content/${view.runId}:patchset.diff`);
  t.match(kept, /\+export const more = 1;/, 'the patch was not refused for its words');
  const other = await sample.run({ source, message: 'More' }, plain);
  t.equal(other.decision?.type, 'commit', other.decision?.rationale ?? '');
  t.strictSame(tracesOf(sample, token), before);
});

t.test('a secret is found in any part of a message, in people and in the summary', (t) => {
  const person = (name: string, email: string) => ({ name, email });
  t.same(refusedIn(`x\n\nReviewed-by: ${token} <a@sample.example>`), ['message']);
  t.same(
    refusedIn(`x ${token.slice(0, 10)}\u0001${token.slice(10)}`),
    ['message'],
    'parts that sealing joins',
  );
  t.same(refusedIn('x\n\nsee https://ana:Zq8vXw3Lm5Rt9KpY2nHd@example.org/'), ['message']);
  const people = maskStated(
    { author: person(token, 'a@sample.example'), coAuthors: [person('B', `${token}@sample.example`)] },
    { authors: [`${token} <a@sample.example>`, `${token} <c@sample.example>`], committers: [] },
    'Prices',
    [],
  );
  t.same(people.wording.refused, ['author', 'people']);
  t.notMatch(JSON.stringify(people), new RegExp(token));
  t.same(maskStated({}, nobody, `Uses ${token}`, []).wording.refused, ['summary']);
  t.same(refusedIn('x', `Uses ${token}`), [], 'a summary that is not sealed');
  t.equal(wordingFindings({ refused: ['message', 'author', 'people', 'summary'] }).length, 4);
  t.end();
});

t.test('a message without secrets stays unchanged', (t) => {
  for (const message of [
    'fix: rotate the token\n\nThe password is read from $PASSWORD now.',
    'x\n\nChange-Id: I8473b95934b5732ac55d26311a706c9c2bde9940\nSigned-off-by: Ana <ana@sample.example>',
    `Revert "x"\n\nThis reverts commit ${'8473b95934b5732ac55d26311a706c9c2bde9940'}.`,
    'docs: api_key=YOUR_API_KEY, postgres://user:password@localhost/db',
    'x\n\nsecret: see the vault\ntoken: <token>\nhttps://example.org/a?b=c',
    'Intentspec-Digest: f5bb872b6c7d1f1d0c1f3b8a8a7c9c1c7b0ff4c5d5e7c1a2b3c4d5e6f7a8b9c0',
  ]) {
    t.same(refusedIn(message), [], message);
    t.equal(maskStated({ message }, nobody, '', []).wording.message, message);
  }
  t.end();
});

const change = add('src/more.js', 'export const more = 1;');
const mail = (...lines: readonly string[]): string =>
  [
    'From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001',
    'From: =?UTF-8?q?J=C3=B6rg?= <joerg@sample.example>',
    'Date: Sat, 3 Feb 2024 05:05:06 +0100',
    'Subject: [PATCH 1/2] Exact prices, everywhere and at',
    ' any time',
    '',
    ...lines,
    '---',
    ' src/more.js | 1 +',
    ' 1 file changed, 1 insertion(+)',
    '',
    `${change}-- `,
    '2.40.0',
    '',
    '',
  ].join('\n');

long('a mail keeps its author, date, subject and body, as in `git am`', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const body = ['They were one cent too high.', '', 'Reported-by: Bo <bo@sample.example>'];
  const bytes = Buffer.from(mail(...body));
  const view = await sample.run({ source: { kind: 'patch', bytes } }, plain);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(
    sample.git('log', '-1', '--format=%an <%ae> %at', 'main'),
    'Jörg <joerg@sample.example> 1706933106',
  );
  t.same(sample.git('log', '-1', '--format=%B', 'main').split('\n').slice(0, 6), [
    'Exact prices, everywhere and at any time',
    '',
    'They were one cent too high.',
    '',
    'Reported-by: Bo <bo@sample.example>',
    'Intent-Id: sample-intent-0001',
  ]);
  const repository = await openRepository(sample.root);
  const read = (text: string) => readMail(repository, Buffer.from(text));
  t.match(await read(mail('From: Eve <eve@sample.example>', '', 'Words.')), {
    author: { name: 'Eve', email: 'eve@sample.example' },
    message: 'Exact prices, everywhere and at any time\n\nWords.',
  });
  const cut = mail('Hello all', '-- >8 --', 'Subject: Cut out', '', 'Words.');
  t.match(await read(cut), { message: /Hello all/ }, 'scissors are for those who ask for them');
  sample.git('config', 'mailinfo.scissors', 'true');
  t.match(await read(cut), { message: 'Cut out\n\nWords.' });
  t.equal(await read(change), undefined, 'a bare diff');
  t.equal(await read(mail('a') + mail('b')), undefined, 'two mails');
  t.equal((await read(mail('a').replace(/^Date: .*\n/m, '')))?.authoredAt, undefined);
  const there = mail('a').replace(/^Date: .*\n/m, 'Date: Sat, 3 Feb 2024 09:35:06 +0530\n');
  t.match(await read(there), { authoredAt: 1_706_933_106, zone: '+0530' });
});
