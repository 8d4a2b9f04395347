import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { readConfig } from '../../../engine/open/read-config.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeSample } from '../sample.ts';

t.test('the usual directories are shared, with those of at most 64 packages of the workspace', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const repository = await openRepository(sample.root);
  const shares = async (text = '') => {
    const tree = sample.git('rev-parse', 'HEAD^{tree}');
    const { workspace } = await readConfig(repository, tree, Buffer.from(text), sealingForms);
    return { share: workspace.share, lockfile: workspace.lockfiles.get('node_modules') };
  };
  const lockfiles = async (text: string) => {
    const tree = sample.git('rev-parse', 'HEAD^{tree}');
    const { workspace } = await readConfig(repository, tree, Buffer.from(text), sealingForms);
    return Object.fromEntries(workspace.lockfiles);
  };
  const place = (path: string): void => {
    mkdirSync(join(sample.root, path, 'node_modules/x'), { recursive: true });
  };
  const commit = (lockfile: string): void => {
    writeFileSync(join(sample.root, 'package-lock.json'), lockfile);
    sample.git('commit', '-qam', 'lockfile');
  };
  const none = await shares();
  t.strictSame(none.share, [], 'nothing is installed');
  place('node_modules/dep');
  place('packages/a');
  place('front');
  for (const lockfile of [
    '{"packages": {"packages/a": {"name": "a"}, "node_modules/front": {}}}',
    'importers:\n  packages/a:\n    front@1: {}\n',
    '"a@workspace:*, a@workspace:packages/a":\n  version: 0.0.0-use.local\n',
  ]) {
    commit(lockfile);
    t.strictSame((await shares()).share, ['node_modules', 'packages/a/node_modules'], lockfile);
  }
  sample.git('rm', '-q', '--cached', 'package-lock.json');
  writeFileSync(join(sample.root, 'package.json'), '{"workspaces": ["packages/a"], "packages/a": 1}');
  sample.git('commit', '-qam', 'without a lockfile');
  t.strictSame(await shares(), { share: ['node_modules'], lockfile: 'package.json' });
  sample.git('add', 'package-lock.json');
  const many = Array.from({ length: 70 }, (_, number) => `packages/p${number}`);
  commit(`{${['packages/a', ...many].map((path) => `"${path}": {}`).join()}}`);
  t.strictSame(await shares(), {
    share: ['node_modules', 'packages/a/node_modules'],
    lockfile: 'package-lock.json',
  });
  t.strictSame(await shares('[workspace]\nshare = []\n'), none);
  for (const path of many) place(path);
  t.equal((await shares()).share.length, 1 + 64);
  symlinkSync('elsewhere', join(sample.root, '.venv'));
  t.notOk((await shares()).share.includes('.venv'), 'no file that git tracks decides what is in it');
  rmSync(join(sample.root, 'node_modules'), { recursive: true });
  t.strictSame((await shares()).share, [], 'no file that git tracks decides what is in `.venv`');
  writeFileSync(join(sample.root, 'uv.lock'), '');
  sample.git('add', 'uv.lock');
  sample.git('commit', '-qm', 'uv.lock');
  t.strictSame((await shares()).share, ['.venv'], 'a link, so that its refusal is said');
  place('node_modules/dep');
  const both = await lockfiles('');
  t.strictSame([both.node_modules, both['.venv']], ['package-lock.json', 'uv.lock'], 'each its own');
  const named = '[workspace]\nshare = [".venv", "node_modules", "api/.venv", "web/node_modules", "vendor"]\n';
  mkdirSync(join(sample.root, 'api'));
  writeFileSync(join(sample.root, 'api/requirements.txt'), '');
  sample.git('add', 'api');
  sample.git('commit', '-qm', 'api');
  t.strictSame(await lockfiles(named), {
    '.venv': 'uv.lock',
    node_modules: 'package-lock.json',
    'api/.venv': 'api/requirements.txt',
    'web/node_modules': 'package-lock.json',
  });
  t.strictSame(await lockfiles(`${named}lockfile = "other.lock"\n`), {});
});
