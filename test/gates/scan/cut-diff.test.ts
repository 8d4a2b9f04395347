import t from 'tap';
import {
  type CutOptions,
  cutDiff,
  type DiffPiece,
  readFileHeader,
  type Unscanned,
} from '../../../gates/scan/cut-diff.ts';
import { readFiles } from '../../../gates/scan/scan-pieces.ts';
import { hunkLines } from '../../../readers/diff/read-sections.ts';

async function* inChunks(diff: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(diff);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function cut(diff: string, chunk: number, options: Partial<CutOptions> = {}) {
  const pieces: DiffPiece[] = [];
  const unscanned: Unscanned[] = [];
  const all = { onUnscanned: (one: Unscanned) => unscanned.push(one), ...options };
  for await (const piece of cutDiff(inChunks(diff, chunk), all)) pieces.push(piece);
  return { pieces, unscanned };
}

/** `path:line text` of every added line. */
function added(pieces: readonly DiffPiece[]): readonly string[] {
  return pieces.flatMap(({ diff }) =>
    readFiles(diff).flatMap((file) =>
      [...hunkLines(diff, file)]
        .filter(({ kind }) => kind === 'added')
        .map(
          ({ line, start, end }) =>
            `${file.path}:${line} ${Buffer.from(diff.buffer, diff.byteOffset).toString('utf8', start, end)}`,
        ),
    ),
  );
}

const header = (path: string, more = ''): string =>
  `diff --git a/${path} b/${path}\n${more}--- a/${path}\n+++ b/${path}\n`;

const diff = [
  'From: someone\n\nProse with diff --git in it.\n',
  header('src/a.js'),
  '@@ -1,3 +1,4 @@ function a() {\n one\n-two\n+2\n+two and a half\n three\n',
  '@@ -40,2 +41,3 @@\n x\n+++ looks like a header\n y\n\\ No newline at end of file\n',
  header('src/ü.js', 'new file mode 100644\n').replace('--- a/src/ü.js', '--- /dev/null'),
  '@@ -0,0 +1,3 @@\n+eins\n+\n+drei\n',
  'diff --git a/old.txt b/new.txt\nsimilarity index 90%\nrename from old.txt\nrename to new.txt\n',
  '--- a/old.txt\n+++ b/new.txt\n@@ -7 +7 @@\n-a\n+b\n',
  'diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n',
].join('');

const expected = [
  'src/a.js:2 2',
  'src/a.js:3 two and a half',
  'src/a.js:42 ++ looks like a header',
  'src/ü.js:1 eins',
  'src/ü.js:2 ',
  'src/ü.js:3 drei',
  'new.txt:7 b',
];

t.test('reads every file and added line of a diff in one piece', async (t) => {
  const { pieces } = await cut(diff, 1 << 20);
  t.equal(pieces.length, 1);
  t.strictSame(added(pieces), expected);
  if (!pieces[0]) throw new Error('no piece');
  t.match(readFiles(pieces[0].diff), [
    { path: 'src/a.js', changeType: 'modify', binary: false },
    { path: 'src/ü.js', changeType: 'add', newMode: '100644' },
    { path: 'new.txt', oldPath: 'old.txt', changeType: 'rename' },
    { path: 'logo.png', binary: true },
  ]);
});

t.test('finds the same added lines wherever the diff is cut', async (t) => {
  for (const pieceBytes of [1, 20, 50, 90, 130, 200, 400]) {
    for (const chunk of [1, 7, 64, 1000]) {
      const { pieces, unscanned } = await cut(diff, chunk, { pieceBytes });
      t.strictSame(added(pieces), expected, `pieces of ${pieceBytes}, chunks of ${chunk}`);
      t.strictSame(unscanned, []);
    }
  }
});

t.test('reports a line beyond the size limit and keeps later line numbers right', async (t) => {
  const long = `${header('src/min.js')}@@ -0,0 +1,3 @@\n+first\n+${'x'.repeat(5000)}\n+third\n`;
  for (const chunk of [100, 1024]) {
    const { pieces, unscanned } = await cut(long, chunk, { pieceBytes: 500, maxLineBytes: 2000 });
    t.match(unscanned, [{ path: 'src/min.js', line: 2 }], `chunks of ${chunk}`);
    t.strictSame(
      added(pieces).filter((line) => !/:2 /.test(line)),
      ['src/min.js:1 first', 'src/min.js:3 third'],
    );
  }
});

t.test('reads a 40 MB file in pieces below 8 MiB', async (t) => {
  const line = `+${'const value = compute(1);'.padEnd(99)}\n`;
  const block = Buffer.from(line.repeat(10_000));
  const blocks = 40;
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${header('big.js')}@@ -0,0 +1,${blocks * 10_000} @@\n`);
    for (let at = 0; at < blocks; at += 1) yield block;
  }
  let count = 0;
  let largest = 0;
  for await (const piece of cutDiff(source(), { onUnscanned: () => t.fail() })) {
    largest = Math.max(largest, piece.diff.length);
    count += added([piece]).length;
  }
  t.equal(count, blocks * 10_000);
  t.ok(largest < 8 * 1024 * 1024, `${largest} bytes`);
});

t.test('reuses memory only after its piece is released', async (t) => {
  const file = (index: number) =>
    `${header(`f${index}.js`)}@@ -0,0 +1 @@\n+${String(index).padEnd(90, 'x')}\n`;
  const many = Array.from({ length: 200 }, (_, index) => file(index)).join('');
  const expected = added((await cut(many, 64)).pieces);
  for (const inHand of [0, 1, 3]) {
    const memories = new Set<unknown>();
    const held: DiffPiece[] = [];
    const seen: string[] = [];
    const read = (piece: DiffPiece | undefined) => {
      if (!piece) return;
      seen.push(...added([piece]));
      piece.release?.();
    };
    for await (const piece of cutDiff(inChunks(many, 64), { pieceBytes: 400, onUnscanned: () => {} })) {
      memories.add(piece.diff.buffer);
      held.push(piece);
      if (held.length > inHand) read(held.shift());
    }
    for (const piece of held) read(piece);
    t.strictSame(seen, expected);
    t.ok(memories.size <= inHand + 3, `${memories.size} for ${inHand} in hand`);
  }
});

t.test('marks a piece that begins with the rest of a file', async (t) => {
  const long = `${header('a.js')}@@ -0,0 +1,20 @@\n${'+line\n'.repeat(20)}${header('b.js')}@@ -0,0 +1 @@\n+b\n`;
  const { pieces } = await cut(long, 16, { pieceBytes: 100 });
  const files = pieces.flatMap(({ diff, isRest }) => readFiles(diff).slice(isRest ? 1 : 0));
  t.ok(pieces.length > 2);
  t.same(
    files.map(({ path }) => path),
    ['a.js', 'b.js'],
  );
});

t.test('reads the header of a file', async (t) => {
  for (const [lines, expected] of [
    ['index 1111111..2222222 100755', { changeType: 'modify', newMode: '100755' }],
    ['index 1111111..2222222', { changeType: 'modify' }],
    ['new file mode 100644\nindex 0000000..2222222', { changeType: 'add', newMode: '100644' }],
  ] as const) {
    const old = lines.startsWith('new') ? '/dev/null' : 'a/src/x.js';
    const text = `diff --git a/src/x.js b/src/x.js\n${lines}\n--- ${old}\n+++ b/src/x.js\n@@ -1 +1 @@\n-a\n+b\n`;
    const bytes = Buffer.from(text);
    const { start, end, ...said } = readFileHeader(bytes, 0, bytes.length);
    t.match(said, { path: 'src/x.js', ...expected });
    t.same([start, end], [0, bytes.length]);
  }
});

t.test('refuses input that is not a diff', async (t) => {
  await t.rejects(cut('nothing here\n'.repeat(100), 10, { pieceBytes: 100 }), { code: 'PATCH_MALFORMED' });
  await t.rejects(cut('nothing here\n', 1), { code: 'PATCH_MALFORMED' }, 'octet by octet');
  t.match(await cut('', 10), { pieces: [] });
});
