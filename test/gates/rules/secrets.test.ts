import t from 'tap';
import { judge } from '../../../gates/rules/secrets.ts';
import { checksumOf } from '../../../readers/sensitive/secrets/weigh-secret.ts';
import { gateTester, toRuleInput } from '../../../testing.ts';
import { inventedSecrets, privateKey } from '../../readers/sensitive/secrets/invented-secrets.ts';
import { findRule } from './find-rule.ts';

const tokenOf = (wanted: string): string => inventedSecrets.find(([rule]) => rule === wanted)?.[1] ?? '';
const token = tokenOf('github-token');

await gateTester(t, findRule('secrets'), {
  valid: [
    {
      name: 'nothing that looks like a secret',
      files: { 'a.ts': { candidate: 'const a = process.env.TOKEN;\n' } },
    },
    {
      name: 'a secret that was there before',
      files: { 'a.ts': { base: `${token}\n`, candidate: `${token}\nb\n` } },
    },
    { name: 'a secret that is removed', files: { 'a.ts': { base: `${token}\n`, candidate: 'b\n' } } },
    {
      name: 'a value that documents use as an example',
      files: { 'a.md': { candidate: `AKIAIOSFODNN7${'EXAMPLE'}\n` } },
    },
    { name: 'one letter repeated', files: { 'a.md': { candidate: `ghp_${'x'.repeat(36)}\n` } } },
    {
      name: 'a binary file, which is named',
      files: { 'a.png': { candidate: '\0' } },
      expect: [
        {
          severity: 'note',
          path: 'a.png',
          message: '`a.png` is binary: only tokens and keys that it holds unencoded would be found',
        },
      ],
    },
    {
      name: 'a bearer header in an example',
      files: { 'a.md': { candidate: 'Authorization: Bearer abcdefghijklmnop\n' } },
    },
    {
      name: 'talk about keys',
      files: { 'a.md': { candidate: 'starts with -----BEGIN PRIVATE KEY-----\n' } },
    },
  ],
  invalid: [
    ...['a.js', '.env', 'config.json', 'notes.txt'].map((path) => ({
      name: `${path} with a NUL, which git treats as binary`,
      files: { [path]: { candidate: `T=${token}\0` } },
      expect: [{ rule: 'secrets', path }],
    })),
    {
      name: 'a token in an added line, with line and column',
      files: { 'src/a.ts': { base: 'a\nb\n', candidate: `a\né = '${token}';\nb\n` } },
      expect: [{ rule: 'secrets', path: 'src/a.ts', line: 2, column: 6 }],
    },
    {
      name: 'a token at the end of a file without a newline',
      files: { '.env': { candidate: `A=1\nT=${token}` } },
      expect: [{ line: 2 }],
    },
    ...[
      ['authorization-header', `authorization: Bearer ${'5f4dcc3b5aa765d61d8327deb882cf99'}`],
      ['huggingface-token', `use ${'api_org_'}QwZrTyPsDfGhJkLmXcVbNbAeIoUqWsEdRf here`],
      ['notion-token', `use ${'secret_'}Qw7rTyPsDf3hJkLmXcV9NbAeIo5qWsEdRfTgYhUjIkO here`],
    ].map(([format, text]) => ({
      name: `${format} that begins like a name, in prose`,
      files: { 'notes.txt': { candidate: `${text}\n` } },
      expect: [{ line: 1, message: `an added line holds what looks like a secret: ${format}` }],
    })),
    {
      name: 'a private key over several lines',
      files: { id_rsa: { candidate: `${privateKey}\n` } },
      expect: [{ line: 1, message: 'an added line holds what looks like a secret: private-key' }],
    },
    {
      name: 'two tokens in two files',
      files: { 'a.env': { candidate: `${token}\n` }, 'b.env': { candidate: `${tokenOf('npm-token')}\n` } },
      expect: [{ path: 'a.env' }, { path: 'b.env' }],
    },
  ],
});

t.test('no finding contains the secret value', async (t) => {
  for (const [rule, value] of inventedSecrets) {
    const found = await judge(toRuleInput({ name: rule, files: { a: { candidate: `${value}\n` } } }));
    t.notOk(JSON.stringify(found).includes(value.slice(-10)), rule);
  }
});

