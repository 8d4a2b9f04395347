import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRecordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import { long } from '../rooms/long.ts';
import { fixtures, type Json, makeSample } from './sample.ts';

const patch = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');

long('context content is stored under the ref prefix of the spec', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const worker = createRecordedWorker([{ task: 1, attempt: 1, patch }], async () => {});
  const view = await sample.run(
    { worker },
    {
      intent: { touchHints: { files: ['src/price.js'], symbols: ['price'] } },
      objmodel: { objectStore: { aiRefPrefix: 'refs/x-team/' } },
    },
  );
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  const context = `refs/x-team/context/${view.runId}`;
  const [name = ''] = sample.git('ls-tree', '-r', '--name-only', context).split('\n');
  const bytes = execFileSync('git', ['show', `${context}:${name}`], { cwd: sample.root, encoding: 'utf8' });
  t.match(bytes, /function price/);
  t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'nothing lies anywhere else');
});

long(
  'context content is kept by the retention strategy of the spec and listed in the provenance',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const worker = createRecordedWorker([{ task: 1, attempt: 1, patch }], async () => {});
    const { runId } = await sample.run(
      { worker },
      {
        intent: { touchHints: { files: ['src/price.js'], symbols: ['price'] } },
        objmodel: { objectStore: { blobRetentionStrategy: 'orphan-commit' } },
      },
    );
    t.match(sample.git('for-each-ref', `refs/ai/orphan-commits/${runId}`), runId);
    t.equal(sample.git('for-each-ref', `refs/ai/context/${runId}`), '');
    const stored = (path: string): Json => JSON.parse(sample.git('show', `refs/ai/runs/${runId}:${path}`));
    const snapshot = stored('task-1/revision-1/attempt-1/snapshot.json') as {
      readonly items: readonly { readonly name: string; readonly uri: string; readonly sha256: string }[];
    };
    const { dsseEnvelope } = stored('provenance.sigstore.json') as { dsseEnvelope: { payload: string } };
    const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString('utf8'));
    const { resolvedDependencies } = statement.predicate.buildDefinition;
    t.ok(snapshot.items.length > 1);
    for (const { name, uri, sha256 } of snapshot.items)
      t.match(
        resolvedDependencies.find((thing: { readonly uri?: string }) => thing.uri === uri),
        { name, digest: { sha256 } },
        'each item of the snapshot is in the provenance',
      );
  },
);
