import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { escapeJson } from '../../api/envelope.ts';
import {
  createPrinter,
  escapeTerminal,
  openSink,
  type Sink,
  styled,
  wantsColour,
} from '../../bin/terminal/print.ts';
import { createProgress } from '../../bin/terminal/progress.ts';

function capture(): { readonly sink: Sink; text(): string } {
  const stream = new PassThrough();
  return { sink: openSink(stream), text: () => String(stream.read() ?? '') };
}

const hostile =
  '\x1b[31mred\x1b]0;title\x07\r\u202egnp.exe\u2066x\u200b\u009b2J\u2028\ufeff\u{e0041}\ud800\x7f';

test('untrusted text cannot move the cursor, recolour, reorder or hide output', (t) => {
  const shown = escapeTerminal(hostile);
  t.notMatch(shown, /[\x00-\x1f\x7f-\x9f\u200b\u2028\u202e\u2066\ufeff\u{e0041}\ud800]/u);
  t.match(shown, '\\e[31mred');
  t.match(shown, '\\u{202e}gnp.exe');
  t.equal(escapeTerminal('plain é 日本 🙂'), 'plain é 日本 🙂');
});

test('a JSON document with hidden characters is printed as the same document with escapes', (t) => {
  const document = { [hostile]: [hostile, 'line\nfeed'] };
  const shown = escapeJson(JSON.stringify(document, null, 2));
  t.notMatch(shown, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e\u2066\ufeff\u{e0041}]/u);
  t.strictSame(JSON.parse(shown), document);
});

test('only styles add control sequences, and only if colour is on', (t) => {
  for (const colour of [true, false]) {
    const out = capture();
    const err = capture();
    const printer = createPrinter(out.sink, err.sink, {
      quiet: false,
      colourOut: colour,
      colourErr: false,
      before: () => {},
    });
    printer.line('a\nb ', styled('red', '\x1b[0mx'));
    printer.table([
      [styled('bold', 'k'), 'v'],
      ['long key', 'w'],
    ]);
    printer.text('one\ntwo\x1b[2J\r\n');
    printer.note('n\x1b');
    t.equal(
      out.text(),
      colour
        ? 'a\\nb \x1b[31m\\e[0mx\x1b[39m\n\x1b[1mk\x1b[22m         v\nlong key  w\none\ntwo\\e[2J\n'
        : 'a\\nb \\e[0mx\nk         v\nlong key  w\none\ntwo\\e[2J\n',
    );
    t.equal(err.text(), 'n\\e\n');
  }
});

test('`quiet` drops notes and keeps complaints', (t) => {
  const err = capture();
  const printer = createPrinter(capture().sink, err.sink, {
    quiet: true,
    colourOut: false,
    colourErr: false,
    before: () => {},
  });
  printer.note('note');
  printer.complain('complaint');
  t.equal(err.text(), 'complaint\n');
});

test('on a runner of GitHub no text is a command, and bytes and JSON stay what they are', (t) => {
  const written: (string | Uint8Array)[] = [];
  const sink = { ...capture().sink, write: (chunk: string | Uint8Array) => void written.push(chunk) };
  const look = { quiet: false, colourOut: false, colourErr: false, before: () => {} };
  const printer = createPrinter(sink, sink, { ...look, isOnRunner: true });
  const command = '##[add-mask]x';
  printer.line(command);
  printer.text(command);
  printer.table([[command]]);
  printer.note(command);
  printer.complain(command);
  t.strictSame(new Set(written.splice(0)), new Set(['## [add-mask]x\n']));
  const bytes = new Uint8Array([0xff, 0x23, 0x23, 0x5b]);
  printer.raw(bytes);
  t.strictSame(written, [bytes]);
  const shown = escapeJson(JSON.stringify([command]));
  t.notMatch(shown, '##[');
  t.strictSame(JSON.parse(shown), [command]);
});

test('NO_COLOR wins over FORCE_COLOR, which wins over the terminal', (t) => {
  const tty = { isTTY: true };
  t.equal(wantsColour({}, tty, false), true);
  t.equal(wantsColour({}, { isTTY: undefined }, false), false);
  t.equal(wantsColour({ TERM: 'dumb' }, tty, false), false);
  t.equal(wantsColour({ FORCE_COLOR: '1' }, {}, false), true);
  t.equal(wantsColour({ FORCE_COLOR: '0' }, tty, false), false);
  t.equal(wantsColour({ FORCE_COLOR: '1', NO_COLOR: '1' }, tty, false), false);
  t.equal(wantsColour({ NO_COLOR: '' }, tty, false), true, 'an empty NO_COLOR says nothing (no-color.org)');
  t.equal(wantsColour({ FORCE_COLOR: '1' }, tty, true), false);
});

t.test('a closed pipe ends the output quietly, and a full disk is remembered', async (t) => {
  for (const code of ['EPIPE', 'ECONNRESET', 'ENOSPC']) {
    let writes = 0;
    const broken = new Writable({
      write(_chunk, _encoding, done) {
        writes += 1;
        done(Object.assign(new Error(code), { code }));
      },
    });
    const sink = openSink(broken);
    sink.write('a');
    await sink.flush();
    sink.write('b');
    await sink.flush();
    t.equal(writes, 1, 'nothing is written after the fault');
    t.equal(sink.failure?.message, code === 'ENOSPC' ? code : undefined);
  }
});

test('repeated flushes share one error listener', async (t) => {
  const held: ((fault: Error) => void)[] = [];
  const slow = new Writable({ write: (_chunk, _encoding, done) => void held.push(done) });
  const sink = openSink(slow);
  const quiet = openSink(new PassThrough());
  for (let asked = 0; asked < 20; asked += 1) await quiet.flush();
  const before = slow.listenerCount('error');
  sink.write('a');
  const taken = Array.from({ length: 20 }, () => sink.flush());
  t.equal(slow.listenerCount('error'), before);
  held[0]?.(new Error('ENOSPC'));
  await Promise.all(taken);
  // The stream tells its fault after whoever writes.
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sink.failure?.message, 'ENOSPC', 'and whoever waits goes on');
});

test('progress is written to a terminal only, at a limited rate, and leaves a clean line', (t) => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const silent = capture();
  createProgress(silent.sink, { enabled: false, columns: 80 }, clock).update('x');
  t.equal(silent.text(), '');

  const err = capture();
  const progress = createProgress(err.sink, { enabled: true, columns: 10 }, clock);
  progress.update('first\n\x1b[31m and more');
  now += 50;
  progress.update('too soon');
  now += 60;
  progress.update('second');
  progress.clear();
  progress.clear();
  t.equal(err.text(), '\r\x1b[2Kfirst\\n\\e\r\x1b[2Ksecond\r\x1b[2K');
});

function test(name: string, body: (inner: typeof t) => void): void {
  t.test(name, async (inner) => body(inner as unknown as typeof t));
}