t.test('limits a file with 3,000 secrets to 501 findings', async (t) => {
  const found = await judge(
    toRuleInput({ name: 'x', files: { a: { candidate: `${token}\n`.repeat(3000) } } }),
  );
  t.equal(found.length, 501);
});

t.test('does not join added lines of different hunks into one text', async (t) => {
  const body = 'QUJD'.repeat(16);
  const twoHunks = [
    '@@ -1,2 +1,3 @@',
    ' a',
    `+-----BEGIN ${''}PRIVATE KEY-----`,
    ' b',
    '@@ -40 +41,2 @@',
    ' c',
    `+${body}`,
    '',
  ].join('\n');
  const input = toRuleInput({ name: 'x', files: { a: { base: 'a\n', candidate: 'b\n' } } });
  const [file] = input.patch.files;
  const diff = new Uint8Array(new SharedArrayBuffer(twoHunks.length));
  diff.set(Buffer.from(twoHunks));
  if (file)
    t.same(
      await judge({
        ...input,
        patch: { ...input.patch, diff, files: [{ ...file, start: 0, end: diff.length }] },
      }),
      [],
    );
});

const judged = async (files: Record<string, { candidate: string }>, options: Record<string, unknown> = {}) =>
  judge({ ...toRuleInput({ name: 'x', files }), options });

t.test('lists a placeholder in a known secret format as suppressed', async (t) => {
  t.match(await judged({ 'a.md': { candidate: `AKIAIOSFODNN7${'EXAMPLE'}\n` } }), [
    { severity: 'note', path: 'a.md', line: 1, detail: { suppressed: true, reason: 'placeholder' } },
  ]);
});

type Files = Parameters<typeof toRuleInput>[0]['files'];
const moved = async (files: NonNullable<Files>, options: Record<string, unknown> = {}) =>
  judge({ ...toRuleInput({ name: 'x', files }), options });
const other = tokenOf('npm-token');

t.test('ignores an allow marker that the patch itself adds and mentions it in the finding', async (t) => {
  for (const text of [`a = '${token}' // writ:allow-secret\n`, `// writ:allow-secret\na = '${token}'\n`])
    t.match(await judged({ 'a.ts': { candidate: text } }), [
      { severity: 'error', detail: { marker: 'new' } },
    ]);
  const unmarked = await judged({ 'a.ts': { candidate: `// writ:allow-secret\n\na = '${token}'\n` } });
  t.match(unmarked, [{ severity: 'error', detail: { marker: undefined } }]);
});

t.test('a marked value may be moved unless the config forbids inline markers', async (t) => {
  const noted = [
    { severity: 'note' as const, detail: { suppressed: true, reason: 'marker', format: 'github-token' } },
  ];
  for (const base of [`a = '${token}' // writ:allow-secret\n`, `// writ:allow-secret\na = '${token}'\n`]) {
    const files = { 'a.ts': { base, candidate: `if (x) {\n  b = '${token}'\n}\n` } };
    t.match(await moved(files), noted);
    t.match(await moved(files, { inline: false }), [{ severity: 'error' }]);
    const elsewhere = { 'a.ts': { base, candidate: 'gone\n' }, 'b.ts': { candidate: `a = '${token}'\n` } };
    t.match(await moved(elsewhere), noted, 'moved into another file');
  }
});

