import {
  appendFileSync,
  chmodSync,
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { type CopiedTree, copyWorkTree } from '../../../workspace/git/copy-work-tree.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { until } from '../../waiting/until.ts';
import { makeRepository } from './sample-repository.ts';

async function copyOf(dir: string, to = join(dir, '..', 'deeper', 'copy'), last?: CopiedTree) {
  mkdirSync(to, { recursive: true });
  const { signal } = new AbortController();
  // Here the clock ticks between a change and the next one.
  const how = { tickNs: 0n, ...(last === undefined ? {} : { last }) };
  return { to, copied: await copyWorkTree(await openRepository(dir), to, signal, how) };
}

/** A change from here on has another time than one before. */
async function tick(box: string): Promise<void> {
  const probe = join(box, 'probe');
  const touched = (): bigint => {
    writeFileSync(probe, '');
    chmodSync(probe, 0o600);
    return statSync(probe, { bigint: true }).ctimeNs;
  };
  const before = touched();
  await until(() => touched() > before);
}

/** Everything below a directory: what it is, its rights, what it holds. */
function contents(dir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listed(dir).map((path) => {
      const at = join(dir, path);
      const found = lstatSync(at);
      if (found.isSymbolicLink()) return [path, `-> ${readlinkSync(at)}`];
      return [path, `${found.mode.toString(8)} ${found.isFile() ? readFileSync(at, 'utf8') : ''}`];
    }),
  );
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return '';
  }
}

const inodes = (dir: string): ReadonlyMap<string, number> =>
  new Map(listed(dir).map((path) => [path, lstatSync(join(dir, path)).ino]));

function listed(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true }).map(String).sort();
}

t.test('a copy contains the files of the working tree on disk and nothing else', async (t) => {
  const dir = join(t.testdir(), 'repository');
  const sample = makeRepository(dir);
  sample.commit({
    'a.txt': 'first',
    'gone.txt': 'x',
    'bin/run': { exec: '#!/bin/sh\n' },
    link: { link: '/etc/hostname' },
    '.gitignore': 'ignored\nnode_modules/\n',
    'below/in.txt': 'in',
    '.writ/config.toml': '',
    '.writ/code/control-token': 'tracked by mistake',
  });
  sample.write({
    'a.txt': 'second',
    ignored: 'x',
    'node_modules/x': 'x',
    'näw file\n.txt': 'odd',
    '.writ/allowed_signers': 's',
    '.writ/agents/me.md': 'm',
    '.writ/code/mcp-token': 'token',
    '.WRIT/code/other': 'token',
    '.writ/state.db': 'x',
  });
  rmSync(join(dir, 'gone.txt'));
  // What git knows as a directory leads out of the work tree now.
  mkdirSync(join(dir, '..', 'outside'));
  writeFileSync(join(dir, '..', 'outside', 'in.txt'), 'of somebody else');
  rmSync(join(dir, 'below'), { recursive: true });
  symlinkSync('../outside', join(dir, 'below'));
  makeRepository(join(dir, 'nested')).commit({ inside: 'x' });
  const { to } = await copyOf(dir);
  t.strictSame(listed(to), [
    '.gitignore',
    '.writ',
    '.writ/agents',
    '.writ/agents/me.md',
    '.writ/allowed_signers',
    '.writ/config.toml',
    'a.txt',
    'below',
    'bin',
    'bin/run',
    'link',
    'nested',
    'näw file\n.txt',
  ]);
  t.equal(readFileSync(join(to, 'a.txt'), 'utf8'), 'second');
  t.equal(readlinkSync(join(to, 'link')), '/etc/hostname');
  t.equal(readlinkSync(join(to, 'below')), '../outside');
  t.equal(lstatSync(join(to, 'bin/run')).mode & 0o777, 0o755);
  t.equal(lstatSync(join(dir, 'a.txt')).nlink, 1, 'no file is shared with it');
});

t.test('changes to a copy are reported even if a file time was set back', async (t) => {
  const dir = join(t.testdir(), 'repository');
  makeRepository(dir).commit({ a: '1', b: '2', 'c/d': '3', e: '4' });
  const { to, copied } = await copyOf(dir);
  t.strictSame(await copied.changed(), []);
  const { atime, mtime } = lstatSync(join(to, 'a'));
  writeFileSync(join(to, 'a'), '9');
  utimesSync(join(to, 'a'), atime, mtime);
  rmSync(join(to, 'b'));
  renameSync(join(to, 'c'), join(to, 'f'));
  t.strictSame(await copied.changed(), [
    { path: 'a', was: 'changed' },
    { path: 'b', was: 'deleted' },
    { path: 'c/d', was: 'deleted' },
    { path: 'f/d', was: 'added' },
  ]);
  t.strictSame(readFileSync(join(dir, 'a'), 'utf8'), '1');
});

