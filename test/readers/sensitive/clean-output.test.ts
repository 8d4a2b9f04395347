import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { sensitiveClasses } from '../../../core/interfaces/privacy.ts';
import { redact } from '../../../readers/sensitive/redact.ts';

const root = new URL('../../../fixtures/redaction/clean/', import.meta.url);
const options = { key: Buffer.alloc(32, 7), classes: new Set(sensitiveClasses), words: {} };
const found = (text: string) => redact(Buffer.from(text), options).redactions.map(({ rule }) => rule);

t.test('leaves tool output without secrets unchanged', async (t) => {
  const names = readdirSync(root);
  t.ok(names.length >= 20);
  for (const name of names) {
    const bytes = readFileSync(new URL(name, root));
    const { bytes: left, redactions } = redact(bytes, options);
    t.same(redactions, [], name);
    t.equal(left, bytes, name);
  }
});

t.test('a verdict with a test name is not a password, but random letters are', async (t) => {
  for (const line of ['PASS: tests/base64test', 'XPASS: tests/crypt3test', '--- PASS: TestReset/token_v2'])
    t.same(found(`${line}\n`), [], line);
  for (const line of [
    'PASS: q7Wx2Lm9Zt',
    'pass: tests/base64test',
    'DB_PASS: tests/base64test',
    'PASS=tests/base64test',
  ])
    t.same(found(`${line}\n`), ['assigned-password'], line);
});

t.test('the title of a test is not a password, but a passphrase is', async (t) => {
  t.same(found('password: rejects_v1_hashes2\n'), []);
  for (const line of [
    'password: correct-horse-battery2',
    'password: "rejects_v1_hashes2"',
    'password: kq7_wx2_lm9zt',
  ])
    t.same(found(`${line}\n`), ['assigned-password'], line);
});

t.test('joined words are not a key, but joined random letters are', async (t) => {
  for (const value of ['TokenKind2Refresh', 'base64/urlsafe_decode64', 'rotates_every_30days'])
    t.same(found(`token: ${value}\n`), [], value);
  for (const value of [
    ...['q7Wx2Lm9Zt4Kc8Vb', 'kx3jq-9qpwz-v8abt', 'KXQW-7351-ZJVB-9024'],
    ...['qxkvz_jw3tzq_vbgqkx', 'winter-8841-garden-7730-9', 'kx-qzw-jvb-xqg-9tk'],
  ])
    t.same(found(`token: ${value}\n`), ['assigned-key'], value);
});

t.test('the timing of a test pass is not a password', async (t) => {
  t.same(found('pass2: wall=0.12s user=0.10s\n'), []);
  t.same(found('pass2: wall=0.12q7Wx\n'), ['assigned-password']);
});

t.test('a package with its version is not an email address, but a numeric host may be', async (t) => {
  for (const text of [
    'eco-source@1.1.0.rc.1',
    'pkg@1.2.3-rc.alpha',
    'hibernate-core@5.6.15.Final',
    'a@v2.0.beta2',
  ])
    t.same(found(`see ${text} now\n`), [], text);
  for (const text of ['ann@163.com', 'ann@1und1.de', 'ann@10.2.3.dyn.corp.io', 'ann@5.6.rcorp.io'])
    t.same(found(`see ${text} now\n`), ['email'], text);
});