t.test('an old marker does not suppress a different value', async (t) => {
  const error = [{ severity: 'error' as const, detail: { format: 'npm-token' } }];
  const marked = `// writ:allow-secret\na = '${token}'\n`;
  const cases: readonly (readonly [name: string, files: NonNullable<Files>])[] = [
    ['in its place', { 'a.ts': { base: marked, candidate: marked.replace(token, other) } }],
    [
      'on the same line',
      {
        'a.ts': {
          base: `a = '${token}' // writ:allow-secret\n`,
          candidate: `a = '${other}' // writ:allow-secret\n`,
        },
      },
    ],
    ['put in between', { 'a.ts': { base: marked, candidate: marked.replace('a =', `b = '${other}'\na =`) } }],
    [
      'behind a line that was deleted',
      { 'a.ts': { base: `${marked}c\n`, candidate: `// writ:allow-secret\nb = '${other}'\nc\n` } },
    ],
    [
      'shifted next to it',
      {
        'a.ts': {
          base: '// writ:allow-secret\n\n\nx\n',
          candidate: `// writ:allow-secret\nb = '${other}'\nx\n`,
        },
      },
    ],
    [
      'with its marker in another file',
      { 'a.ts': { base: marked, candidate: 'x\n' }, 'b.ts': { candidate: marked.replace(token, other) } },
    ],
  ];
  for (const [name, files] of cases) t.match(await moved(files), error, name);
  const longer = { 'a.ts': { base: marked, candidate: `a = 'ghp_${'x7K'.repeat(12)}'\n` } };
  t.ok(
    (await moved(longer)).every(
      ({ severity, detail }) => severity === 'error' || detail?.reason === 'placeholder',
    ),
  );
});

t.test('an unmarked value or a copy of a marked one is an error elsewhere', async (t) => {
  const line = `a = '${token}'\n`;
  const plain = { 'a.ts': { base: `x\n${line}`, candidate: `// writ:allow-secret\n  ${line}` } };
  t.match(await moved(plain), [{ severity: 'error' }]);
  const far = { 'a.ts': { base: `// writ:allow-secret\n\n${line}`, candidate: `  ${line}` } };
  t.match(await moved(far), [{ severity: 'error' }], 'the marker stood two lines above');
  const stays = `// writ:allow-secret\n${line}`;
  const copied = { 'a.ts': { base: stays, candidate: `${stays}x\n` }, 'b.ts': { candidate: line } };
  t.match(await moved(copied), [{ severity: 'error', path: 'b.ts' }], 'a copy is a new place');
});

t.test('a digest in the config suppresses only its value, and only with the same digest key', async (t) => {
  const files = { 'a.ts': { candidate: `'${token}'\n'${tokenOf('npm-token')}'\n` } };
  const [first] = await judged(files, { digest_key: 'of this repository' });
  const digest = first?.detail?.digest;
  t.match(digest, /^scrypt:[0-9a-f]{32}$/);
  t.match(await judged(files, { digest_key: 'of this repository', allow: [digest] }), [
    { severity: 'note', line: 1, detail: { suppressed: true, reason: 'config', digest } },
    { severity: 'error', line: 2 },
  ]);
  t.match(await judged(files, { allow: [digest] }), [{ severity: 'error' }, { severity: 'error' }]);
});

t.test('unknown or malformed options fail the rule', async (t) => {
  for (const options of [
    { alow: [] },
    { allow: ['ghp_x'] },
    { allow: 'x' },
    { inline: 'no' },
    { digest_key: 1 },
  ])
    t.match(await judged({ 'a.ts': { candidate: 'a\n' } }, options), [
      { severity: 'error', message: /rules\.secrets/ },
    ]);
});

t.test('a finding includes its checksum status, and a valid checksum is never a placeholder', async (t) => {
  const payload = 'abcdefghijklmnopqrstuvwxyzabcd';
  const valid = `ghp_${payload}${checksumOf(payload)}`;
  t.match(await judged({ a: { candidate: `${valid}\n` } }), [
    { severity: 'error', detail: { checksum: 'valid' } },
  ]);
  t.match(await judged({ a: { candidate: `ghp_${payload}${payload.slice(0, 6)}\n` } }), [
    { severity: 'note' },
  ]);
  t.match(await judged({ a: { candidate: `${token}\n` } }), [
    { severity: 'error', detail: { checksum: 'mismatch' } },
  ]);
});

t.test('reports a signed JWT but not an unsigned one or the well-known example', async (t) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jwt = (header: object, claims: object) =>
    `${part(header)}.${part(claims)}.q7Wx2Lm9Zt4Kc8Vb1Rn6Yp3Hd5Gs0Jf_q7Wx2Lm9Zt4`;
  const severities = async (text: string) =>
    (await judged({ a: { candidate: `${text}\n` } })).map(({ severity }) => severity);
  t.same(await severities(jwt({ alg: 'HS256' }, { sub: 'user-17', iss: 'login' })), ['error']);
  t.same(await severities(jwt({ alg: 'none' }, { sub: 'user-17', iss: 'login' })), []);
  t.same(
    await severities(jwt({ alg: 'HS256' }, { sub: '1234567890', name: 'John Doe', iat: 1516239022 })),
    [],
  );
});

