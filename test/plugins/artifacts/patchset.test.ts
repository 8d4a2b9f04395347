import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../../core/interfaces/patch-set.ts';
import { patchsetProducer } from '../../../plugins/artifacts/plugin.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { patchFromRange, resolveRange } from '../../../workspace/patch/read-patch.ts';
import { demoFixture, git } from '../supply-chain/build-demo-repository.ts';

const lines = (count: number, tail = '') =>
  `${Array.from({ length: count }, (_, index) => `line ${index}`).join('\n')}\n${tail}`;

/** A repository whose two commits differ in every way that a diff can say. */
function everyChange(directory: string): void {
  mkdirSync(directory);
  git(directory, 'init', '-q', '-b', 'main');
  const write = (name: string, content: string | Buffer) => writeFileSync(join(directory, name), content);
  const commit = () => {
    git(directory, 'add', '-A');
    git(directory, '-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'x');
  };
  write('a empty', 'x\n');
  write('changed.txt', lines(40));
  write('crlf.txt', 'one\r\ntwo\r\n');
  write('deleted.txt', lines(5));
  write('mode.sh', 'echo\n');
  write('moved.txt', lines(60));
  write('moved and changed.txt', lines(80));
  write('no newline.txt', 'end');
  write('pixel.bin', Buffer.from([0, 1, 2, 255, 0]));
  write('ümlaut.txt', 'a\n');
  commit();
  write('changed.txt', lines(40).replace('line 20', '--- a/x').replace('line 30', '+++ b/x'));
  write('crlf.txt', 'one\r\n2\r\n');
  rmSync(join(directory, 'deleted.txt'));
  chmodSync(join(directory, 'mode.sh'), 0o755);
  renameSync(join(directory, 'moved.txt'), join(directory, 'new place.txt'));
  renameSync(join(directory, 'moved and changed.txt'), join(directory, 'other.txt'));
  write('other.txt', lines(80, 'more\n'));
  write('no newline.txt', 'end of it');
  write('pixel.bin', Buffer.from([0, 9, 9, 255, 1]));
  write('ümlaut.txt', 'b\n');
  write('created.txt', 'new\n');
  write('created empty.txt', '');
  write('z run.sh', 'echo\n');
  chmodSync(join(directory, 'z run.sh'), 0o755);
  symlinkSync('changed.txt', join(directory, 'link'));
  commit();
}

t.test('the patchset artifact gives the candidate tree in both formats', async (t) => {
  const box = t.testdir();
  const directory = join(box, 'repo');
  everyChange(directory);
  const repository = await openRepository(directory);
  const scratch = await createScratch(join(box, 'scratch'), repository);
  const patch: PatchSet = await patchFromRange(scratch, await resolveRange(repository, 'HEAD^..HEAD'));

  const read = readIntentSpec(readFileSync(join(demoFixture, 'intent.json')));
  if (!read.ok) throw new Error('the contract is not valid');
  const { effective } = read;

  async function produce(patchsetFormat: 'GitDiff' | 'Unified'): Promise<Buffer> {
    const { objmodel } = effective;
    const spec: EffectiveIntentSpec = {
      ...effective,
      objmodel: { ...objmodel, runPolicy: { ...objmodel.runPolicy, patchsetFormat } },
    };
    const rest = {
      stages: [],
      name: 'patchset',
      baseTimeMs: 0,
      ruleOptions: {},
      judge: async () => [],
      engineVersion: '0.0.0',
      readCandidate: async () => undefined,
      listCandidate: async () => [],
    };
    return Buffer.from((await patchsetProducer.produce({ spec, patch, ...rest })) ?? []);
  }

  /** The tree that comes of applying `diff` to the first commit. */
  function treeAfter(diff: Buffer): string {
    const file = join(box, 'applied.patch');
    writeFileSync(file, diff);
    git(directory, 'read-tree', 'HEAD^');
    git(directory, 'apply', '--cached', file);
    return git(directory, 'write-tree');
  }

  await t.test('in GitDiff format the artifact equals the evaluated diff byte for byte', async (t) => {
    const diff = await produce('GitDiff');
    t.ok(diff.equals(Buffer.from(patch.diff)));
    t.equal(treeAfter(diff), patch.candidateTree);
  });

  await t.test(
    'in Unified format it has plain headers, keeps git extensions and gives the same tree',
    async (t) => {
      const diff = await produce('Unified');
      t.equal(treeAfter(diff), patch.candidateTree);
      const text = diff.toString();
      for (const name of ['a/changed.txt', 'a/deleted.txt', 'b/created.txt', 'a/crlf.txt']) {
        t.ok(
          text.includes(`\n--- ${name}`) || text.includes(`\n+++ ${name}`) || text.startsWith(`--- ${name}`),
          name,
        );
      }
      t.notMatch(text, /^diff --git a\/(changed|deleted)\.txt/m);
      for (const kept of [
        'rename to new place.txt',
        'GIT binary patch',
        'new mode 100755',
        'new file mode 120000',
        'b/created empty.txt',
      ]) {
        t.match(text, kept);
      }
    },
  );
});
