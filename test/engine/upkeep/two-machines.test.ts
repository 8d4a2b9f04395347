import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { renewSeals } from '../../../attest/attestor/renew-seals.ts';
import { openUserSigningKey } from '../../../attest/keys/user-keys.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { sealPaths } from '../../../engine/store/record/seal-paths.ts';
import { readBlob } from '../../../engine/vcs/blobs.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { listTree } from '../../../engine/vcs/tree.ts';
import { runLine } from '../../bin/host.ts';
import { outputOf } from '../../starter/run-program.ts';
import { fixtures, makeSample, sampleSpec } from '../run/sample.ts';
import { closePool } from '../run/shared-pool.ts';

const fix = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');

t.test('two machines with the same keys seal at once, and both runs are published', async (t) => {
  const sample = makeSample();
  const box = join(sample.root, '..');
  t.teardown(async () => {
    await closePool();
    rmSync(box, { recursive: true, force: true });
  });
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  appendFileSync(join(sample.root, '.writ', 'config.toml'), '[log]\nmirror = "git"\n');
  sample.git('add', '--all');
  sample.git('commit', '-q', '-m', 'Mirror the log');
  const bare = join(box, 'remote.git');
  sample.git('clone', '-q', '--bare', sample.root, bare);
  const keys = join('.config', 'writ', 'keys');
  const makeMachine = (name: string, from?: string) => {
    const [clone, home] = [join(box, name), join(box, `home-${name}`)];
    sample.git('clone', '-q', bare, clone);
    outputOf('git', ['-C', clone, 'config', 'user.name', 'Sample maintainer']);
    outputOf('git', ['-C', clone, 'config', 'user.email', 'maintainer@sample.example']);
    mkdirSync(home);
    if (from !== undefined) cpSync(join(box, `home-${from}`, keys), join(home, keys), { recursive: true });
    const env = { ...sample.env, HOME: home };
    const call = async (code: number, ...argv: string[]) => {
      const answer = await runLine(['--json', ...argv], commands, { cwd: clone, env });
      const document = JSON.parse(answer.out);
      t.equal(answer.code, code, `${name}: ${argv.join(' ')}: ${JSON.stringify(document.error)}`);
      return document.data;
    };
    return { clone, env, call };
  };
  const run = async (machine: ReturnType<typeof makeMachine>, id: string) => {
    const path = join(box, `${id}.json`);
    writeFileSync(path, sampleSpec({ metadata: { id } }));
    const { run_id: runId, decision } = await machine.call(0, 'run', path, '--patch', fix);
    return { ref: `refs/ai/runs/${runId}`, commit: decision.commit_sha };
  };

  const a = makeMachine('a');
  const repository = await openRepository(a.clone);
  const ledger = openUserLedger(repository.commonDir, a.env, systemClock, repository);
  await openUserSigningKey(a.env);
  await ledger.append(Buffer.from('of both'));
  await a.call(0, 'push');
  const b = makeMachine('b', 'a');
  await b.call(0, 'fetch');
  const first = await run(a, 'intent-of-a-0001');
  const second = await run(b, 'intent-of-b-0001');
  await a.call(0, 'push');

  const { refs } = await b.call(0, 'push');
  const told = (wanted: string) => refs.find(({ ref }: { ref: string }) => ref.startsWith(wanted));
  t.match(told(second.ref), { status: 'created', reason: /its log entry was made again/ });
  t.match(told('refs/ai/ledger/'), { status: 'updated', reason: /kept in `/ });
  t.strictSame((await b.call(0, 'fsck')).problems, []);
  await b.call(0, 'verify', second.commit);
  await a.call(0, 'fetch');
  outputOf('git', ['-C', a.clone, 'fetch', '-q', b.clone, second.commit]);
  for (const { commit } of [first, second]) await a.call(0, 'verify', commit);

  await t.test('only a run that fits its manifest is sealed again, by its own key', async (t) => {
    const at = await openRepository(b.clone);
    const files = new Map<string, Uint8Array>();
    for (const { path } of await listTree(at, second.ref))
      files.set(path, (await readBlob(at, second.ref, path)) ?? Buffer.alloc(0));
    const log = openUserLedger(at.commonDir, b.env, systemClock, at);
    const signer = await openUserSigningKey(b.env);
    const before = await log.size();
    const renewed = new Map(await renewSeals(files, { signer, log }));
    t.strictSame(renewed.get(sealPaths.proof), files.get(sealPaths.proof), 'an entry is made once');
    t.equal(await log.size(), before);
    const refusedWith = async (changed: ReadonlyMap<string, Uint8Array>, by = signer) =>
      t.rejects(renewSeals(changed, { signer: by, log }), { code: 'VERIFY_REFUTED' });
    await refusedWith(new Map([...files, ['decision.json', Buffer.from('{}')]]));
    await refusedWith(new Map([...files, ['more.json', Buffer.from('{}')]]));
    await refusedWith(new Map([...files].filter(([path]) => path !== 'decision.json')));
    await refusedWith(new Map([...files].filter(([path]) => path !== sealPaths.summary)));
    await refusedWith(files, await openUserSigningKey(sample.env));
    t.equal(await log.size(), before);
  });
});
