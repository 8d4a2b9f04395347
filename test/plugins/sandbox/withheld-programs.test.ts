import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { viewOfHost } from '../../../plugins/sandbox/host-view.ts';
import { withheldMounts } from '../../../plugins/sandbox/mounts.ts';
import { noSandbox } from '../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { openScene } from './sandbox-scene.ts';

// Beside everything else of a busy machine.
t.setTimeout(240_000);

const isWithheld = (name: string): boolean => /^git(?:-|$)/.test(name);
const everywhere =
  'git; for at in /usr/bin/git /bin/git /usr/lib/git-core/git; do "$at" --version; echo "$?"; done';

for (const open of [bubblewrapSandbox, unshareSandbox, noSandbox]) {
  t.test(`${open.name} hides withheld programs from a command`, async (t) => {
    const scene = openScene(t);
    const backend = open(scene.facts);
    const { works, reason } = await backend.probe();
    if (!works) return void t.comment(`it does not work here: ${reason}`);
    const stubs = path.join(scene.root, 'stubs');
    mkdirSync(stubs);
    writeFileSync(path.join(stubs, 'git'), '#!/bin/sh\necho withheld\nexit 127\n', { mode: 0o755 });
    const with_ = await scene.run(backend, everywhere, { withheld: { isWithheld, stubs, stub: 'git' } });
    const said = with_.combined.bytes.toString();
    if (backend.unconfined) {
      t.match(said, /^withheld\n/, 'by its name');
      return;
    }
    t.notMatch(said, 'git version', 'by any path');
    t.equal(said.split('withheld\n').length - 1 >= 3, true, said);
    const without = await scene.run(backend, everywhere);
    t.match(without.combined.bytes.toString(), 'git version', 'a check has it');
  });
}

t.test('covers every name of a withheld file and its companion directory', async (t) => {
  const root = t.testdir({
    bin: { git: '', 'git-lfs': '', gitlab: '', alias: t.fixture('symlink', '../real/git') },
    real: { git: '' },
    lib: { 'git-core': { git: '' } },
  });
  const view = {
    links: [],
    system: [],
    toolchains: [root],
    searchPath: [path.join(root, 'bin')],
    covered: [],
    variables: {},
  };
  const covered = (names: (name: string) => boolean) =>
    withheldMounts(view, { withheld: { isWithheld: names, stubs: '/stubs', stub: 'git' } } as never)
      .map(({ target, source }) => `${path.relative(root, target)} ${source}`)
      .sort();
  t.strictSame(covered(isWithheld), ['bin/git /stubs/git', 'bin/git-lfs /stubs/git', 'lib/git-core /stubs']);
  t.strictSame(
    covered((name) => name === 'alias'),
    ['lib/git-core /stubs', 'real/git /stubs/git'],
  );
  t.strictSame(
    withheldMounts({ ...view, toolchains: [], covered: [], variables: {} }, {
      withheld: { isWithheld, stubs: '/s', stub: 'git' },
    } as never),
    [],
  );
  t.ok(
    withheldMounts(viewOfHost(openScene(t).facts), {} as never).length === 0,
    'nothing is withheld unasked',
  );
});
