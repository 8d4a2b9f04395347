import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { sensitiveClasses } from '../../../core/interfaces/privacy.ts';
import { isFault } from '../../../readers/documents/archive/inflate.ts';
import { readTar as readTarWithin, writeTar } from '../../../readers/documents/archive/tar.ts';
import { readZip as readZipWithin, writeZip } from '../../../readers/documents/archive/zip.ts';
import { redact } from '../../../readers/sensitive/redact.ts';
import { long } from '../../rooms/long.ts';
import { inventedSecrets } from './secrets/invented-secrets.ts';

const key = Buffer.alloc(32, 7);
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const clean = (bytes: Buffer) => redact(bytes, { key, classes: new Set(sensitiveClasses), words: {} });
const maxBytes = 1024 * 1024;
const readTar = (bytes: Buffer) => {
  const parts = readTarWithin(bytes, { members: 100, isStrict: false });
  return isFault(parts) ? undefined : parts;
};
const readZip = (bytes: Buffer) => {
  const limits = { members: 100, bytes: maxBytes, memberBytes: maxBytes, isPlain: true };
  const files = readZipWithin(bytes, limits);
  return isFault(files) ? undefined : files;
};

function record(): Buffer {
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02014b50, 0);
  return central;
}
const zipOf = (files: Readonly<Record<string, string | Buffer>>): Buffer =>
  writeZip(
    Object.entries(files).map(([name, text]) => ({
      name: Buffer.from(name),
      bytes: Buffer.from(text),
      record: record(),
    })),
  );
function tarOf(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts = Object.entries(files).map(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    return { header, bytes: Buffer.from(text) };
  });
  return writeTar([...parts, { header: Buffer.alloc(1024), bytes: Buffer.alloc(0) }]);
}
const zipped = (bytes: Uint8Array) =>
  Object.fromEntries((readZip(Buffer.from(bytes)) ?? []).map((file) => [`${file.name}`, `${file.bytes}`]));

t.test('redacts members of zip and tar archives and keeps the archive format', async (t) => {
  const files = { 'a.log': `key ${token}\n`, 'b.json': '{"to":"ann@corp.io"}', 'c.txt': 'nothing' };
  const zip = clean(zipOf(files));
  const expected = {
    'a.log': 'key [redacted:secrets:github-token]\n',
    'b.json': '{"to":"[redacted:pii:email]"}',
    'c.txt': 'nothing',
  };
  t.strictSame(zipped(zip.bytes), expected);
  t.match(zip.redactions, [
    { rule: 'email', count: 1 },
    { rule: 'github-token', count: 1 },
  ]);
  t.equal(zip.unscanned, undefined);
  const tar = clean(tarOf(files));
  const parts = readTar(Buffer.from(tar.bytes)) ?? [];
  t.strictSame(
    parts.slice(0, 3).map(({ bytes }) => bytes.toString()),
    Object.values(expected),
  );
  const packed = clean(gzipSync(tarOf(files)));
  t.ok(gunzipSync(packed.bytes).equals(Buffer.from(tar.bytes)));
});

t.test('returns an archive without findings unchanged', async (t) => {
  for (const bytes of [zipOf({ a: 'x' }), tarOf({ a: 'x' })]) t.equal(clean(bytes).bytes, bytes);
});

t.test('redacts the names of archive members', async (t) => {
  t.strictSame(zipped(clean(zipOf({ [`${token}.txt`]: 'x' })).bytes), {
    '[redacted:secrets:github-token].txt': 'x',
  });
  const tar = clean(tarOf({ [`${token}.txt`]: 'x' }));
  t.notOk(Buffer.from(tar.bytes).includes(token.slice(4)));
  t.equal(readTar(Buffer.from(tar.bytes))?.[0]?.bytes.toString(), 'x');
});

