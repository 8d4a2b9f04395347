import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renewEntry } from '../../../attest/bundle/bundle.ts';
import { openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { openLogHere } from '../../../attest/log/proven-runs.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { sealPaths } from '../../../store/record/record-paths.ts';
import { openStores } from '../../../store/stores.ts';
import { readBlob } from '../../../workspace/git/read-objects.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { runLine } from '../../bin/host.ts';
import { long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { fixtures, makeSample, sampleSpec } from '../sample.ts';
import { closePool } from '../shared-pool.ts';

const fix = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');

long('two machines with the same keys seal at once, and both runs are published', async (t) => {
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

  const plainPush = ['-C', b.clone, 'push', '-q', bare, 'refs/ai/runs/*:refs/ai/runs/*'];
  outputOf('git', plainPush);

  await t.test('the second push follows the published log and makes the entry again', async (t) => {
    const { refs } = await b.call(0, 'push');
    const told = (wanted: string) => refs.find(({ ref }: { ref: string }) => ref.startsWith(wanted));
    t.match(told(second.ref), { status: 'updated', reason: /its log entry was made again/ });
    t.match(told('refs/ai/ledger/'), { status: 'updated', reason: /kept in `/ });
    t.strictSame((await b.call(0, 'fsck')).problems, []);
    await b.call(0, 'verify', second.commit);
  });

  await t.test(
    'the first machine verifies both, and its ledger is not damaged by being behind',
    async (t) => {
      outputOf('git', ['-C', a.clone, 'fetch', '-q', bare, '+refs/ai/*:refs/ai/*']);
      outputOf('git', ['-C', a.clone, 'fetch', '-q', b.clone, second.commit]);
      for (const { commit } of [first, second]) await a.call(0, 'verify', commit);
      t.strictSame((await a.call(0, 'fsck')).problems, []);
      await a.call(0, 'fetch');
      const own = openUserLedger(repository.commonDir, a.env, systemClock, repository);
      t.equal(await own.size(), 3, '`writ fetch` brings the ledger up to date');
    },
  );

  await t.test('only the entry of the very envelope that was signed counts', async (t) => {
    const at = await openRepository(b.clone);
    const renewed = (await readBlob(at, second.ref, sealPaths.renewedBundle)) ?? Buffer.alloc(0);
    const other = (await readBlob(at, second.ref, sealPaths.manifest)) ?? Buffer.alloc(0);
    const forkedProof = (await readBlob(at, second.ref, sealPaths.proof)) ?? Buffer.alloc(0);
    const renewedProof = (await readBlob(at, second.ref, sealPaths.renewedProof)) ?? Buffer.alloc(0);
    const ledger = openUserLedger(at.commonDir, b.env, systemClock, at);
    const size = await ledger.size();
    const published = await openLogHere(at, (await ledger.head())?.origin ?? '');
    const first = new Map([
      [sealPaths.bundle as string, (await readBlob(at, second.ref, sealPaths.bundle)) ?? Buffer.alloc(0)],
    ]);
    t.equal(published && (await renewEntry(first, published, ledger)), undefined, 'no entry of another log');
    t.equal(await ledger.size(), size);
    const [store] = await openStores(builtInStores, at, systemClock);
    const put = (files: [string, Uint8Array][]) =>
      store?.objects.writeTree(second.ref, { message: 'm', files, keepExisting: true });
    const checkOf = async (id: string) => {
      const { checks } = await b.call(1, 'verify', second.commit);
      return checks.find((one: { id: string }) => one.id === id);
    };
    await put([[sealPaths.renewedProof, forkedProof]]);
    t.match(
      await checkOf('log-proof'),
      { status: 'failed', code: 'mismatch' },
      'the proof of the forked log',
    );
    const evidence = join(box, 'evidence.json');
    await b.call(0, 'report', second.ref.slice('refs/ai/runs/'.length), '--bundle', evidence);
    const { checks } = await b.call(1, 'verify', evidence);
    t.match(
      checks.find(({ id }: { id: string }) => id === 'log-proof'),
      { status: 'failed', code: 'mismatch' },
    );
    t.match((await b.call(1, 'fsck')).problems, [{ code: 'ledger-checkpoint', where: second.ref }]);
    await put([[sealPaths.renewedProof, renewedProof]]);
    await put([[sealPaths.renewedBundle, other]]);
    t.match(await checkOf('bundle-renewed'), { status: 'failed', code: 'mismatch' });
    await put([
      [sealPaths.renewedBundle, renewed],
      ['renewed/more.json', Buffer.from('{}')],
    ]);
    t.match(await checkOf('manifest-complete'), { status: 'failed', code: 'unlisted' });
  });
});
