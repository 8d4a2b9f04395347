import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeTemporary, removeLitter, temporaryRoot } from '../../store/remove-litter.ts';
import { ownIdentity } from '../../workspace/process/process-lock.ts';

t.test('the stale files of a killed process are removed, and other files are kept', async (t) => {
  const repo = { commonDir: t.testdir() };
  const module = new URL('../../store/remove-litter.ts', import.meta.url).href;
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { makeTemporary } = await import(${JSON.stringify(module)});
       console.log(await makeTemporary({ commonDir: process.argv[1] })); setInterval(() => {}, 1000);`,
      repo.commonDir,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const theirs = said.toString().trim();
  writeFileSync(join(theirs, 'half'), 'x');
  t.equal(await removeLitter(repo), 0, 'its maker lives');
  child.kill('SIGKILL');
  await once(child, 'exit');

  const root = temporaryRoot(repo);
  const strangers = ['store-Ab12Cd', 'store-a+b', 'store-%+a+b+c+d+e', 'import-x'];
  for (const name of strangers) mkdirSync(join(root, name));
  const elsewhere = 'store-elsewhere+boot+pid%3A%5B1%5D+999999+1+abc';
  mkdirSync(join(root, elsewhere));
  const ours = await makeTemporary(repo);
  t.equal(existsSync(theirs), false);
  t.strictSame(readdirSync(root).sort(), [...strangers, elsewhere, ours.slice(root.length + 1)].sort());
  t.equal(await removeLitter(repo), 0);

  const { started } = await ownIdentity();
  renameSync(ours, ours.replace(`+${encodeURIComponent(started)}+`, '+1+'));
  t.equal(await removeLitter(repo), 1, 'a pid that was used again');
});

t.test('an empty repository has no stale files to remove', async (t) => {
  t.equal(await removeLitter({ commonDir: t.testdir() }), 0);
});
