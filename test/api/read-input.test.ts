import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, symlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { readInput } from '../../api/read-input.ts';
import { writeOutput } from '../../bin/command-parts/write-output.ts';
import { WritError } from '../../core/base/errors.ts';
import { instant } from '../waiting/instant.ts';

function reader(cwd: string, stdin: Readable = Readable.from([])) {
  return { cwd, stdin, signal: new AbortController().signal };
}

t.test(
  'reads a file relative to the working directory, through symlinks, up to the exact limit',
  async (t) => {
    const dir = t.testdir({ sub: { 'a.txt': 'hello' }, empty: '' });
    symlinkSync(join(dir, 'sub', 'a.txt'), join(dir, 'link'));
    t.equal(String(await readInput(reader(dir), 'sub/a.txt', { maxBytes: 5 })), 'hello');
    t.equal(String(await readInput(reader(join(dir, 'sub')), '../link', { maxBytes: 5 })), 'hello');
    t.equal((await readInput(reader(dir), 'empty', { maxBytes: 5 })).length, 0);
    await t.rejects(readInput(reader(dir), 'link', { maxBytes: 4 }), {
      code: 'INPUT_TOO_LARGE',
      detail: { maxBytes: 4 },
    });
  },
);

t.test('reads stdin for a dash, up to the same limit', async (t) => {
  t.equal(
    String(
      await readInput(reader('.', Readable.from([Buffer.from('he'), Buffer.from('llo')])), '-', {
        maxBytes: 5,
      }),
    ),
    'hello',
  );
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1024);
    })(),
  );
  await t.rejects(readInput(reader('.', endless), '-', { maxBytes: 5000 }), { code: 'INPUT_TOO_LARGE' });
});

t.test('a missing file, a directory, a symlink loop and an invalid path are INPUT_UNREADABLE', async (t) => {
  const dir = t.testdir({ sub: {}, file: '' });
  symlinkSync('loop', join(dir, 'loop'));
  for (const path of ['missing', 'sub', 'file/x', 'loop', '', 'a\0b', 'x'.repeat(5000)]) {
    await t.rejects(
      readInput(reader(dir), path, { maxBytes: 5 }),
      { code: 'INPUT_UNREADABLE' },
      JSON.stringify(path).slice(0, 20),
    );
  }
});

t.test('devices and files of unknown size are limited by the bytes actually read', async (t) => {
  await t.rejects(readInput(reader('/'), '/dev/zero', { maxBytes: 100_000 }), { code: 'INPUT_TOO_LARGE' });
  t.equal((await readInput(reader('/'), '/dev/null', { maxBytes: 1 })).length, 0);
  t.ok(
    (await readInput(reader('/'), '/proc/self/status', { maxBytes: 1_000_000 })).length > 100,
    'said to be 0 bytes',
  );
});

t.test('a FIFO without a writer reads as empty, others are read to their end', async (t) => {
  const dir = t.testdir({});
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  t.equal((await readInput(reader(dir), 'pipe', { maxBytes: 5 })).length, 0);
  for (const [content, late] of [
    ['hello', false],
    ['hello', true],
    ['hello!', false],
    ['hello!', true],
  ] as const) {
    const writer = openSync(join(dir, 'pipe'), 'r+');
    if (!late) writeSync(writer, content);
    const reading = readInput(reader(dir), 'pipe', { maxBytes: 5 });
    if (late) writeSync(writer, content);
    void instant(20).then(() => closeSync(writer));
    if (content.length <= 5) t.equal(String(await reading), content);
    else await t.rejects(reading, { code: 'INPUT_TOO_LARGE' });
  }
});

t.test('an interrupt ends a pending read of stdin with its own error', async (t) => {
  const abort = new AbortController();
  const reason = new WritError('RUN_INTERRUPTED');
  const reading = readInput({ cwd: '.', stdin: new PassThrough(), signal: abort.signal }, '-', {
    maxBytes: 5,
  });
  abort.abort(reason);
  await t.rejects(reading, { code: 'RUN_INTERRUPTED' });
  await t.rejects(
    readInput({ cwd: '.', stdin: new PassThrough(), signal: abort.signal }, '/dev/null', { maxBytes: 5 }),
    {
      code: 'RUN_INTERRUPTED',
    },
  );
});

t.test('output never overwrites an existing path, and an error says why it cannot be written', async (t) => {
  const dir = t.testdir({ taken: 'old' });
  symlinkSync('nowhere', join(dir, 'dangling'));
  mkdirSync(join(dir, 'sub'));
  t.equal(writeOutput(dir, 'new', 'content'), join(dir, 'new'));
  t.equal(String(await readInput(reader(dir), 'new', { maxBytes: 50 })), 'content');
  for (const path of ['taken', 'dangling', 'sub'])
    t.throws(() => writeOutput(dir, path, 'x'), { code: 'OUTPUT_EXISTS' }, path);
  t.throws(() => writeOutput(dir, 'sub', 'x'), {
    message: '`sub` is a directory',
    hints: ['name a file in it'],
  });
  t.equal(String(await readInput(reader(dir), 'taken', { maxBytes: 50 })), 'old');
  t.throws(() => writeOutput(dir, 'missing/$&/file', 'x'), {
    code: 'OUTPUT_FAILED',
    message: '`missing/$&/file` cannot be written: there is no directory `missing/$&`',
    hints: ['make it: `mkdir -p missing/$&`'],
  });
  t.throws(() => writeOutput(dir, 'taken/file', 'x'), {
    code: 'OUTPUT_FAILED',
    message: /`taken` is no dir/,
  });
});