t.test('reports archives that cannot be scanned as unscanned', async (t) => {
  const zip = zipOf({ a: `key ${token}` });
  const encrypted = Buffer.from(zip);
  const central = encrypted.indexOf(Buffer.from('PK\x01\x02', 'latin1'));
  encrypted.writeUInt16LE(1, central + 8);
  t.match(clean(encrypted), { unscanned: 'zip', redactions: [] });
  const damaged = Buffer.from(zip);
  damaged.writeUInt32LE(1, central + 16);
  t.match(clean(damaged), { unscanned: 'zip' });
  t.match(clean(Buffer.concat([zip.subarray(0, zip.length - 22)])), { unscanned: 'zip' });
  const tar = tarOf({ a: 'x' });
  tar.write('9', 130);
  t.match(clean(tar), { unscanned: 'tar' });
  const sum = tarOf({ a: token });
  sum.write('0000001', 148);
  t.match(clean(sum), { unscanned: 'tar', redactions: [] });
  for (const behind of [tarOf({ b: token }), Buffer.from(token)]) {
    const more = Buffer.concat([tarOf({ a: token }), behind]);
    t.same(clean(more), { bytes: more, redactions: [], unscanned: 'tar' }, 'behind the end of a tar archive');
  }
  t.match(clean(Buffer.concat([tarOf({ a: token }), Buffer.alloc(4096)])), { unscanned: undefined });
  t.match(clean(gzipSync(gzipSync(gzipSync(token)))), { unscanned: 'gzip', redactions: [] });
  t.match(clean(zipOf({ a: zipOf({ b: zipOf({ c: zipOf({ d: token }) }) }) })), { unscanned: /zip$/ });
  t.match(clean(zipOf({ 'a.png': '\x89PNG', b: 'ann@corp.io' })), { redactions: [{ rule: 'email' }] });
  t.match(clean(zipOf({ 'a.png': Buffer.from('\x89PNG', 'latin1') })), { unscanned: 'zip: png' });
});

long('does not inflate an archive bomb beyond a shared limit', { timeout: 600_000 }, async (t) => {
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024));
  const tar = tarOf({ a: bomb, b: bomb, c: bomb });
  t.match(clean(tar), { unscanned: 'tar: gzip' });
});

t.test('scans compressed PDF streams and replaces a PDF that holds a secret', async (t) => {
  const pdf = (content: string, filter = '/FlateDecode') => {
    const stream = filter === '' ? Buffer.from(content) : deflateSync(content);
    return Buffer.concat([
      Buffer.from(
        `%PDF-1.7\n1 0 obj\n<< /Length ${stream.length}${filter === '' ? '' : ` /Filter ${filter}`} >>\nstream\n`,
      ),
      stream,
      Buffer.from('\nendstream\nendobj\n%%EOF\n'),
    ]);
  };
  const split = `BT [(${token.slice(0, 9)}) -20 (${token.slice(9)})] TJ ET`;
  for (const bytes of [pdf(`BT (key ${token}) Tj ET`), pdf(split), pdf(split, '')])
    t.equal(Buffer.from(clean(bytes).bytes).toString(), '[redacted:secrets:github-token]\n');
  const harmless = pdf('BT (hello) Tj ET');
  t.strictSame(clean(harmless), { bytes: harmless, redactions: [] });
  t.match(clean(pdf('BT (hello) Tj ET', '/LZWDecode')), { unscanned: 'pdf' });
  t.match(clean(Buffer.concat([harmless, Buffer.from('trailer << /Encrypt 5 0 R >>')])), {
    unscanned: 'pdf',
  });
});

t.test('finds secrets despite invisible characters and character encodings', async (t) => {
  const shown = (text: string) => Buffer.from(clean(Buffer.from(text)).bytes).toString();
  for (const unseen of ['\0', '\u00ad', '\u200b', '\u2060', '\ufeff']) {
    const cut = `${token.slice(0, 12)}${unseen}${token.slice(12)}`;
    t.equal(shown(`key ${cut} end`), 'key [redacted:secrets:github-token] end', JSON.stringify(unseen));
    t.equal(shown(`to ann@co${unseen}rp.io now`), 'to [redacted:pii:email] now');
  }
  const hex = Buffer.from(`mail to ann@corp.io`).toString('hex');
  const wide = Buffer.from(`key ${token}`, 'utf16le').toString('base64');
  const lines = Buffer.from(`${'x'.repeat(70)} ann@corp.io ${'y'.repeat(70)}`)
    .toString('base64')
    .replace(/.{76}/g, '$&\n');
  for (const text of [
    hex,
    wide,
    lines,
    'ann\\u0040corp.io',
    'ann\\x40corp.io',
    'ann%40corp.io',
    'ann&#x40;corp.io',
  ])
    t.match(shown(`a ${text} b`), /^a \[redacted:[a-z]+:[a-z-]+\] b$/, text);
});