t.test('a renewed copy equals a new one after any changes to it and its source', async (t) => {
  const box = t.testdir();
  const random = seededRandom(toldSeed(t));
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const [dir, to, outside] = ['repository', 'copy', 'outside'].map((name) => join(box, name)) as [
    string,
    string,
    string,
  ];
  const paths = ['a', 'b', 'd/a', 'd/b', 'd/e/a', 'd/e/b', 'f', 'f/g'];
  makeRepository(dir).commit({ a: '1', 'd/a': '2', 'd/e/a': '3', '.gitignore': 'ignored\n' });
  mkdirSync(outside);
  for (const name of ['a', 'b', 'e']) writeFileSync(join(outside, name), 'of somebody else');
  const theirs = contents(outside);
  const acts: Readonly<Record<string, (at: string) => void>> = {
    write: (at) => {
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, pick(['1', '2', '3', 'longer']));
    },
    'write as if nothing was': (at) => {
      const { atime, mtime } = lstatSync(at);
      writeFileSync(at, pick(['1', '2', '3']));
      utimesSync(at, atime, mtime);
    },
    remove: (at) => rmSync(at, { recursive: true }),
    link: (at) => {
      rmSync(at, { recursive: true, force: true });
      symlinkSync(outside, at);
    },
    directory: (at) => mkdirSync(at, { recursive: true }),
    move: (at) => renameSync(at, join(dirname(at), pick(['a', 'b', 'moved']))),
    rights: (at) => chmodSync(at, pick([0o700, 0o755, 0o500])),
    ignore: () => appendFileSync(join(dir, '.gitignore'), `${pick(['b', 'd/b', 'f', '!b'])}\n`),
  };
  let kept = 0;
  let { copied } = await copyOf(dir, to);
  for (let round = 0; round < 16; round += 1) {
    const before = inodes(to);
    await tick(box);
    for (let act = 0; act < 4; act += 1) {
      const at = join(pick([dir, to]), pick(paths));
      // A link leads elsewhere: there nothing is done.
      if (realpathOf(dirname(at)).startsWith(outside)) continue;
      try {
        acts[pick(Object.keys(acts))]?.(at);
      } catch {
        // What does not go does not.
      }
    }
    await tick(box);
    ({ copied } = await copyOf(dir, to, copied));
    const anew = await copyOf(dir, join(box, `copy-${round}`));
    t.strictSame(contents(to), contents(anew.to), `round ${round}`);
    kept += [...inodes(to)].filter(([path, ino]) => before.get(path) === ino).length;
  }
  t.strictSame(contents(outside), theirs, 'nothing elsewhere was touched');
  t.ok(kept > 16, `${kept} files were not copied again`);
});

t.test('a directory that has become a symlink is a symlink in the renewed copy', async (t) => {
  const box = t.testdir({ outside: { a: 'of somebody else' } });
  const dir = join(box, 'repository');
  makeRepository(dir).commit({ 'd/a': '1', 'd/b': '2' });
  const { to, copied } = await copyOf(dir);
  rmSync(join(dir, 'd'), { recursive: true });
  symlinkSync('../outside', join(dir, 'd'));
  await copyOf(dir, to, copied);
  t.strictSame(contents(to), { d: '-> ../outside' });
});

t.test('a file that was changed shortly before the copy is copied again', async (t) => {
  const dir = join(t.testdir(), 'repository');
  makeRepository(dir).commit({ a: '1' });
  const to = join(dir, '..', 'deeper', 'copy');
  mkdirSync(to, { recursive: true });
  const repository = await openRepository(dir);
  const { signal } = new AbortController();
  const last = await copyWorkTree(repository, to, signal);
  // As long as it is open no other file has its number.
  const held = openSync(join(to, 'a'), 'r');
  t.teardown(() => closeSync(held));
  const { ino } = fstatSync(held);
  await copyWorkTree(repository, to, signal, { last });
  t.not(lstatSync(join(to, 'a')).ino, ino);
});

t.test('an aborted copy rejects with the reason of the abort', async (t) => {
  const dir = join(t.testdir(), 'repository');
  makeRepository(dir).commit({ a: '1' });
  const to = join(dir, '..', 'deeper', 'copy');
  await t.rejects(copyWorkTree(await openRepository(dir), to, AbortSignal.abort(new Error('stopped'))), {
    message: 'stopped',
  });
});
