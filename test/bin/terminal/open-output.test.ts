import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import t, { type Test } from 'tap';
import { openOutput } from '../../../bin/terminal/open-output.ts';

function unasked(): never {
  throw new Error('no stream is needed');
}

/** A pipe that this process reads and writes, never waiting. */
function openPipe(t: Test): number {
  const path = join(t.testdir({}), 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.teardown(() => closeSync(pipe));
  return pipe;
}

function openStream(): { readonly stream: () => WriteStream; readonly text: () => string } {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk) => {
    text += chunk;
  });
  return { stream: () => stream as unknown as WriteStream, text: () => text };
}

t.test('a file, a null device and a pipe are written directly, without a Node stream', async (t) => {
  const path = join(t.testdir({}), 'file');
  const file = openSync(path, 'w');
  const out = openOutput(file, unasked);
  out.write('one ');
  out.write(Buffer.from('two'));
  out.write('');
  t.equal(readFileSync(path, 'utf8'), 'one two', 'before anybody waits for it');
  await out.flush();
  t.match(out, { isTTY: false, columns: undefined, closed: false, failure: undefined });
  closeSync(file);

  const none = openSync('/dev/null', 'w');
  openOutput(none, unasked).write('x'.repeat(100_000));
  closeSync(none);

  const pipe = openPipe(t);
  openOutput(pipe, unasked).write('said');
  const read = Buffer.alloc(10);
  t.equal(readSync(pipe, read), 4);
});

t.test('data that a pipe cannot accept at once goes through the stream in order', async (t) => {
  const pipe = openPipe(t);
  const { stream, text } = openStream();
  const out = openOutput(pipe, stream);
  out.write('first ');
  out.write('x'.repeat(64 * 1024));
  out.write('last');
  await out.flush();
  t.equal(text(), `${'x'.repeat(64 * 1024)}last`);
  const read = Buffer.alloc(100);
  t.equal(read.toString('utf8', 0, readSync(pipe, read)), 'first ');
});

t.test('output to a full pipe goes to the stream, which waits for its reader', async (t) => {
  const pipe = openPipe(t);
  writeSync(pipe, Buffer.alloc(63 * 1024));
  const { stream, text } = openStream();
  const out = openOutput(pipe, stream);
  out.write('y'.repeat(4096));
  out.write('end');
  await out.flush();
  const said = text();
  t.match(said, /^y*end$/);
  t.ok(said.length >= 3 * 1024, 'not all of it, and nothing is lost');
  t.match(out, { closed: false, failure: undefined });
});

t.test('a closed pipe ends the output quietly, and a failed write is remembered', async (t) => {
  const path = join(t.testdir({ file: '' }), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  closeSync(reader);
  const gone = openOutput(writer, unasked);
  gone.write('a');
  gone.write('b');
  await gone.flush();
  t.match(gone, { closed: true, failure: undefined });
  closeSync(writer);

  const locked = openSync(join(path, '..', 'file'), 'r');
  const failed = openOutput(locked, unasked);
  failed.write('a');
  t.match(failed, { closed: true, failure: { code: 'EBADF' } });
  closeSync(locked);
});

t.test('a device is written through its Node stream', async (t) => {
  const device = openSync('/dev/zero', 'r+');
  const terminal = openStream();
  Object.assign(terminal.stream(), { isTTY: true, columns: 132 });
  const out = openOutput(device, terminal.stream);
  t.match(out, { isTTY: true, columns: 132 });
  out.write('shown');
  await out.flush();
  t.equal(terminal.text(), 'shown');
  t.equal(openOutput(device, openStream().stream).isTTY, false);
  closeSync(device);
});
