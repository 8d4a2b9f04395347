import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { sensitiveClasses } from '../../../core/interfaces/privacy.ts';
import { redact } from '../../../readers/sensitive/redact.ts';
import { long } from '../../rooms/long.ts';
import { inventedSecrets, privateKey } from './secrets/invented-secrets.ts';

const key = Buffer.alloc(32, 7);
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const clean = (bytes: string | Buffer) =>
  redact(Buffer.from(bytes), { key, classes: new Set(sensitiveClasses), words: {} });
const shown = (bytes: string | Buffer) => Buffer.from(clean(bytes).bytes).toString();

t.test('JSON stays valid when strings, escapes, numbers and split secrets are redacted', async (t) => {
  const document = {
    mail: 'ann@corp.io',
    card: 4111111111111111,
    password: ['aB3!x', 'Y9+kLm2'].join(''),
    list: privateKey.split('\n'),
    same: 'a "quoted" \\ text',
    n: 12.5,
  };
  const text = JSON.stringify(document, undefined, 2).replace('ann@corp.io', 'ann\\u0040corp.io');
  const left = JSON.parse(shown(text));
  t.equal(left.mail, '[redacted:pii:email]');
  t.equal(left.card, '[redacted:pii:card-number]');
  t.match(left.password, /^\[redacted:secrets:/);
  t.equal(left.same, document.same);
  t.equal(left.n, 12.5);
  t.notOk(left.list.join('\n').includes(privateKey.split('\n')[3]?.slice(10, 40)));
});

t.test('keeps JSON lines and a byte-order mark unchanged', async (t) => {
  t.equal(shown('\ufeff{"a":"ann@corp.io"}\n{"b":1}\n'), '\ufeff{"a":"[redacted:pii:email]"}\n{"b":1}\n');
});

t.test('reads a log that begins like JSON as text', async (t) => {
  t.equal(shown('[info] "x" to ann@corp.io\n'), '[info] "x" to [redacted:pii:email]\n');
});

t.test('XML stays well formed when any of its parts is redacted', async (t) => {
  const text = `<?xml version="1.0"?>\n<s><c name="mail to ann&#64;corp.io &amp; all"/><!-- ann@corp.io --><![CDATA[key ${token}]]>&lt;ben@corp.io&gt;</s>`;
  t.equal(
    shown(text),
    '<?xml version="1.0"?>\n<s><c name="mail to [redacted:pii:email] &amp; all"/><!-- [redacted:pii:email] --><![CDATA[key [redacted:secrets:github-token]]]>&lt;[redacted:pii:email]&gt;</s>',
  );
});

t.test(
  'a value of a document is redacted whole when an escape in it stands for a quote or a tag',
  async (t) => {
    for (const sign of ['"', '\\', '<', '&', "'"]) {
      const value = `kT7vQ2xW${sign}mN4pR9zL`;
      const written = value.replace('&', '&amp;').replace('<', '&lt;').replace('"', '&quot;');
      for (const text of [
        JSON.stringify({ log: { password: value, user: 'ana' } }),
        JSON.stringify([{ clientSecret: value }], undefined, 2),
        JSON.stringify({ env: [{ name: 'DB_PASSWORD', value }] }),
        JSON.stringify({ log: JSON.stringify({ password: value }) }),
        `<a><password>${written}</password></a>`,
        `<a><add key="DbPassword" value="${written}"/></a>`,
      ])
        t.match(shown(text), /^(?!.*(?:kT7v|mN4p)).*[">]\[redacted:secrets:[a-z-]+\]\\?["<]/s, text);
    }
  },
);

t.test('TAP keeps its lines when a secret is redacted', async (t) => {
  const text = `TAP version 14\n1..1\nnot ok 1 - for ann@corp.io\n  ---\n  key: |\n${privateKey.replace(/^/gm, '    ')}\n  ...\n`;
  const left = shown(text);
  t.equal(left.split('\n').length, text.split('\n').length);
  t.match(left, /^not ok 1 - for \[redacted:pii:email\]$/m);
  t.match(left, /^ {2}\.\.\.$/m);
  t.notOk(left.includes('MII'));
});

t.test('looks through one layer of base64, percent or character encoding', async (t) => {
  const wrapped = Buffer.from(`token is ${token}`).toString('base64');
  t.notOk(shown(`log ${wrapped} end`).includes(wrapped.slice(8, 40)));
  t.match(shown(`log ${wrapped} end`), /^log \[redacted:secrets:github-token\] end$/);
  t.equal(shown('to=ann%40corp.io&x=1'), 'to=[redacted:pii:email]&x=1');
  t.equal(shown('to ann&#64;corp.io now'), 'to [redacted:pii:email] now');
});

t.test('finds a secret behind 100 KB of encoded text', async (t) => {
  const filler = 'says nothing in particular; '.repeat(4000);
  const wrapped = Buffer.from(`${filler}${token}`).toString('base64');
  t.match(shown(`log ${wrapped} end`), /^log \[redacted:secrets:github-token\] end$/);
});

t.test('UTF-16 and gzip keep their format when redacted', async (t) => {
  const utf16 = Buffer.from(`\ufeffkey ${token} é`, 'utf16le');
  t.equal(Buffer.from(clean(utf16).bytes).toString('utf16le'), '\ufeffkey [redacted:secrets:github-token] é');
  const big = Buffer.from(utf16).swap16();
  t.equal(
    Buffer.from(clean(big).bytes).swap16().toString('utf16le'),
    '\ufeffkey [redacted:secrets:github-token] é',
  );
  const packed = clean(gzipSync(`key ${token}\n`));
  t.equal(gunzipSync(packed.bytes).toString(), 'key [redacted:secrets:github-token]\n');
});

t.test('reports data that cannot be scanned as unscanned', async (t) => {
  const broken = Buffer.from('\x1f\x8bnot really', 'latin1');
  t.match(clean(broken), { bytes: broken, redactions: [], unscanned: 'gzip' });
  t.match(clean(Buffer.from('PK\x03\x04rest', 'latin1')), { unscanned: 'zip' });
});

t.test('does not inflate a gzip bomb', async (t) => {
  t.match(clean(gzipSync(Buffer.alloc(65 * 1024 * 1024))), { unscanned: 'gzip', redactions: [] });
});

long('reads broken, deep and hostile documents as text', async (t) => {
  for (const text of [
    `{"a":"${token}`,
    `<a b="${token}`,
    `<a>${token}</a`,
    `${'['.repeat(300_000)}"${token}"`,
    `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "${token}">]><a>&b;</a>`,
    `{"a":"\\ud800 ${token}"}`,
    `{"a":"\\x ${token}"}`,
    `"${'\\'.repeat(20_000)}${token}"`,
    `[${' '.repeat(9_000_000)}"${token}"]`,
    `[${'1'.repeat(9_000_000)},"${token}"]`,
    `<a ${'b'.repeat(9_000_000)} c="${token}"/>`,
  ]) {
    t.notOk(shown(text).includes(token.slice(4, 30)), text.slice(0, 40));
  }
});
