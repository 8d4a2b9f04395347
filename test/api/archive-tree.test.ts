import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { findTreeInArchive } from '../../api/verify/archive-tree.ts';
import { runProgram } from '../starter/run-program.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-archive-'));
t.teardown(() => rmSync(root, { recursive: true }));
const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
const git = (...args: readonly string[]): Buffer => runProgram('git', ['-C', root, ...args], { env }).stdout;

git('init', '-q');
const long = join('a'.repeat(120), 'b'.repeat(150));
mkdirSync(join(root, long), { recursive: true });
mkdirSync(join(root, 'src'));
writeFileSync(join(root, long, 'c.txt'), 'deep\n');
writeFileSync(join(root, 'src/a.js'), Buffer.alloc(100_000, 'x'));
writeFileSync(join(root, 'src.js'), '');
writeFileSync(join(root, 'ü.txt'), 'not ASCII\n');
writeFileSync(join(root, 'run.sh'), '#!/bin/sh\n');
chmodSync(join(root, 'run.sh'), 0o755);
symlinkSync('src/a.js', join(root, 'link'));
symlinkSync(`${'d'.repeat(150)}/x`, join(root, 'long-link'));
git('add', '-A');
const tree = git('write-tree').toString().trim();

const find = (bytes: Buffer, chunk = 65_536) => {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) =>
    bytes.subarray(n * chunk, (n + 1) * chunk),
  );
  return findTreeInArchive(Readable.from(chunks), tree);
};
const plain = git('archive', tree);
/** The header of an entry, as a part of these bytes. */
const headerOf = (bytes: Buffer, name: string): Buffer => {
  const at = placeOf(bytes, name);
  return bytes.subarray(at, at + 512);
};
/** A name may stand in a link, too: only what begins a block is a header. */
const placeOf = (bytes: Buffer, name: string): number => {
  let at = bytes.indexOf(`${name}\0`);
  while (at % 512 !== 0) at = bytes.indexOf(`${name}\0`, at + 1);
  return at;
};
const withChecksum = (header: Buffer): Buffer => {
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, octet) => total + octet, 0);
  header.write(`${sum.toString(8).padStart(7, '0')}\0`, 148, 'latin1');
  return header;
};
/** The archive with one header changed, its checksum made right again. */
const changed = (name: string, change: (header: Buffer) => void): Buffer => {
  const bytes = Buffer.from(plain);
  const header = headerOf(bytes, name);
  change(header);
  withChecksum(header);
  return bytes;
};
/** The archive with extended headers of one record each before an entry. */
const extended = (type: string, before: string, ...records: readonly string[]): Buffer => {
  const headers = records.flatMap((text) => {
    const content = Buffer.alloc(512);
    const record = `${text.length + 4} ${text}\n`;
    content.write(record, 'latin1');
    const header = Buffer.from(headerOf(plain, 'src.js'));
    header.write(`${record.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
    header.write(type, 156, 'latin1');
    return [withChecksum(header), content];
  });
  const at = placeOf(plain, before);
  return Buffer.concat([plain.subarray(0, at), ...headers, plain.subarray(at)]);
};

t.test('finds a tree in what `git archive` writes, with and without prefix and compression', async (t) => {
  t.same(await find(plain), { prefix: '', files: 7 });
  t.same(await find(plain, 7), { prefix: '', files: 7 }, 'in small chunks');
  t.same(await find(git('archive', '--prefix=app-1.0/', tree)), { prefix: 'app-1.0/', files: 7 });
  t.same(await find(git('archive', '--prefix=a/ü/', tree)), { prefix: 'a/ü/', files: 7 });
  t.same(await find(git('archive', '--format=tar.gz', tree)), { prefix: '', files: 7 });
  t.same(await find(git('-c', 'tar.umask=0077', 'archive', tree)), { prefix: '', files: 7 });
  t.same(await find(git('archive', '--format=zip', tree)), { unsupported: 'zip' });
  t.same(await find(Buffer.from('PK\x05\x06', 'latin1')), { unsupported: 'zip' }, 'an empty one');
});

t.test('an archive with another content, path, mode, link or entry is not the tree', async (t) => {
  const rows: Readonly<Record<string, Buffer>> = {
    'another content': Buffer.from(plain.toString('latin1').replace('deep\n', 'DEEP\n'), 'latin1'),
    'another path': changed('src/a.js', (header) => header.write('src/b.js', 'latin1')),
    'not executable': changed('run.sh', (header) => header.write('0000664', 100, 'latin1')),
    'set-user-id': changed('run.sh', (header) => header.write('0004775', 100, 'latin1')),
    'another link': changed('link', (header) => header.write('src/b.js', 157, 'latin1')),
    'a hard link': changed('link', (header) => header.write('1', 156, 'latin1')),
    'a path out of it': changed('src/a.js', (header) => header.write('src/../a', 'latin1')),
    'an absolute path': changed('src/a.js', (header) => header.write('/rc/a.js', 'latin1')),
    'two of one name': changed('src.js', (header) => header.write('run.sh\0', 'latin1')),
    'a damaged header': Buffer.from(plain.toString('latin1').replace('src.js\0', 'src.jz\0'), 'latin1'),
    'an early end': plain.subarray(0, 2048),
    'more behind its end': Buffer.concat([plain, plain]),
    'a file less': git('archive', tree, 'src'),
    'two prefixes': Buffer.concat([git('archive', '--prefix=a/', tree).subarray(0, -10240), plain]),
    'a file named like a directory': changed('src.js', (header) => header.write('src.js/', 'latin1')),
    'the same by an extended header': extended('x', 'src.js', 'path=src.js/'),
    'a prefix without a name': changed('src.js', (header) => {
      header.write('src.js', 345, 'latin1');
      header.fill(0, 0, 100);
    }),
    'a prefix of a short path': changed('src/a.js', (header) => {
      header.write('src', 345, 'latin1');
      header.write('a.js\0\0\0\0', 'latin1');
    }),
    'an extended header for a short path': extended('x', 'src.js', 'path=src.js'),
    'a size in an extended header': extended('x', 'src/a.js', 'size=100000'),
    'two extended headers': extended('x', 'src.js', 'path=src/a.js', 'path=src.js'),
    'a path for all entries': extended('g', plain.toString('latin1', 0, plain.indexOf('\0')), 'path=src.js'),
    'a size for all entries': extended('g', plain.toString('latin1', 0, plain.indexOf('\0')), 'size=00000'),
    'a comment between entries': extended('g', 'src.js', `comment=${'a'.repeat(40)}`),
    'another owner': changed('src.js', (header) => header.write('7', 114, 'latin1')),
    'a number that is not of full width': changed('src.js', (header) => header.write(' 664 ', 100, 'latin1')),
    'more behind the end of a name': changed('src.js', (header) => header.write('x', 50, 'latin1')),
    'a file with a link': changed('src.js', (header) => header.write('run.sh', 157, 'latin1')),
    'a file of the old kind': changed('src.js', (header) => header.write('\0', 156, 'latin1')),
    'an empty directory more': changed('src.js', (header) => header.write('5', 156, 'latin1')),
  };
  for (const [name, bytes] of Object.entries(rows)) {
    t.match(await find(bytes), { reason: String }, name);
    t.match(await find(gzipSync(bytes)), { reason: String }, `${name}, compressed`);
  }
});

t.test('an archive whose attributes converted files says how to make one without', async (t) => {
  const attributes = join(root, '.git/info/attributes');
  mkdirSync(dirname(attributes), { recursive: true });
  writeFileSync(attributes, '* text eol=crlf\nsrc.js export-ignore\n');
  const answer = await find(git('archive', tree));
  const reason = answer !== undefined && 'reason' in answer ? answer.reason : '';
  const [, lines = ''] = /write `([^`]+)` to `info\/attributes`/.exec(reason) ?? [];
  writeFileSync(attributes, lines);
  t.match(await find(git('archive', tree)), { files: 7 }, reason);
  rmSync(attributes);
});

t.test('what is no tar archive is none', async (t) => {
  for (const bytes of ['', 'text', '\x1f\x8b', 'x'.repeat(2000), '\0'.repeat(2048)])
    t.equal(await find(Buffer.from(bytes, 'latin1')), undefined);
  t.equal(await find(gzipSync('text')), undefined);
  t.equal(await find(gzipSync(plain).subarray(0, 40)), undefined, 'a cut gzip file');
});

t.test('a bomb is not read to its end', async (t) => {
  const header = Buffer.from(headerOf(plain, 'src.js'));
  header.write('77777777777\0', 124, 'latin1');
  withChecksum(header);
  t.match(await find(header), { reason: /holds more than/ });
});
