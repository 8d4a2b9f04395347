import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SandboxBackend, SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { hideRepository } from '../../../workspace/git/hide-repository.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from './sample-repository.ts';

t.test('a request names the working tree, what else belongs to it, and what git ignores', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  sample.commit({ '.gitignore': 'own\n', 'tools/run': { exec: '#!/bin/sh\n' } });
  sample.write({ 'own/bin/run': { exec: '#!/bin/sh\n' } });
  sample.git('worktree', 'add', '-q', '-b', 'side', join(dir, 'side'));
  const hiddenIn = async (place: string) => {
    const seen: SandboxRequest[] = [];
    const backend = {
      run: async (request: SandboxRequest) => seen.push(request),
    } as unknown as SandboxBackend;
    const hiding = hideRepository(backend, await openRepository(join(dir, place)));
    await hiding.run({ argv: ['true'] } as unknown as SandboxRequest);
    return seen[0]?.repository;
  };
  const main = await hiddenIn('main');
  t.match(main, { root: join(dir, 'main'), others: [join(dir, 'main', '.git'), join(dir, 'side')] });
  t.equal(await main?.isIgnored(join(dir, 'main', 'own/bin')), true);
  t.equal(await main?.isIgnored(join(dir, 'main', 'tools')), false);
  const side = await hiddenIn('side');
  t.match(side, { root: join(dir, 'side'), others: [join(dir, 'main', '.git'), join(dir, 'main')] });

  const entry = join(dir, 'main/.git/worktrees/side/gitdir');
  writeFileSync(entry, '../../../../side/.git\n');
  t.match(
    (await hiddenIn('main'))?.others,
    [join(dir, 'main', '.git'), join(dir, 'side')],
    'as git 2.48 writes it',
  );
  renameSync(join(dir, 'side'), join(dir, 'moved'));
  symlinkSync('moved', join(dir, 'side'));
  t.strictSame(
    (await hiddenIn('main'))?.others,
    [join(dir, 'main', '.git'), join(dir, 'moved')],
    'one that was moved, with a link left behind',
  );
  symlinkSync('main', join(dir, 'main-too'));
  writeFileSync(entry, `${join(dir, 'main-too')}/.git\n`);
  t.strictSame((await hiddenIn('main'))?.others, [join(dir, 'main', '.git')], 'itself by another name');
  writeFileSync(entry, `${join(dir, 'gone')}/.git\n`);
  t.strictSame((await hiddenIn('main'))?.others, [join(dir, 'main', '.git')], 'one that is gone');
});
