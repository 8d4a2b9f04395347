import { gzipSync } from 'node:zlib';
import t from 'tap';
import { inflate, isFault } from '../../../../readers/documents/archive/inflate.ts';
import { readTar, tarEntries, writeTar } from '../../../../readers/documents/archive/tar.ts';
import { readZip, type ZipLimits, zipMembers } from '../../../../readers/documents/archive/zip.ts';
import { zipOf } from '../../../plugins/supply-chain/zip-of.ts';
import { pax, tarball } from '../../../plugins/third-party/tar.ts';

const mega = 1024 * 1024;
const limits: ZipLimits = { members: 10, bytes: mega, memberBytes: mega, isPlain: true };
const within = (bytes: Buffer, more: Partial<ZipLimits> = {}) => readZip(bytes, { ...limits, ...more });
const namesOf = (read: ReturnType<typeof readZip>) =>
  isFault(read) ? read : read.map(({ name, bytes }) => [`${name}`, `${bytes}`]);
const central = (zip: Buffer, nth = 0) => {
  let at = -1;
  for (let count = 0; count <= nth; count += 1) at = zip.indexOf('PK\x01\x02', at + 1, 'latin1');
  return at;
};
const altered = (zip: Buffer, alter: (zip: Buffer) => void) => {
  const bytes = Buffer.from(zip);
  alter(bytes);
  return bytes;
};

t.test('reads a zip archive the same in memory and in pieces', async (t) => {
  const files = [
    ['a.json', '{}'],
    ['dir/b.txt', 'x'.repeat(5000)],
  ] as const;
  for (const stored of [false, true])
    for (const isPlain of [false, true])
      t.strictSame(namesOf(within(zipOf(files, { stored }), { isPlain })), files);
  const only = within(zipOf(files), { isWanted: (name) => name.endsWith('.json'), bytes: 2 });
  t.strictSame(namesOf(only), [files[0]], 'what is not wanted is not unpacked and not counted');
  t.strictSame(namesOf(within(zipOf([]))), []);
});

t.test('returns names in a zip archive unchanged, even unsafe ones', async (t) => {
  const names = ['../../etc/passwd', '/etc/passwd', 'C:\\x', 'a\0b', ''];
  t.strictSame(
    namesOf(within(zipOf(names.map((name) => [name, 'x'])))),
    names.map((name) => [name, 'x']),
  );
});

t.test('refuses a zip archive beyond a limit before unpacking it', async (t) => {
  const bomb = zipOf([['a', Buffer.alloc(8 * mega)]]);
  t.match(within(bomb), { bound: 'memberBytes' });
  t.match(within(bomb, { memberBytes: Number.POSITIVE_INFINITY }), { bound: 'bytes' });
  const lying = zipOf([['a', Buffer.alloc(8 * mega)]], { size: 10 });
  t.match(within(lying), { fault: 'an entry is damaged', cause: { code: 'ERR_BUFFER_TOO_LARGE' } });
  const many = zipOf(Array.from({ length: 11 }, (_, at) => [`${at}`, '']));
  t.match(within(many), { bound: 'members' });
  const halves = zipOf([
    ['a', 'x'.repeat(600)],
    ['b', 'x'.repeat(600)],
  ]);
  t.match(within(halves, { bytes: 1000 }), { bound: 'bytes' }, 'all members share the bound');
  t.equal(isFault(within(halves, { bytes: 1200 })), false);
});

t.test('counts the bytes of each member even if members share them', async (t) => {
  const zip = altered(
    zipOf([
      ['a', 'x'.repeat(900)],
      ['b', 'x'.repeat(900)],
    ]),
    (bytes) => bytes.writeUInt32LE(0, central(bytes, 1) + 42),
  );
  t.strictSame(namesOf(within(zip)), [
    ['a', 'x'.repeat(900)],
    ['b', 'x'.repeat(900)],
  ]);
  t.match(within(zip, { bytes: 1000 }), { bound: 'bytes' });
});

t.test('refuses a damaged zip archive', async (t) => {
  const zip = zipOf([['a.json', '{"a":1}']]);
  const reaching = zipOf([['a', 'x'.repeat(50)]], { stored: true });
  const end = zip.length - 22;
  const cases: Record<string, readonly [Buffer, RegExp]> = {
    encrypted: [zipOf([['a', 'b']], { flags: 1 }), /encrypted/],
    'a wrong CRC': [altered(zip, (b) => b.writeUInt32LE(1, central(b) + 16)), /damaged/],
    'another method': [altered(zip, (b) => b.writeUInt16LE(12, central(b) + 10)), /method 12/],
    'several disks': [altered(zip, (b) => b.writeUInt16LE(1, end + 4)), /disks/],
    'no directory where it is said': [altered(zip, (b) => b.writeUInt32LE(1, end + 16)), /directory/],
    'a member elsewhere': [altered(zip, (b) => b.writeUInt32LE(3, central(b) + 42)), /not where/],
    'a member beyond the end': [altered(zip, (b) => b.writeUInt32LE(2 ** 31, central(b) + 42)), /not where/],
    'a member that is its own directory': [
      altered(reaching, (b) => b.writeUInt32LE(60, central(b) + 20)),
      /reaches into its directory/,
    ],
  };
  for (const [name, [bytes, fault]] of Object.entries(cases))
    for (const isPlain of [true, false]) t.match(within(bytes, { isPlain }), { fault }, name);
  for (let length = 0; length < zip.length; length += 1)
    t.ok(isFault(within(zip.subarray(0, length), { isPlain: false })), `cut off after ${length} bytes`);
});

