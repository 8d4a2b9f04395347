import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WritError } from '../../../../core/base/errors.ts';
import { definePlugin } from '../../../../core/kernel/plugin.ts';
import { environmentFault } from '../../../../engine/run/state/environment-fault.ts';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import { fixtures, makeSample } from '../sample.ts';

t.setTimeout(120_000);

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

t.test('faults of the machine are told apart from faults of a change', async (t) => {
  t.match(environmentFault(full), { code: 'ENVIRONMENT_BROKEN', exitCode: 128, message: /no space left/ });
  const missing = Object.assign(new Error('spawn bwrap ENOENT'), { code: 'ENOENT', syscall: 'spawn bwrap' });
  t.match(environmentFault(missing), { code: 'ENVIRONMENT_BROKEN' });
  for (const code of ['GIT_FAILED', 'OBJECTS_MISSING', 'EVIDENCE_WRITE_FAILED'] as const)
    t.match(environmentFault(new WritError(code)), { code });
  for (const fault of [
    new WritError('WORKSPACE_PREPARE_FAILED'),
    new WritError('PATCH_EMPTY'),
    Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }),
    new Error('x'),
    undefined,
    null,
  ])
    t.equal(environmentFault(fault), undefined);
});

t.test(
  'a full disk during a check stops the run without a decision, and the run goes on later',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    let isFull = true;
    const real = bubblewrapSandbox();
    const own = definePlugin({
      name: 'own-sandbox',
      api: 1,
      setup({ slots }) {
        // The real one, on a disk that is full at first.
        slots.sandbox.add('own', {
          name: 'own',
          pathsInside: (request) => real.pathsInside(request),
          probe: async () => ({ works: true, enforced: ['network'] }),
          run: (request) => (isFull ? Promise.reject(full) : real.run(request)),
        });
        return undefined;
      },
    });
    const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff'));
    const runId = '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2';
    const source = { kind: 'patch', bytes } as const;
    await t.rejects(sample.run({ source, runId, sandbox: 'own' }, {}, [own]), { code: 'ENVIRONMENT_BROKEN' });
    t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');
    isFull = false;
    t.match(await sample.resume(runId, { sandbox: 'own' }, [own]), { decision: { type: 'commit' } });
  },
);
