import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../core/base/clock.ts';
import { openGitNativeStore } from '../plugins/store/git-native-store.ts';
import { storeRefs } from '../store/stores.ts';
import { makeRepository } from '../test/workspace/git/sample-repository.ts';
import { openRepository } from '../workspace/git/repository.ts';
import { figure, interleaved, timed } from './measure.ts';
import { sized } from './sized.ts';

const count = sized(100_000, 100);
const pad = 'expected the total of the basket, found the price of one item; ';

function objectBytes(index: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      object_id: `0198c0de-7abc-7def-8123-${index.toString(16).padStart(12, '0')}`,
      detail: pad,
      index,
    }),
  );
}

/**
 * 100,000 objects stored with `git-native`, against a bare `git fast-import` of the same blobs out of a file (limit:
 * 0.7 of its rate); listing refs beside them.
 */
export async function benchStoreObjects(): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    const objects = Array.from({ length: count }, (_, index) => objectBytes(index));
    function* files(): Generator<readonly [string, Uint8Array]> {
      for (const [index, bytes] of objects.entries()) yield [`evidence/${index}.json`, bytes];
    }
    const stream = join(dir, 'blobs');
    const out = openSync(stream, 'w');
    for (const bytes of objects) writeSync(out, `blob\ndata ${bytes.length}\n${bytes}\n`);
    writeSync(out, 'done\n');
    const refs = storeRefs('refs/ai/');
    let round = 0;
    const fresh = async () => {
      const sample = makeRepository(join(dir, `repo-${round++}`));
      const repo = await openRepository(sample.dir);
      return { sample, store: openGitNativeStore(repo, { clock: systemClock }) };
    };
    const fastImport = async () => {
      const { sample } = await fresh();
      const git = spawn('git', ['fast-import', '--quiet', '--done'], {
        cwd: sample.dir,
        stdio: [openSync(stream, 'r'), 'ignore', 'inherit'],
      });
      await once(git, 'exit');
    };
    let grownMb = 0;
    let listed = 0;
    const times = await interleaved(3, {
      bare: fastImport,
      store: async () => {
        const { store } = await fresh();
        const before = process.memoryUsage().rss;
        await store.writeTree(refs.run('r'), { message: 'bench', files: files(), keepExisting: true });
        grownMb = Math.max(grownMb, (process.memoryUsage().rss - before) / 1e6);
        listed = await timed(() => store.refs(refs.runs));
      },
    });
    const { store } = await fresh();
    await store.writeTree(refs.run('r'), {
      message: 'one',
      files: [['a', objectBytes(0)]],
      keepExisting: true,
    });
    const alone = await timed(() => store.refs(refs.runs));
    const rates = `${((count / times.store) * 1000).toFixed(0)} against ${((count / times.bare) * 1000).toFixed(0)} objects/s`;
    return [
      figure(`${count} objects stored / bare fast-import`, times.store / times.bare, 1.43, 'x', rates),
      figure('memory grown while they were stored', grownMb, 100, 'MB', ''),
      figure(
        'refs listed beside them / beside one object',
        listed / alone,
        3,
        'x',
        `${listed.toFixed(1)} ms against ${alone.toFixed(1)} ms`,
      ),
    ].every(Boolean);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
