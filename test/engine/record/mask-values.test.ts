import t from 'tap';
import { maskStated } from '../../../engine/open/read-authorship.ts';
import { keepMasked, maskValues, secretValues } from '../../../engine/record/masking.ts';
import { wordMask } from '../../../readers/sensitive/mask-words.ts';
import { makeBench } from '../../workspace/patch/patched.ts';

const value = 'Zq8vXw3Lm5Rt9KpY2nHd';

t.test('a secret is masked in words in each of its coded forms', async (t) => {
  const masked = wordMask([value]);
  for (const coding of ['utf8', 'hex', 'base64', 'base64url'] as const) {
    const shown = masked(`key ${Buffer.from(value).toString(coding)}.`);
    // Of base64 the last characters depend on what follows.
    t.match(shown, /^key \[masked: secrets\].{0,4}\.$/, coding);
  }
  t.equal(wordMask(['a"b\nc-long'])('{"k":"a\\"b\\nc-long"}'), '{"k":"[masked: secrets]"}', 'as JSON');
});

t.test('a secret is masked in base64 at any offset', (t) => {
  for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
    for (const after of ['', 'z', 'zz', 'zzz']) {
      for (const coding of ['base64', 'base64url'] as const) {
        const coded = Buffer.from(before + value + after).toString(coding);
        const kept = Buffer.from(
          maskValues(Buffer.from(`+x = '${coded}';`), [Buffer.from(value)]),
        ).toString();
        t.match(kept, /\[masked: secrets\]/, coded);
        const rest = kept.replace('[masked: secrets]', '');
        t.notOk(coded.slice(4, -8).length > 8 && rest.includes(coded.slice(8, 20)), kept);
      }
    }
  }
  t.end();
});

t.test('the bytes around a masked secret stay unchanged', (t) => {
  for (const beside of ['schön 価格 ✓', Buffer.from([0xff, 0xfe, 0, 0x80, 0xc3]).toString('latin1')]) {
    const around = Buffer.from(beside, 'latin1');
    const utf8 = Buffer.from(beside);
    for (const bytes of [around, utf8]) {
      const whole = Buffer.concat([bytes, Buffer.from(value), bytes]);
      const masked = Buffer.concat([bytes, Buffer.from('[masked: secrets]'), bytes]);
      t.strictSame(Buffer.from(maskValues(whole, [Buffer.from(value)])), masked);
    }
  }
  t.end();
});

t.test('text without a secret stays unchanged', (t) => {
  const text = Buffer.from(Buffer.from('nothing of it stands here, however long it is').toString('base64'));
  t.same(maskValues(text, [Buffer.from(value)]), text);
  t.end();
});

t.test('a password in a `.pgpass` file counts as a secret value', async (t) => {
  const bench = await makeBench({ 'a.txt': 'a\n' });
  const patch = await bench.apply(
    `diff --git a/.pgpass b/.pgpass\nnew file mode 100600\n--- /dev/null\n+++ b/.pgpass\n@@ -0,0 +1 @@\n+db:5432:app:ana:${value}\n`,
  );
  t.same(secretValues(patch, patch.files).map(String), [value]);
});

t.test('the password of a URL is masked everywhere else in the change', async (t) => {
  const bench = await makeBench({ 'a.txt': 'a\n' });
  const add = (path: string, ...lines: string[]): string =>
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
  const addresses = [
    `https://bob:${value}@git.corp.io/a`,
    `amqp://svc:${value}@mq/v`,
    `postgres://app:${value}@\${HOST}/a`,
    `https:\\/\\/bob:${value}@git.corp.io`,
    `postgres://app:p@${value}@db.corp.io/a`,
  ];
  for (const address of addresses) {
    const patch = await bench.apply(add('db.ts', `const url = '${address}';`));
    t.ok(
      secretValues(patch, patch.files).some((one) => String(one).includes(value)),
      address,
    );
  }
  const examples = [
    'http://user:pass@localhost@evil.corp.io/',
    'postgres://app:password@$HOST/a',
    'postgres://app:the-password@{host}/a',
    `docker://node:20.11.1-alpine@sha256:${'7f3a9c1e'.repeat(8)}`,
    'amqp://guest:guest@localhost',
  ];
  const told = await bench.apply(
    add('compose.yml', ...examples) + add('.netrc', 'machine a login USER password PASSWORD'),
  );
  t.strictSame(secretValues(told, told.files), [], 'examples are nobody’s password');
  const patch = await bench.apply(
    add('.env', 'A=postgres://app:Ab%40Zq8vXw3Lm5@db.corp.io/a', 'B=redis://u:s3cr3t@cache.corp.io/0') +
      add('told.md', 'it is Ab@Zq8vXw3Lm5, not s3cr3t', 'as3cr3t, s3cr3tb and s3cret and passwords stay') +
      add('.netrc', `default login bob password ${value}`),
  );
  const values = secretValues(patch, patch.files);
  t.strictSame(
    values.map(String),
    [value, 'Ab%40Zq8vXw3Lm5', 'Ab@Zq8vXw3Lm5', 's3cr3t'],
    'as written and as read',
  );
  const findings = ['.env', '.netrc'].map((path) => ({
    rule: 'secrets',
    severity: 'error' as const,
    message: 'm',
    path,
  }));
  const steps = { ended: () => ({ answer: [] }) } as never;
  const kept = Buffer.from(keepMasked({ patch, steps }, { findings })?.bytes ?? '').toString();
  t.match(kept, 'it is [masked: secrets], not [masked: secrets]');
  t.match(kept, 'as3cr3t, s3cr3tb and s3cret and passwords stay', 'what only looks like it is kept');
  t.notMatch(kept, /Zq8v|redis/);
  const message = 'Use s3cr3t and Ab@Zq8vXw3Lm5 for version 1.2';
  const wording = { message, author: undefined } as never;
  const stated = maskStated(wording, { authors: [], committers: [] }, 'summary', values);
  t.equal(stated.wording.message, 'Use [masked: secrets] and [masked: secrets] for version 1.2');
});

t.test('the content of a binary file is dropped from a patch refused for a secret', async (t) => {
  const bench = await makeBench({ 'a.txt': 'a\n' });
  const binary = `diff --git a/a.bin b/a.bin
new file mode 100644
index 0000000000000000000000000000000000000000..f76dd238ade08917e6712764a16a22005a50573d
GIT binary patch
literal 1
IcmZPo000310RR91

literal 0
HcmV?d00001

`;
  const text = `diff --git a/k.js b/k.js\nnew file mode 100644\n--- /dev/null\n+++ b/k.js\n@@ -0,0 +1 @@\n+const password = '${value}';\n`;
  const patch = await bench.apply(binary + text);
  t.ok(patch.files.some((file) => file.binary));
  const steps = { ended: () => ({ answer: [] }) } as never;
  const findings = [{ rule: 'secrets', severity: 'error' as const, message: 'm', path: 'k.js' }];
  const kept = Buffer.from(keepMasked({ patch, steps }, { findings })?.bytes ?? '').toString();
  t.match(kept, /a\.bin[\s\S]*\[masked: secrets\]/);
  t.notMatch(kept, 'IcmZPo');
  t.equal(
    keepMasked({ patch, steps }, { findings: [] }),
    undefined,
    'a patch that nobody refused is kept whole',
  );
});
