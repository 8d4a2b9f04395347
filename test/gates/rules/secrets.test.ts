import t from 'tap';
import { judge } from '../../../gates/rules/secrets.ts';
import { gateTester, toRuleInput } from '../../../testing.ts';
import { inventedSecrets, privateKey } from '../../core/tool/invented-secrets.ts';
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
      name: 'a secret that stood there before',
      files: { 'a.ts': { base: `${token}\n`, candidate: `${token}\nb\n` } },
    },
    { name: 'a secret that is taken out', files: { 'a.ts': { base: `${token}\n`, candidate: 'b\n' } } },
    {
      name: 'a value that documents use as an example',
      files: { 'a.md': { candidate: `AKIAIOSFODNN7${'EXAMPLE'}\n` } },
    },
    { name: 'one letter repeated', files: { 'a.md': { candidate: `ghp_${'x'.repeat(36)}\n` } } },
    {
      name: 'a binary file, which is named',
      files: { 'a.png': { candidate: '\0' } },
      expect: [{ severity: 'note', path: 'a.png' }],
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
    {
      name: 'a token in an added line, with line and column',
      files: { 'src/a.ts': { base: 'a\nb\n', candidate: `a\né = '${token}';\nb\n` } },
      expect: [{ rule: 'secrets', path: 'src/a.ts', line: 2, column: 6, detail: { format: 'github-token' } }],
    },
    {
      name: 'a token at the end of a file without a newline',
      files: { '.env': { candidate: `A=1\nT=${token}` } },
      expect: [{ line: 2 }],
    },
    {
      name: 'a private key over several lines',
      files: { id_rsa: { candidate: `${privateKey}\n` } },
      expect: [{ line: 1, detail: { format: 'private-key' } }],
    },
    {
      name: 'two tokens in two files',
      files: { 'a.env': { candidate: `${token}\n` }, 'b.env': { candidate: `${tokenOf('npm-token')}\n` } },
      expect: [{ path: 'a.env' }, { path: 'b.env' }],
    },
  ],
});

t.test('no finding holds the value', async (t) => {
  for (const [rule, value] of inventedSecrets) {
    const found = await judge(toRuleInput({ name: rule, files: { a: { candidate: `${value}\n` } } }));
    t.notOk(JSON.stringify(found).includes(value.slice(-10)), rule);
  }
});

t.test('findings are bounded', async (t) => {
  const found = await judge(
    toRuleInput({ name: 'x', files: { a: { candidate: `${token}\n`.repeat(3000) } } }),
  );
  t.equal(found.length, 501);
});

t.test('added lines that are no neighbours are not read as one text', async (t) => {
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
