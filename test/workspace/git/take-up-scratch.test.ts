import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { runGit } from '../../../workspace/git/git.ts';
import { takeUpScratch } from '../../../workspace/git/import-objects.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../../workspace/git/scratch.ts';
import { long } from '../../rooms/long.ts';

async function scratchWith(t: Test, texts: readonly string[]) {
  const root = t.testdir();
  execFileSync('git', ['init', '--quiet', root]);
  const repository = await openRepository(root);
  const dir = join(root, 'scratch');
  const scratch = await createScratch(dir, repository);
  const ids: string[] = [];
  for (const text of texts)
    ids.push((await runGit(scratch, ['hash-object', '-w', '--stdin'], { input: text })).toString().trim());
  return { repository, dir, scratch, ids };
}

async function read(scratch: Scratch, id: string): Promise<string | undefined> {
  return runGit(scratch, ['cat-file', '-p', id]).then(String, () => undefined);
}

t.test('objects of an earlier process can be read again', async (t) => {
  const { repository, dir, ids } = await scratchWith(t, ['one', 'two']);
  const taken = await takeUpScratch(dir, repository);
  t.same(await Promise.all(ids.map((id) => read(taken, id))), ['one', 'two']);
  t.notOk(existsSync(`${dir}-before`));
});

long('an object that was changed is dropped or refused, loose or packed', async (t) => {
  for (const count of [2, 150]) {
    const texts = Array.from({ length: count }, (_, n) => `text ${n}`);
    const { repository, dir, scratch, ids } = await scratchWith(t, texts);
    const [id = ''] = ids;
    const path = join(scratch.objectsDir, id.slice(0, 2), id.slice(2));
    chmodSync(path, 0o600);
    writeFileSync(path, deflateSync(Buffer.from('blob 4\0evil')));
    const taken = await takeUpScratch(dir, repository).catch((fault: { code: string }) => fault.code);
    if (typeof taken === 'string') t.equal(taken, 'OBJECT_CORRUPT', `${count} objects`);
    else {
      t.equal(await read(taken, id), undefined, `${count} objects`);
      t.equal(await read(taken, ids.at(-1) ?? ''), texts.at(-1));
    }
  }
});

t.test('only objects are kept from the scratch of an earlier process', async (t) => {
  const { repository, dir, ids } = await scratchWith(t, ['one']);
  const was = readFileSync(join(dir, 'config'), 'utf8');
  writeFileSync(join(dir, 'config'), '[core]\n\tfsmonitor = touch /tmp/owned\n');
  writeFileSync(join(dir, 'commondir'), '/nowhere\n');
  mkdirSync(join(dir, 'refs', 'replace'), { recursive: true });
  writeFileSync(join(dir, 'refs', 'replace', ids[0] ?? ''), `${ids[0]}\n`);
  const taken = await takeUpScratch(dir, repository);
  t.equal(readFileSync(join(dir, 'config'), 'utf8'), was);
  t.notOk(existsSync(join(dir, 'commondir')));
  t.same(readdirSync(join(dir, 'refs')), []);
  t.equal(await read(taken, ids[0] ?? ''), 'one');
});

t.test('an interrupted takeover of a scratch loses no object', async (t) => {
  const { repository, dir, ids } = await scratchWith(t, ['one', 'two']);
  renameSync(dir, `${dir}-before`);
  await createScratch(dir, repository);
  const taken = await takeUpScratch(dir, repository);
  t.same(await Promise.all(ids.map((id) => read(taken, id))), ['one', 'two']);
});