t.test('refuses bytes between directory and end only if the archive must be plain', async (t) => {
  const zip = zipOf([['a', 'b']]);
  const at = zip.length - 22;
  const hidden = Buffer.concat([zip.subarray(0, at), Buffer.from('hidden'), zip.subarray(at)]);
  t.ok(isFault(within(hidden)));
  t.strictSame(namesOf(within(hidden, { isPlain: false })), [['a', 'b']]);
  const wide = altered(zip, (bytes) => bytes.writeUInt32LE(0xffffffff, at + 16));
  t.match(within(wide, { isPlain: false }), { fault: 'its zip64 directory is missing' });
});

t.test('reports a fault when the caller supplies too few bytes', async (t) => {
  const zip = zipOf([['a', 'b']]);
  for (let short = 0; short < 4; short += 1) {
    let count = 0;
    const read = (at: number, length: number) => {
      count += 1;
      return zip.subarray(at, at + length - Number(count === short + 1));
    };
    t.throws(() => [...zipMembers(zip.length, read, limits)], { message: /^(?:its|an entry)/ }, `${short}`);
  }
});

t.test('reads a tar archive to its end marker and refuses a truncated one', async (t) => {
  const files = [
    { name: '../../etc/passwd', content: 'x' },
    { name: '/abs', content: 'y'.repeat(513) },
  ];
  const strict = { members: 10, isStrict: true };
  const lenient = { members: 10, isStrict: false };
  const tar = tarball(files, { zip: false });
  const parts = readTar(tar, strict);
  if (isFault(parts)) throw new Error(parts.fault);
  const entries = tarEntries(parts);
  t.match(entries, [
    { name: '../../etc/passwd', type: '0', bytes: Buffer.from('x') },
    { name: '/abs', type: '0' },
  ]);
  t.ok(writeTar(parts).equals(tar));
  t.match(readTar(tar, { ...strict, members: 1 }), { bound: 'members' });
  const open = tarball(files, { zip: false, end: false });
  t.match(readTar(open, strict), { fault: 'the archive has no end' });
  t.match(readTar(open, lenient), { length: 2 });
  t.match(readTar(open.subarray(0, -1), lenient), { length: 2 }, 'padding at the end may be missing');
  for (const length of [1, 511, 513 - 1 + 512 + 511, 512 * 3 + 400])
    for (const bounds of [strict, lenient])
      t.ok(isFault(readTar(tar.subarray(0, length), bounds)), `${length}`);
  const huge = tarball([{ name: 'a', size: 0o77777777777 }], { zip: false });
  t.match(readTar(huge, lenient), { fault: 'the archive is cut off' });
  for (const at of [124, 148])
    t.ok(
      isFault(
        readTar(
          altered(tar, (bytes) => bytes.writeUInt8(0x80, at)),
          lenient,
        ),
      ),
      'a binary number',
    );
  const followed = readTar(Buffer.concat([tar, Buffer.alloc(1024, 'x')]), strict);
  t.match(isFault(followed) ? followed : tarEntries(followed), { length: 2 }, 'its end is its end');
});

t.test('refuses a tar archive that can be read in two ways', async (t) => {
  const read = (records: string, type = 'x') => {
    const tar = tarball([{ name: 'pax', type, content: records }, { name: 'a' }], { zip: false });
    const parts = readTar(tar, { members: 10, isStrict: true });
    return isFault(parts) ? parts : tarEntries(parts);
  };
  t.match(read(pax('path', '../x')), [{ name: '../x' }]);
  t.match(read(pax('size', '3')), { fault: '`a` has two sizes' });
  t.match(read(pax('path', 'x'), 'g'), { fault: 'a global pax header has a `path`' });
  t.match(read(pax('linkpath', 'x')), { fault: /not supported/ });
  t.match(read('9999999 path=x\n'), { fault: 'a pax header is malformed' });
});

t.test('inflates compressed data up to its limit', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * mega));
  t.match(inflate(bomb, 'gzip', mega), { bound: 'bytes', cause: { code: 'ERR_BUFFER_TOO_LARGE' } });
  const small = gzipSync('x');
  t.strictSame(inflate(small, 'gzip', 1), Buffer.from('x'));
  for (const length of [0, 1, 10, small.length - 1]) {
    const read = inflate(small.subarray(0, length), 'gzip', mega);
    t.ok(isFault(read) && read.bound === undefined, `cut off after ${length} bytes`);
  }
  t.match(inflate(Buffer.from('no gzip'), 'gzip', mega), { fault: 'it is damaged' });
});