t.test('reports an unquoted value in a data file but not in program text', async (t) => {
  const value = 'q7Wx2Lm9Zt4Kc8Vb1Rn6';
  t.match(await judged({ '.env': { candidate: `API_KEY=${value}\n` } }), [{ severity: 'error' }]);
  t.same(await judged({ 'a.ts': { candidate: `const apiKey = ${value}\n` } }), []);
});

t.test('reports a token in the name of a new file without showing it', async (t) => {
  const found = await judged({ [`keys/${token}.txt`]: { candidate: 'x\n' } });
  t.match(found, [{ severity: 'error', detail: { format: 'github-token' } }]);
  t.notOk(JSON.stringify(found).includes(token.slice(4, 20)));
  const renamed = toRuleInput({
    name: 'x',
    files: { [`${token}.txt`]: { oldPath: 'a.txt', base: 'x\n', candidate: 'x\n' } },
  });
  t.match(await judge(renamed), [{ severity: 'error' }]);
  const stood = { [`keys/${token}.txt`]: { base: 'x\n', candidate: 'y\n' } };
  t.same(await judge(toRuleInput({ name: 'x', files: stood })), [], 'a name that stood there before');
  const digest = found[0]?.detail?.digest;
  t.match(await judged({ [`keys/${token}.txt`]: { candidate: 'x\n' } }, { allow: [digest] }), [
    { severity: 'note', detail: { suppressed: true } },
  ]);
});

t.test('scans text that git treats as binary line by line and ignores old lines', async (t) => {
  const utf16 = Buffer.from(`\ufeffa\nT=${token}\n`, 'utf16le');
  t.match(await judge(toRuleInput({ name: 'x', files: { 'a.txt': { candidate: utf16 } } })), [
    { severity: 'error', path: 'a.txt', line: 2, column: 3 },
  ]);
  const [first, rest] = [token.slice(0, 10), token.slice(10)];
  t.match(await judged({ 'a.txt': { candidate: `T=${first}\0${rest}\n` } }), [{ severity: 'error' }]);
  const files = { 'a.txt': { base: `T=${token}\n\0`, candidate: `T=${token}\nb\n\0` } };
  t.same(await judge(toRuleInput({ name: 'x', files })), []);
  t.same(await judged({ 'a.txt': { candidate: 'nothing\0\n' } }), []);
});

t.test('lists up to 500 findings and adds one that reports the overflow', async (t) => {
  const lines = (count: number) => ({ 'a.txt': { candidate: `T=${token}\n`.repeat(count) } });
  t.equal((await judged(lines(500))).length, 500);
  const more = await judged(lines(501));
  t.equal(more.length, 501);
  t.match(more.at(-1), { severity: 'error', message: 'more than 500 findings; the rest is not listed' });
});

t.test('refuses a text file that the diff shows only as binary', async (t) => {
  const input = toRuleInput({ name: 'x', files: { 'a.txt': { candidate: 'a\0\n' } } });
  const [file] = input.patch.files;
  const text = 'diff --git a/a.txt b/a.txt\nBinary files /dev/null and b/a.txt differ\n';
  const diff = new Uint8Array(new SharedArrayBuffer(text.length));
  diff.set(Buffer.from(text));
  if (file)
    t.match(
      await judge({
        ...input,
        patch: { ...input.patch, diff, files: [{ ...file, start: 0, end: diff.length }] },
      }),
      [{ severity: 'error', path: 'a.txt' }],
    );
});

t.test('scans symlink targets but not a change of mode alone', async (t) => {
  const link = { candidate: `/tmp/${token}`, newMode: '120000' };
  t.match(await judge(toRuleInput({ name: 'x', files: { link } })), [{ severity: 'error', path: 'link' }]);
  const mode = { base: `T=${token}\n`, candidate: `T=${token}\n`, newMode: '100755' };
  t.same(await judge(toRuleInput({ name: 'x', files: { a: mode } })), []);
});
