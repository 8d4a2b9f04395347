import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type CutSection, cutPatch, patchWithout } from '../../../workspace/patch/patch-paths.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';

/** A repository of these files, and git in it. */
function repositoryOf(root: string, files: Readonly<Record<string, string | Buffer>>) {
  const git = (args: readonly string[], input?: Buffer): Buffer =>
    execFileSync('git', args, { cwd: root, ...(input === undefined ? {} : { input }), maxBuffer: 1e8 });
  git(['init', '--quiet', '--initial-branch=main']);
  git(['config', 'user.name', 'x']);
  git(['config', 'user.email', 'x@example.org']);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  git(['add', '--all']);
  git(['commit', '--quiet', '-m', 'base']);
  return git;
}

/** As the engine normalises one. */
const diffArgs = [
  'diff',
  '--cached',
  '--no-color',
  '--full-index',
  '--binary',
  '--unified=3',
  '--find-renames=50%',
];

function wholeOf(sections: readonly CutSection[]): Buffer {
  return Buffer.concat(
    sections.flatMap(({ head, hunks }) => [
      head,
      ...hunks.flatMap(({ header: { oldLine, oldCount, newLine, newCount }, rest, body }) => [
        Buffer.from(`@@ -${oldLine},${oldCount} +${newLine},${newCount} @@`),
        rest,
        body,
      ]),
    ]),
  );
}

long('`patchWithout` removes any hunks and leaves a patch that git applies correctly', async (t) => {
  const random = seededRandom(toldSeed(t));
  const root = t.testdir();
  const lines = 700;
  /** Lines that are alike: git could find a hunk in the wrong place. */
  const before = Array.from({ length: lines }, (_, at) => `${at % 7 === 0 ? 'block' : 'same'}\n`);
  const git = repositoryOf(root, { 'a.txt': before.join('') });
  for (let round = 0; round < 20; round += 1) {
    const changed = new Map<number, string>();
    for (let at = 10; at < lines - 10; at += 21)
      if (random() < 0.6) changed.set(at, random() < 0.3 ? '' : `one ${at}\n`.repeat(random() < 0.5 ? 1 : 3));
    const textWith = (isIn: (at: number) => boolean): string =>
      before.map((line, at) => (changed.has(at) && isIn(at) ? (changed.get(at) ?? '') : line)).join('');
    writeFileSync(
      join(root, 'a.txt'),
      textWith(() => true),
    );
    git(['add', '--all']);
    const diff = git(diffArgs);
    git(['reset', '--hard', '--quiet']);
    const hunks = cutPatch(diff).flatMap((one) => one.hunks);
    t.equal(hunks.length, changed.size, 'each change is a hunk of its own');
    t.equal(new Set(hunks.map(({ id }) => id)).size, hunks.length, 'and has an id of its own');
    const rejected = hunks.filter(() => random() < 0.5);
    if (rejected.length === hunks.length) continue;
    const left = patchWithout(diff, new Set(rejected.map(({ id }) => id)));
    git(['apply', '--cached', '--whitespace=nowarn', '-'], left);
    const places = [...changed.keys()];
    const keeps = new Set(places.filter((_, at) => !rejected.includes(hunks[at] as (typeof hunks)[number])));
    t.equal(
      git(['show', ':a.txt']).toString(),
      textWith((at) => keeps.has(at)),
    );
    git(['reset', '--hard', '--quiet']);
  }
});

t.test('`patchWithout` loses nothing and removes changes without lines as a whole', async (t) => {
  const root = t.testdir();
  const binary = Buffer.from([0, 1, 2, 3, 255]);
  const git = repositoryOf(root, {
    binary: binary,
    'mode.sh': 'x\n',
    'old name.txt': 'a\nb\nc\nd\ne\nf\n',
    'gone.txt': 'bye\n',
    'no-end.txt': 'a\nb',
    'latin.txt': Buffer.from([0xe4, 10]),
    'kind.txt': 'a\n',
    'looks.txt': '-- a/x\nb\n',
  });
  writeFileSync(join(root, 'binary'), Buffer.concat([binary, binary]));
  chmodSync(join(root, 'mode.sh'), 0o755);
  mkdirSync(join(root, 'd'));
  renameSync(join(root, 'old name.txt'), join(root, 'd', 'näw "name".txt'));
  rmSync(join(root, 'gone.txt'));
  writeFileSync(join(root, 'no-end.txt'), 'a\nc');
  writeFileSync(join(root, 'latin.txt'), Buffer.from([0xf6, 10]));
  writeFileSync(join(root, 'new.txt'), '+++ b/x\n');
  writeFileSync(join(root, 'empty'), '');
  rmSync(join(root, 'kind.txt'));
  symlinkSync('empty', join(root, 'kind.txt'));
  writeFileSync(join(root, 'looks.txt'), '++ b/x\nb\n');
  git(['add', '--all']);
  const diff = git(diffArgs);
  const tree = git(['write-tree']).toString();
  const sections = cutPatch(diff);
  t.strictSame([...new Set(sections.map(({ path }) => path))].sort(), [
    'binary',
    'd/näw "name".txt',
    'empty',
    'gone.txt',
    'kind.txt',
    'latin.txt',
    'looks.txt',
    'mode.sh',
    'new.txt',
    'no-end.txt',
  ]);
  const plain = (bytes: Buffer): string =>
    bytes
      .toString('latin1')
      .replaceAll(/^@@ -(\d+) \+/gm, '@@ -$1,1 +')
      .replaceAll(/^(@@ -\S+ \+\d+) @@/gm, '$1,1 @@');
  t.equal(plain(wholeOf(sections)), plain(diff), 'together they are the patch');
  t.equal(plain(patchWithout(diff, new Set())), plain(diff), 'nothing is rejected, nothing is gone');
  git(['reset', '--hard', '--quiet']);
  git(['apply', '--index', '--whitespace=nowarn', '-'], patchWithout(diff, new Set()));
  t.equal(git(['write-tree']).toString(), tree);
  for (const { path, hunks, id } of sections) {
    git(['reset', '--hard', '--quiet']);
    const ids = new Set(
      sections
        .filter((one) => one.path === path)
        .flatMap((one) => (one.hunks.length === 0 ? [one.id] : one.hunks.map((hunk) => hunk.id))),
    );
    git(['apply', '--index', '--whitespace=nowarn', '-'], patchWithout(diff, ids));
    const changed = git(['diff', '--cached', '--name-only', '-z', 'HEAD']).toString().split('\0');
    t.notOk(changed.includes(path), `${path} is as it was (${hunks.length} hunks, ${id.length})`);
    t.ok(changed.length >= 8, 'and the others are changed');
  }
  t.equal(readFileSync(join(root, 'looks.txt'), 'utf8').length > 0, true);
});
