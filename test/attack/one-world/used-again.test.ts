import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { showsWrites } from '../../../workspace/git/copy-work-tree.ts';
import { casesOf } from '../../rooms/long.ts';
import { byId, judge, sceneOf } from './scene.ts';

// Sandboxes on a busy machine.
t.setTimeout(300_000);

/** Commands that change what git, or a comparison of contents, would not report. */
const changes = {
  mode: 'chmod 600 note.txt',
  time: 'touch -d 2001-01-01 note.txt',
  empty: 'mkdir empty',
  restored: 'cp -p note.txt /tmp/was; echo x >>note.txt; cp -p /tmp/was note.txt',
  replaced: 'cp -p note.txt was; mv was note.txt',
  renamed: 'mv kept moved; mv moved kept',
};

/** Fails, so that the record shows what it printed: which file this is, and when it was changed last. */
const look = "stat -c '%i %z' note.txt kept . && ls -A && exit 1\n";

t.test('a workspace serves another check only if nothing in it was written', async (t) => {
  workOnDisk(t);
  const isUsedAgain = await showsWrites(tmpdir());
  const sample = sceneOf(t, {
    '.writ/config.toml': '[checks]\nmax_parallel = 1\n[workspace]\nrewrites = ["**"]\n',
    'note.txt': 'note\n',
    'kept/file': 'x\n',
    'look.sh': look,
    ...Object.fromEntries(Object.entries(changes).map(([id, script]) => [`${id}.sh`, `${script}\n`])),
  });
  const made = casesOf(changes, ['mode', 'empty', 'restored']).map(([id]) => id);
  const seen = (id: string) => ({ id: `seen-${id}`, command: 'sh look.sh', required: false });
  const view = await judge(sample, {
    fast: [
      seen('first'),
      { id: 'reads', command: 'cat note.txt src/note.js' },
      seen('reads'),
      { id: 'reports', command: 'touch /reports/a' },
      seen('reports'),
      ...made.flatMap((id) => [{ id, command: `sh ${id}.sh` }, seen(id)]),
      { id: 'last', command: 'sh -c "test ! -e /reports/a && test ! -e empty"' },
    ],
  });
  const checks = byId(view);
  for (const id of ['reads', 'reports', 'last', ...made])
    t.equal(checks[id]?.status, 'passed', `${id} ${checks[id]?.outputTail?.text ?? ''}`);
  const tail = (id: string): string => checks[`seen-${id}`]?.outputTail?.text ?? '';
  t.match(tail('first'), /^\d+ \d{4}-/m);
  if (isUsedAgain) t.strictSame([tail('reads'), tail('reports')], [tail('first'), tail('first')]);
  else t.comment(`no file system with exact change times at ${tmpdir()}`);
  const tails = made.map(tail);
  t.equal(new Set([tail('first'), ...tails]).size, tails.length + 1, 'each is a new export');
});

t.test('what a check leaves beside a shared directory is not there for the next', async (t) => {
  workOnDisk(t);
  const sample = sceneOf(t, {
    '.writ/config.toml':
      '[checks]\nmax_parallel = 1\n[workspace]\nshare = ["vendor/bundle"]\nlockfile = "package.json"\n',
    '.gitignore': 'vendor/\n',
    'plant.sh': 'cat vendor/bundle/library && echo planted >vendor/planted\n',
  });
  mkdirSync(join(sample.root, 'vendor/bundle'), { recursive: true });
  writeFileSync(join(sample.root, 'vendor/bundle/library'), 'library\n');
  const view = await judge(sample, {
    fast: [
      { id: 'plants', command: 'sh plant.sh' },
      { id: 'looks', command: 'test ! -e vendor/planted' },
    ],
  });
  const { plants, looks } = byId(view);
  t.strictSame([plants?.status, looks?.status], ['passed', 'passed']);
});

/** Workspaces in memory never serve another check. */
function workOnDisk(t: Test): void {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = '/var/tmp';
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
}
