import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { uuidV7 } from '../../../core/base/ids.ts';
import { fetchRefs } from '../../../engine/upkeep/fetch-refs.ts';
import { pushRefs } from '../../../engine/upkeep/push-refs.ts';
import { readRetained, retainBlobs } from '../../../store/retain-blobs.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { looseObject } from '../../workspace/git/loose-object.ts';
import { type Clone, makeRemote, told } from './two-repositories.ts';

const run = 'refs/ai/runs/r1';

long('refs under every prefix reach another repository through a bare remote', async (t) => {
  const { clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  t.strictSame(told(await a.move(pushRefs)), [], 'nothing to send to an empty remote');
  t.strictSame(told(await a.move(fetchRefs)), [], 'nothing there to bring');
  const refs = [
    'refs/ai/approvals/r1/1',
    'refs/ai/content/r1',
    'refs/ai/intents/i1',
    'refs/ai/plans/p1',
    run,
    'refs/ai/team/runs/r2',
    'refs/x-other/deep/runs/r3',
  ];
  for (const ref of refs) await a.write(ref, { 'run.json': ref });
  await a.write('refs/ai/fetched/of-r1/from-0123456789ab-run', { x: 'of this repository alone' });
  t.strictSame(
    told(await a.move(pushRefs)),
    refs.map((ref) => `${ref} created`),
  );
  t.strictSame(
    told(await a.move(pushRefs)),
    refs.map((ref) => `${ref} current`),
    'again: nothing to do',
  );
  t.strictSame(
    told(await b.move(fetchRefs)),
    refs.map((ref) => `${ref} created`),
  );
  for (const ref of refs) t.equal(b.ref(ref), a.ref(ref));
  t.equal(b.git('show', `${run}:run.json`), run);
  t.equal(b.git('for-each-ref', 'refs/heads', 'refs/remotes', 'refs/tags').split('\n').length, 1);
  t.notOk(existsSync(join(b.root, '.git', 'FETCH_HEAD')));

  await b.write(run, { 'run.json': 'more' });
  t.ok(told(await a.move(fetchRefs)).includes(`${run} current`));
  t.ok(told(await b.move(fetchRefs)).includes(`${run} ahead`));
  t.ok(told(await b.move(pushRefs)).includes(`${run} updated`));
  t.ok(told(await a.move(fetchRefs)).includes(`${run} updated`));
  t.equal(a.ref(run), b.ref(run));
  const old = a.git('rev-parse', `${run}~1`);
  a.git('update-ref', run, old);
  t.ok(told(await a.move(pushRefs)).includes(`${run} behind`), 'the remote keeps what is newer');
  t.equal(
    b.ref(run),
    execFileSync('git', ['-C', join(a.root, '../remote.git'), 'rev-parse', run], { encoding: 'utf8' }).trim(),
  );
});

t.test('shallow and partial clones push their records and fetch those of others', async (t) => {
  const { bare, clone } = makeRemote();
  const a = clone('a');
  a.git('-C', bare, 'config', 'uploadpack.allowFilter', 'true');
  const lines = Array.from({ length: 999 }, (_, index) => `line ${index} of ${index * index * 7}`);
  const commit = (one: Clone, message: string, changed: number): string => {
    writeFileSync(join(one.root, 'file'), lines.with(changed, message).join('\n'));
    one.git('add', 'file');
    one.git('commit', '--quiet', '-m', message);
    return one.git('rev-parse', 'HEAD');
  };
  const base = commit(a, 'base', 0);
  // As the content of a run that waited: its candidate is a commit on the base.
  const candidate = commit(a, 'candidate', 300);
  const content = 'refs/ai/content/r1';
  a.git('update-ref', content, a.git('commit-tree', `${candidate}^{tree}`, '-p', candidate, '-m', 'content'));
  a.git('reset', '--quiet', '--hard', base);
  commit(a, 'later', 600);
  a.git('push', '--quiet', 'origin', 'main');
  await a.write(run, { 'run.json': 'sealed' });
  await a.move(pushRefs);
  for (const [kind, ...how] of [
    ['shallow', '--depth=1'],
    ['partial', '--filter=blob:none'],
    ['both', '--depth=1', '--filter=blob:none'],
  ] as const) {
    await t.test(kind, async (t) => {
      const b = clone(kind);
      b.git('fetch', '--quiet', ...how, 'origin', 'main');
      b.git('reset', '--quiet', '--hard', 'FETCH_HEAD');
      const own = `refs/ai/content/${kind}`;
      commit(b, kind, 301);
      // On the oldest commit here: the earlier version of the file is not in a partial clone.
      const [oldest = ''] = b.git('rev-list', '--reverse', 'FETCH_HEAD').split('\n').slice(-2);
      b.git('update-ref', own, b.git('commit-tree', 'HEAD^{tree}', '-p', oldest, '-m', 'content'));
      const pushed = told(await b.move(pushRefs));
      t.ok(pushed.includes(`${own} created`), pushed.join(', '));
      const fetched = told(await b.move(fetchRefs)).filter((line) => /r1/.test(line));
      t.strictSame(fetched, [`${content} created`, `${run} created`]);
      t.match(b.git('show', `${content}:file`), '\ncandidate\n');
      t.equal(b.git('rev-parse', `${content}~2`), base);
    });
  }
});

t.test(
  'a new log beside logs of the remote that were not fetched is pushed with a word about them',
  async (t) => {
    const { clone } = makeRemote();
    const [a, b] = [clone('a'), clone('b')];
    await a.write('refs/ai/ledger/first', { checkpoint: '1' });
    t.equal((await a.move(pushRefs)).refs[0]?.reason, undefined, 'the first log');
    await b.write('refs/ai/ledger/second', { checkpoint: '1' });
    t.match((await b.move(pushRefs)).refs, [
      { status: 'created', reason: /has another log, .*`writ fetch`/ },
    ]);
    await a.move(fetchRefs);
    await a.write('refs/ai/ledger/third', { checkpoint: '1' });
    t.notOk(
      (await a.move(pushRefs)).refs.some(({ reason }) => reason),
      'all logs were fetched',
    );
  },
);

t.test('a run whose log entry the remote does not have is not pushed', async (t) => {
  const { clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  const log = 'refs/ai/ledger/writ-ledger%2Fx';
  const sealed = { 'transparency-proof.tlog-proof': 'of the log' };
  await a.write(log, { checkpoint: '1' });
  await a.move(pushRefs);
  await b.move(fetchRefs);
  await a.write(log, { checkpoint: '2 of a' });
  await a.write('refs/ai/runs/r1', sealed);
  t.strictSame(told(await a.move(pushRefs)), [`${log} updated`, 'refs/ai/runs/r1 created']);
  await b.write(log, { checkpoint: '2 of b' });
  await b.write('refs/ai/runs/r2', sealed);
  await b.write('refs/ai/runs/waiting', { 'run.json': 'without a seal' });
  const pushed = await b.move(pushRefs);
  t.strictSame(told(pushed), [
    `${log} unfetched`,
    'refs/ai/runs/r2 rejected',
    'refs/ai/runs/waiting created',
  ]);
  await b.write('refs/ai/runs/waiting', sealed);
  t.ok(
    told(await b.move(pushRefs)).includes('refs/ai/runs/waiting rejected'),
    'also one that is there already',
  );
  t.match(pushed.refs[1]?.reason, /`writ fetch`, then `writ push` again/);
  t.strictSame(told(await b.move(fetchRefs)).slice(0, 1), [`${log} diverged`]);
  t.match(told(await b.move(pushRefs)), [`${log} diverged`, /r1/, 'refs/ai/runs/r2 rejected', /waiting/]);
  const ofOther = { log: 'refs/ai/ledger/other' };
  t.match(
    told(await b.move((request) => pushRefs({ ...request, readProof: async () => ofOther }))),
    [`${log} diverged`, /r1/, 'refs/ai/runs/r2 created'],
    'a run of another log is sent',
  );
});

long('a diverged record is refused by name in both directions, and other refs still move', async (t) => {
  const { bare, clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  await a.write(run, { 'run.json': 'a' });
  await a.move(pushRefs);
  await b.write(run, { 'run.json': 'b' });
  await b.write('refs/ai/runs/r2', { 'run.json': 'b2' });
  const theirs = a.ref(run);
  t.strictSame(told(await b.move(pushRefs)), [`${run} unfetched`, 'refs/ai/runs/r2 created']);
  await a.write('refs/ai/runs/r3', { 'run.json': 'a3' });
  await a.move(pushRefs);
  const mine = b.ref(run);
  t.strictSame(told(await b.move(fetchRefs)), [
    `${run} diverged`,
    'refs/ai/runs/r2 current',
    'refs/ai/runs/r3 created',
  ]);
  t.equal(b.ref(run), mine, 'ours stays');
  t.ok(told(await b.move(pushRefs)).includes(`${run} diverged`));
  t.equal(
    execFileSync('git', ['-C', bare, 'rev-parse', run], { encoding: 'utf8' }).trim(),
    theirs,
    'theirs stays',
  );
});

long('the newer content replaces the older one, wherever it was written', async (t) => {
  const { clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  const content = 'refs/ai/content/r1';
  await a.write(content, { 'artifacts/log': 'all of it' }, Date.UTC(2025, 0, 1));
  await a.move(pushRefs);
  await b.move(fetchRefs);
  // As after `writ gc`: a commit without parents.
  a.git('update-ref', '-d', content);
  await a.write(content, { 'artifacts/rest': 'x' }, Date.UTC(2025, 0, 2));
  t.ok(told(await a.move(pushRefs)).includes(`${content} replaced`));
  t.ok(told(await b.move(pushRefs)).includes(`${content} unfetched`), 'what is gone there is not sent back');
  t.ok(told(await b.move(fetchRefs)).includes(`${content} replaced`));
  t.equal(b.ref(content), a.ref(content));
  b.git('update-ref', '-d', content);
  await b.write(content, { 'artifacts/log': 'all of it' }, Date.UTC(2025, 0, 1));
  t.ok(told(await b.move(pushRefs)).includes(`${content} behind`), 'the older does not replace the newer');
});

long('two approvals with the same number are both kept', async (t) => {
  const { clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  const first = 'refs/ai/approvals/r1/1';
  await a.write(first, { 'approval.json': 'by a' });
  await b.write(first, { 'approval.json': 'by b' });
  await a.move(pushRefs);
  t.strictSame(told(await b.move(pushRefs)), [`${first} unfetched`]);
  t.strictSame(told(await b.move(fetchRefs)), [`${first} replaced`, 'refs/ai/approvals/r1/2 renumbered']);
  t.equal(b.git('show', `${first}:approval.json`), 'by a');
  t.equal(b.git('show', 'refs/ai/approvals/r1/2:approval.json'), 'by b');
  await b.move(pushRefs);
  await a.move(fetchRefs);
  t.equal(a.git('show', 'refs/ai/approvals/r1/2:approval.json'), 'by b');
});

long('orphan commits of two machines are merged for each run', async (t) => {
  const { clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  const [one, other] = [uuidV7(1_700_000_000_000), uuidV7(1_700_000_000_001)];
  const keep = async ({ root }: Clone, runId: string, name: string): Promise<void> => {
    const repository = await openRepository(root);
    await retainBlobs(repository, 'orphan-commit', runId, [[name, Buffer.from(name)]]);
  };
  await keep(a, one, 'by a');
  await keep(a, other, 'of another run');
  await keep(b, one, 'by b');
  const moved = [
    await a.move(pushRefs),
    await b.move(pushRefs),
    await b.move(fetchRefs),
    await a.move(fetchRefs),
  ];
  t.strictSame(
    [...new Set(moved.flatMap(({ refs }) => refs.map(({ status }) => status)))],
    ['created', 'current'],
  );
  for (const { root } of [a, b]) {
    const repository = await openRepository(root);
    for (const [runId, name] of [
      [one, 'by a'],
      [one, 'by b'],
      [other, 'of another run'],
    ] as const)
      t.equal((await readRetained(repository, 'orphan-commit', runId, name))?.toString(), name);
  }
});

t.test('a ref that conflicts with a local one does not stop other refs', async (t) => {
  const { clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  await a.write('refs/ai/runs/r1/inner', { x: '1' });
  await a.write('refs/ai/runs/r2', { x: '2' });
  await a.move(pushRefs);
  await b.write('refs/ai/runs/r1', { x: 'a file where they have a directory' });
  const moved = await b.move(fetchRefs);
  t.strictSame(told(moved), ['refs/ai/runs/r1/inner rejected', 'refs/ai/runs/r2 created']);
});

t.test('a ref whose objects the remote lacks is rejected with the words of git', async (t) => {
  const { bare, clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  await a.write(run, { 'run.json': 'lost' });
  await a.move(pushRefs);
  const lost = a.git('rev-parse', `${run}:run.json`);
  rmSync(looseObject(bare, lost));
  const { refs } = await b.move(fetchRefs);
  t.match(refs, [{ ref: run, status: 'rejected', reason: /./ }]);
  t.notMatch(refs[0]?.reason, 'cannot run', 'the program that lists refs of alternates');
});

t.test('refs that the remote refuses are reported with name and reason', async (t) => {
  const { bare, clone } = makeRemote();
  const a = clone('a');
  const hook = join(bare, 'hooks', 'update');
  mkdirSync(join(bare, 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\ncase "$1" in *r1) echo no; exit 1;; esac\n', { mode: 0o755 });
  await a.write(run, { x: '1' });
  await a.write('refs/ai/runs/r2', { x: '2' });
  const moved = await a.move(pushRefs);
  t.strictSame(told(moved), [`${run} rejected`, 'refs/ai/runs/r2 created']);
  t.match(moved.refs[0], { from: null, to: null, reason: /hook declined/ });
});

long('a remote may be a path, a URL or the only one configured', async (t) => {
  const { box, bare, clone } = makeRemote();
  const a = clone('a');
  await a.write(run, { x: '1' });
  t.strictSame(told(await a.move(pushRefs, '../remote.git')), [`${run} created`]);
  t.strictSame(told(await a.move(pushRefs, bare)), [`${run} current`]);
  t.strictSame(told(await a.move(pushRefs, pathToFileURL(bare).href)), [`${run} current`]);
  a.git('remote', 'rename', 'origin', 'only');
  t.equal((await a.move(pushRefs)).remote, 'only');
  a.git('remote', 'add', 'more', bare);
  await t.rejects(a.move(pushRefs), { code: 'REMOTE_UNKNOWN', detail: { remotes: ['more', 'only'] } });
  await t.rejects(a.move(pushRefs, 'onyl'), { code: 'REMOTE_UNKNOWN', hints: ['did you mean `only`?'] });
  await t.rejects(a.move(fetchRefs, '--upload-pack=touch /tmp/x'), { code: 'REMOTE_UNKNOWN' });
  a.git('remote', 'remove', 'more');
  a.git('remote', 'remove', 'only');
  await t.rejects(a.move(fetchRefs), { code: 'REMOTE_UNKNOWN', detail: { remotes: [] } });
  await t.rejects(a.move(fetchRefs, join(box, 'nowhere.git')), { code: 'REMOTE_FAILED' });
  const fault = await a.move(pushRefs, 'http://user:hunter2@127.0.0.1:9/x.git').catch((thrown) => thrown);
  t.match(fault, { code: 'REMOTE_FAILED' });
  t.notMatch(`${JSON.stringify(fault)} ${fault}`, /hunter2/);
});

long('no program that the config of the repository names is run', async (t) => {
  const { box, bare, clone } = makeRemote();
  const a = clone('a');
  await a.write(run, { x: '1' });
  const mark = join(box, 'ran');
  const evil = join(box, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $@" >> '${mark}'\nexit 1\n`, { mode: 0o755 });
  const hooks = join(a.root, '.git', 'hooks');
  mkdirSync(hooks, { recursive: true });
  for (const name of ['pre-push', 'reference-transaction'])
    writeFileSync(join(hooks, name), readFileSync(evil), { mode: 0o755 });
  for (const [key, value] of [
    ['remote.origin.receivepack', evil],
    ['remote.origin.uploadpack', evil],
    ['core.sshCommand', evil],
    ['core.gitProxy', evil],
    ['credential.helper', `!${evil}`],
    ['core.askPass', evil],
    ['protocol.ext.allow', 'always'],
    ['core.fsmonitor', evil],
    ['core.alternateRefsCommand', evil],
  ] as const)
    a.git('config', key, value);
  t.strictSame(told(await a.move(pushRefs)), [`${run} created`]);
  t.strictSame(told(await a.move(fetchRefs)), [`${run} current`]);
  for (const address of [`ext::${evil} %S`, 'ssh://127.0.0.1:9/x', `fd::7`, `transport::${bare}`]) {
    await t.rejects(a.move(pushRefs, address), { code: 'REMOTE_FAILED' }, address);
    await t.rejects(a.move(fetchRefs, address), { code: 'REMOTE_FAILED' }, address);
  }
  a.git('config', 'remote.origin.vcs', 'ext');
  await t.rejects(a.move(fetchRefs), { code: 'REMOTE_FAILED' });
  a.git('config', '--unset', 'remote.origin.vcs');

  const asked = await refusingServer(t);
  a.git('config', `credential.${asked.url}.helper`, `!${evil}`);
  await t.rejects(a.move(fetchRefs, `${asked.url}/x.git`), { code: 'REMOTE_FAILED' });
  t.ok(asked.count() > 0, 'the server was asked');
  t.notOk(existsSync(mark), existsSync(mark) ? readFileSync(mark, 'utf8') : 'nothing ran');
});

t.test('the credential helper of the user is called', async (t) => {
  const { box, clone } = makeRemote();
  const a = clone('a');
  const asked = await refusingServer(t);
  const mark = join(box, 'ran');
  writeFileSync(join(box, 'gitconfig'), `[credential]\n\thelper = "!echo asked >> ${mark}; true"\n`);
  process.env.GIT_CONFIG_GLOBAL = join(box, 'gitconfig');
  t.teardown(() => {
    process.env.GIT_CONFIG_GLOBAL = '/dev/null';
  });
  await t.rejects(a.move(fetchRefs, `${asked.url}/x.git`), { code: 'REMOTE_FAILED' });
  t.ok(existsSync(mark));
});

long('thousands of refs are pushed and fetched in one call each', { timeout: 600_000 }, async (t) => {
  const { bare, clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  const count = 1_500;
  const tree = a.git('write-tree');
  const commit = a.git('commit-tree', tree, '-m', 'one');
  const next = a.git('commit-tree', tree, '-p', commit, '-m', 'two');
  const name = (index: number): string =>
    `refs/ai/runs/0198c1e2-7a5d-7b1c-9d51-${String(index).padStart(12, '0')}`;
  const input = Array.from({ length: count }, (_, index) => `create ${name(index)} ${commit}\n`).join('');
  execFileSync('git', ['update-ref', '--stdin'], { cwd: a.root, input });
  const pushed = await a.move(pushRefs);
  t.equal(pushed.refs.filter(({ status }) => status === 'created').length, count);
  const fetched = await b.move(fetchRefs);
  t.equal(fetched.refs.filter(({ status }) => status === 'created').length, count);
  execFileSync('git', ['update-ref', '--stdin'], {
    cwd: a.root,
    input: input.replaceAll('create', 'update').replaceAll(commit, next),
  });
  t.equal((await a.move(pushRefs)).refs.filter(({ status }) => status === 'updated').length, count);
  t.equal((await b.move(fetchRefs)).refs.filter(({ status }) => status === 'updated').length, count);
  t.equal(execFileSync('git', ['-C', bare, 'rev-parse', name(count - 1)], { encoding: 'utf8' }).trim(), next);
});

/** An HTTP server that wants a password. */
async function refusingServer(t: Test): Promise<{ readonly url: string; count(): number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count };
}
