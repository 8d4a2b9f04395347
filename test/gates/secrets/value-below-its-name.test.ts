import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { judge } from '../../../gates/rules/secrets.ts';
import { redact } from '../../../readers/sensitive/redact.ts';
import { type CaseFile, toRuleInput } from '../../../testing.ts';

const directory = new URL('../../../fixtures/secrets/below-its-name/', import.meta.url);
const value = `kX93mQz7TbR2${'vLp8WnYc4JsD6hGf1ZaE'}`;

/** Texts by their file names; each holds `value` below its name. */
const samples: readonly (readonly [path: string, text: string])[] = [
  ...readdirSync(directory).map((name) => [name, readFileSync(new URL(name, directory), 'utf8')] as const),
  ['a.js', `const apiKey = // for production\r\n\r\n  "${value}";\r\n`],
  ['b.hs', `apiKey\n  = "${value}"\n`],
  ['c.yaml', `api_key:\n  ${value}  # old\n`],
  ['d.yaml', `api_key: |2\n    ${value}\n`],
  ['e.sh', `deploy --token \\\n  ${value}\n`],
  ['f.properties', `api.token=\\\n    ${value}\n`],
  ['g.xml', `<password>\n  ${value}\n</password>\n`],
  ['h.py', `API_KEY = ("${value}")\n`],
];

async function linesRefused(path: string, file: CaseFile): Promise<readonly (number | undefined)[]> {
  const input = toRuleInput({ name: path, files: { [path]: file } });
  return (await judge(input)).filter(({ severity }) => severity === 'error').map(({ line }) => line);
}

t.test('scan and redact find a value on a line below its name', async (t) => {
  for (const [path, text] of samples) {
    const lines = text.split('\n');
    const line = lines.findIndex((one) => one.includes(value)) + 1;
    t.same(await linesRefused(path, { candidate: text }), [line], path);
    const { bytes } = redact(Buffer.from(text), {
      key: Buffer.alloc(32),
      classes: new Set(['secrets']),
      words: {},
    });
    const redacted = Buffer.from(bytes).toString('utf8');
    t.notOk(redacted.includes(value), path);
    t.equal(redacted.split('\n').length, lines.length, path);
  }
});

t.test('scan finds a new value below a name that the change does not touch', async (t) => {
  for (const [path, text] of samples.filter(([, text]) => !text.startsWith('API_KEY = ("'))) {
    const base = text.replace(value, 'put-your-own-here');
    const line = text.split('\n').findIndex((one) => one.includes(value)) + 1;
    t.same(await linesRefused(path, { base, candidate: text }), [line], path);
  }
  const [, text = ''] = samples[0] ?? [];
  t.same(await linesRefused('a.py', { base: text, candidate: `${text}more = 1\n` }), [], 'an old value');
});

t.test('scan and redact find passwords in a file that is named for them', async (t) => {
  const text = `default\npassword ${value}\nlogin me\n`;
  t.same(await linesRefused('home/.netrc', { candidate: text }), [2]);
  const options = { key: Buffer.alloc(32), classes: new Set(['secrets'] as const), words: {} };
  const { bytes } = redact(Buffer.from(text), { ...options, path: 'home/.netrc' });
  t.equal(Buffer.from(bytes).toString(), text.replace(value, '[redacted:secrets:netrc-password]'));
});

t.test('neither takes other text below a name for a value', async (t) => {
  const harmless = [
    ['a.log', 'invalid token:\n    at Module.load42 (node:internal/modules)\n'],
    ['b.log', 'PASS:\n  tests/base64test2\n'],
    ['c.ts', "const password: string =\n  readPassword('vault-2');\n"],
    ['d.py', `digests = (\n    "${value}",\n)\n`],
    ['e.yml', 'secrets:\n  - name: registry-2\n'],
    ['f.js', 'const token =\n  Xk93mQz7TbR2vLp8WnYc4Js;\n'],
  ] as const;
  for (const [path, text] of harmless) {
    t.same(await linesRefused(path, { candidate: text }), [], path);
    const bytes = Buffer.from(text);
    const options = { key: Buffer.alloc(32), classes: new Set(['secrets'] as const), words: {} };
    t.equal(redact(bytes, options).bytes, bytes, path);
  }
});
