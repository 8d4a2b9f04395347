import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { withUsualShares } from '../../../engine/open/usual-shares.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeSample } from '../sample.ts';

t.test('the usual directories are shared, with those of at most 64 packages of the workspace', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const repository = await openRepository(sample.root);
  const shares = async (text = '') => {
    const config = parseConfig(Buffer.from(text), sealingForms);
    const { workspace } = await withUsualShares(repository, sample.git('rev-parse', 'HEAD^{tree}'), config);
    return { share: workspace.share, lockfile: workspace.lockfile };
  };
  const place = (path: string, isPackage = true): void => {
    mkdirSync(join(sample.root, path, 'node_modules/x'), { recursive: true });
    if (isPackage) writeFileSync(join(sample.root, path, 'package.json'), '{}');
  };
  const none = await shares();
  t.strictSame(none.share, [], 'nothing is installed');
  place('node_modules/dep');
  place('packages/a');
  place('docs', false);
  t.strictSame(await shares(), {
    share: ['node_modules', 'packages/a/node_modules'],
    lockfile: 'package-lock.json',
  });
  t.strictSame(await shares('[workspace]\nshare = []\n'), none);
  for (let number = 0; number < 70; number += 1) place(`packages/p${number}`);
  t.equal((await shares()).share.length, 1 + 64);
  mkdirSync(join(sample.root, '.venv'));
  t.notOk((await shares()).share.includes('.venv'), 'of the first ecosystem alone');
  rmSync(join(sample.root, 'node_modules'), { recursive: true });
  t.strictSame((await shares()).share, [], 'no file that git tracks decides what is in `.venv`');
});
