/* Results of workers that count and that do not, without a queue: the worker's side runs in this process. */
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { makeIdentity, recipientOf } from '../../../attest/keys/age.ts';
import { openOwnKey } from '../../../attest/keys/key-signer.ts';
import { readWorkers, workerLine } from '../../../attest/statement/job-result.ts';
import { openJobRunner } from '../../../bin/command-parts/run-job.ts';
import { canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import type { SandboxBackend, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import type { Signer } from '../../../core/interfaces/sealing.ts';
import { isSameOutcome } from '../../../engine/evaluate/run-on-workers.ts';
import type { Attempt } from '../../../engine/state/open-run.ts';
import {
  type Content,
  commitFiles,
  commitJob,
  jobRef,
  openContent,
  readFiles,
  resultRef,
} from '../../../plugins/workers/content.ts';
import { openDispatcher } from '../../../plugins/workers/dispatch.ts';
import { describePlatform, type Job, sealSecrets, writeJob } from '../../../plugins/workers/job.ts';
import { commitResult, type JobResult } from '../../../plugins/workers/result.ts';
import { runGit } from '../../../workspace/git/git.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import { makeSample, sampleSpec } from '../sample.ts';

const output = (text: string) => ({ bytes: Buffer.from(text), totalBytes: text.length, truncated: false });

function resultOf(exitCode: number, text = 'ran\n'): SandboxResult {
  const streams = { stdout: output(text), stderr: output(''), combined: output(text) };
  return { exitCode, timedOut: false, aborted: false, durationMs: 1, ...streams };
}

/** A sandbox that a test answers for. */
function stubSandbox(run: SandboxBackend['run']): SandboxBackend {
  return {
    name: 'stub',
    pathsInside: () => ({ workspace: '/workspace', reports: '/reports' }),
    probe: async () => ({ works: true, enforced: ['all'] }),
    run,
  };
}

async function scene(t: Test, { after = 60_000, over: wrap = (content: Content) => content } = {}) {
  const box = mkdtempSync(join(tmpdir(), 'writ-dispatch-'));
  const sample = makeSample();
  const opened: { close(): Promise<void> }[] = [];
  t.teardown(async () => {
    for (const one of opened) await one.close();
    sample.remove();
    rmSync(box, { recursive: true, force: true });
  });
  const address = join(box, 'content.git');
  sample.git('init', '--quiet', '--bare', address);
  const repository = await openRepository(sample.root);
  const scratch = await createScratch(join(box, 'scratch'), repository);
  const remote = { address, shown: 'content' };
  const content = await openContent(join(box, 'engine'), remote, { over: scratch, network: repository });
  const signer = async (name: string) => openOwnKey(join(box, name), 'worker', 'ed25519');
  const listed = await signer('listed');
  const other = await signer('other');
  const identities = [await makeIdentity(), await makeIdentity()] as const;
  const recipients = await Promise.all(identities.map(recipientOf));
  const lines = [listed, other].map(({ publicKeyPem }, at) =>
    workerLine(`build-${at + 1}`, createPublicKey(publicKeyPem), [], recipients[at]),
  );
  const head = sample.git('rev-parse', 'HEAD');
  const tree = sample.git('rev-parse', 'HEAD^{tree}');
  const job: Job = {
    schema: 'urn:writ:job:v1',
    for: { repository: 'r', run: 'r', attempt: 'a', stage: 'fast', check: 'unit', turn: 1 },
    candidate: tree,
    policy: tree,
    rules: 'a'.repeat(64),
    history: [{ commit: head, tree }],
    given: [],
    argv: ['true'],
    env: {},
    tools: [],
    platform: await describePlatform(),
    sandbox: { name: 'stub', enforced: ['all'] },
    limits: { timeoutMs: 1000, maxOutputBytes: 4096, maxMemoryBytes: 1024 * 1024 },
  };
  const { action } = writeJob(job);
  const workers = readWorkers(Buffer.from(`# build machines\n${lines.join('\n')}\n`));
  const time = { now: 0 };
  const wakeUps: number[] = [];
  const over: number[] = [];
  let news: (action: string, what: 'taken' | 'ended') => void = () => undefined;
  const dispatcher = openDispatcher({
    content: wrap(content),
    queue: async (hear) => {
      news = hear;
      return { add: async ({ fence }) => wakeUps.push(fence) > 0, close: async () => undefined };
    },
    workers,
    afterMs: after,
    signal: new AbortController().signal,
    fences: { current: async () => over.length + 1, end: async (_, fence) => void over.push(fence) },
    monotonic: () => time.now,
    lookEachMs: 20,
  });
  const own = await openContent(join(box, 'hand'), remote, { over: scratch, network: repository });
  opened.push(content, own);
  const ran = (exitCode: number, text?: string): JobResult => ({
    result: resultOf(exitCode, text),
    reports: [{ name: 'junit.xml', bytes: Buffer.from('<testsuites/>') }],
    unread: [],
    written: [{ path: 'left', was: 'added' }],
    isCut: false,
  });
  return {
    ...{
      sample,
      content,
      dispatcher,
      job,
      action,
      listed,
      other,
      signer,
      time,
      wakeUps,
      over,
      ran,
      workers,
      identities,
    },
    hear: (what: 'taken' | 'ended') => news(action, what),
    refs: () => outputOf('git', ['for-each-ref', '--format=%(refname)'], { cwd: address }).toString(),
    worker(name: string, run: SandboxBackend['run'], key = listed, identity = identities[0]) {
      const place = {
        home: join(box, name),
        content: address,
        sandbox: stubSandbox(run),
        signer: key,
        identity,
      };
      const runner = openJobRunner(place);
      opened.push(runner);
      return runner;
    },
    /** Publishes a result by hand, as a worker could that does not keep to the rules. */
    async publish(
      result: JobResult,
      how: { fence?: number; key?: Signer; about?: string; at?: string } = {},
    ) {
      const { fence = 1, key = listed, about = action, at = key.keyId } = how;
      const commit = await commitResult(own.place, { action: about, fence }, result, key);
      return this.put(commit, at);
    },
    async put(commit: string, keyId: string, about = action) {
      const ref = resultRef(about, keyId);
      const from = (await own.list([ref])).get(ref) ?? null;
      t.ok(await own.push([{ ref, from, to: commit }]));
      return commit;
    },
    own,
    jobIsThere: () => until(async () => (await own.list([jobRef(action)])).size === 1),
  };
}

t.test('a worker in another home runs a job from its content alone', async (t) => {
  const { dispatcher, job, action, worker, listed, refs, wakeUps } = await scene(t);
  let shown: readonly string[] = [];
  const running = dispatcher.run(job);
  const runner = worker('one', async () => resultOf(0));
  await until(() => wakeUps.length > 0);
  t.same(await runner.run(action, new AbortController().signal), { outcome: 'published' });
  const found = await running;
  t.equal(found?.action, action);
  t.match(found?.answer, {
    fence: 1,
    worker: { name: 'build-1', keyId: listed.keyId },
    result: { exitCode: 0 },
  });
  shown = refs().trim().split('\n');
  t.same(shown, [jobRef(action), resultRef(action, listed.keyId)]);
  t.same(
    await runner.run(action, new AbortController().signal),
    { outcome: 'published' },
    'a wake-up that came twice',
  );
  t.same(await dispatcher.pairs(), []);
  await dispatcher.close();
  t.equal(refs(), '', 'nothing is left at the remote');
  t.match(await runner.run(action, new AbortController().signal), { outcome: 'superseded' });
});

t.test('results that do not count', async (t) => {
  const place = await scene(t);
  const { dispatcher, job, action, ran, publish, signer, own, other } = place;
  const running = dispatcher.run(job);
  await place.jobIsThere();
  const counted = (count: number) => until(() => dispatcher.refusals().length >= count);

  const stranger = await signer('stranger');
  await publish.call(place, ran(0), { key: stranger, at: other.keyId });
  await counted(1);
  t.match(dispatcher.refusals()[0], /does not list its key/);

  await publish.call(place, ran(0), { about: 'a'.repeat(64) });
  await counted(2);
  t.match(dispatcher.refusals()[1], /about another job/);

  await publish.call(place, ran(0), { fence: 7 });
  await counted(3);
  t.match(dispatcher.refusals()[2], /answers dispatch 7/);

  const good = await commitResult(own.place, { action, fence: 1 }, ran(0), place.listed);
  const files = await readFiles(
    own.place,
    good,
    ['envelope.json', 'stdout', 'stderr', 'combined', 'reports/0'],
    1e6,
  );
  await place.put(
    await commitFiles(own.place, new Map([...files, ['stdout', Buffer.from('other\n')]]), 'x'),
    place.listed.keyId,
  );
  await counted(4);
  t.match(dispatcher.refusals()[3], /`stdout` has another digest/);

  await place.put(
    await commitFiles(own.place, new Map([...files, ['reports/0', Buffer.from('<x/>')]]), 'x'),
    place.listed.keyId,
  );
  await counted(5);
  t.match(dispatcher.refusals()[4], /`reports\/0` has another digest/);

  const envelope = JSON.parse(`${files.get('envelope.json')}`) as { payload: string };
  const payload = Buffer.from(
    Buffer.from(envelope.payload, 'base64').toString().replace('"exitCode":0', '"exitCode":1'),
  );
  const forged = Buffer.from(canonicalize({ ...envelope, payload: payload.toString('base64') }));
  await place.put(
    await commitFiles(own.place, new Map([...files, ['envelope.json', forged]]), 'x'),
    place.listed.keyId,
  );
  await counted(6);
  t.match(dispatcher.refusals()[5], /signature does not fit/);

  await publish.call(place, ran(0, 'x'.repeat(20_000)));
  await counted(7);
  t.match(dispatcher.refusals()[6], /more than \d+ bytes/);

  await place.put(good, place.listed.keyId);
  t.match(await running, { answer: { result: { exitCode: 0 }, reports: [{ name: 'junit.xml' }] } });
});

const token = 'Zq8vXw3L/t5R9Kpm3L';

/** A job with a secret that goes to `build-1` alone. */
async function secretScene(t: Test, how: { after?: number } = {}) {
  const place = await scene(t, how);
  const [first] = place.workers;
  if (first === undefined) throw new TypeError('expected workers');
  const job: Job = { ...place.job, secrets: ['API_TOKEN'] };
  const { action } = writeJob(job);
  const secrets = { env: { API_TOKEN: token }, label: 'vault', workers: [first] };
  const signal = new AbortController().signal;
  const isThere = (which: string) => until(async () => (await place.own.list([jobRef(which)])).size === 1);
  /** Puts a dispatch of a job at the remote by hand, as whoever may push there could. */
  const forge = async (job: Job, fence: number, sealed?: Buffer) => {
    const { bytes, action } = writeJob(job);
    const more = sealed === undefined ? {} : { sealed };
    const to = await commitJob(place.own.place, { job, bytes, fence, ...more });
    const from = (await place.own.list([jobRef(action)])).get(jobRef(action)) ?? null;
    t.ok(await place.own.push([{ ref: jobRef(action), from, to }]));
    return action;
  };
  return {
    ...place,
    place,
    job,
    action,
    secrets,
    signal,
    isThere,
    forge,
    recipients: [first.recipient ?? ''],
  };
}

t.test('a command gets its secrets, and its result is published without them', async (t) => {
  const { dispatcher, job, action, secrets, signal, isThere, worker, other, identities, content } =
    await secretScene(t);
  const running = dispatcher.run(job, secrets);
  await isThere(action);
  let given: Readonly<Record<string, string>> = {};
  const text = `it is ${token}\n${'x'.repeat(100)}${`${token}\n`.repeat(400)}`;
  const run = async ({ env, reports }: Parameters<SandboxBackend['run']>[0]) => {
    given = env;
    writeFileSync(join(reports, 'junit.xml'), `<testsuites><testsuite name="${token}"/></testsuites>`);
    writeFileSync(join(reports, 'plain.txt'), btoa(token));
    return resultOf(0, text);
  };
  const aside = worker('aside', run, other, identities[1]);
  t.match(await aside.run(action, signal), { outcome: 'declined', why: 'its secrets are for other workers' });
  t.same(given, {}, 'the command of the other worker did not run');
  t.match(await worker('one', run).run(action, signal), { outcome: 'published' });
  t.same(given, { API_TOKEN: token });
  const { answer } = (await running) ?? {};
  const printed = `${answer?.result.combined.bytes}`;
  t.match(printed, /^it is \[redacted:secrets:word\]\nxxxx/);
  t.equal(answer?.result.combined.truncated, true, 'it became longer than an output may be');
  t.same(
    answer?.reports.map(({ name }) => name),
    ['junit.xml', 'plain.txt'],
  );
  t.match(`${answer?.reports[0]?.bytes}`, /<testsuite name="\[redacted:secrets:word\]"\/>/);
  const ids = await runGit(content.place, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']);
  const all = await runGit(content.place, ['cat-file', '--batch'], { input: ids });
  t.match(all.toString('latin1'), 'redacted:secrets', 'results were read');
  for (const form of [token, btoa(token)]) t.notOk(all.includes(form), form);
  t.notOk(`${answer?.envelope}`.includes(sha256Hex(token)));
});

t.test('results of a job with secrets that do not count', async (t) => {
  const {
    place,
    dispatcher,
    job,
    action,
    secrets,
    signal,
    isThere,
    ran,
    other,
    listed,
    worker,
    recipients,
    forge,
  } = await secretScene(t);
  const running = dispatcher.run(job, secrets);
  await isThere(action);
  const put = async (result: JobResult, key: Signer) =>
    place.put(await commitResult(place.own.place, { action, fence: 1 }, result, key), key.keyId, action);
  const counted = (count: number) => until(() => dispatcher.refusals().length >= count);
  await put({ ...ran(0) }, listed);
  await counted(1);
  t.match(dispatcher.refusals()[0], /was given other secrets/, 'it had none');
  // Someone who may push replaces them by others, which a worker cannot know.
  const { sealed } = await sealSecrets({ action, fence: 1 }, { API_TOKEN: 'of-an-attacker' }, recipients);
  await place.own.bring([jobRef(action)]);
  const original = (await place.own.list([jobRef(action)])).get(jobRef(action));
  await forge(job, 1, sealed);
  let given: unknown;
  const runner = worker('one', async ({ env }) => {
    given = env;
    return resultOf(0);
  });
  const from = (await place.own.list([resultRef(action, listed.keyId)])).get(resultRef(action, listed.keyId));
  await place.own.push([{ ref: resultRef(action, listed.keyId), from: from ?? null, to: null }]);
  t.match(await runner.run(action, signal), { outcome: 'published' });
  t.same(given, { API_TOKEN: 'of-an-attacker' });
  await counted(2);
  t.match(dispatcher.refusals()[1], /was given other secrets/, 'it had others');
  await place.own.push([
    {
      ref: jobRef(action),
      from: (await place.own.list([jobRef(action)])).get(jobRef(action)) ?? null,
      to: original ?? null,
    },
  ]);
  t.match(await runner.run(action, signal), { outcome: 'published' });
  const { answer } = (await running) ?? {};
  t.match(answer, { worker: { name: 'build-1' }, secrets: /^[0-9a-f]{64}$/ });
  t.same(given, { API_TOKEN: token });
  // Whoever reads a result knows the digest: a listed worker without the label does not count for this job.
  const { secrets: sha256 = '' } = answer ?? {};
  await put({ ...ran(1), secrets: sha256 }, other);
  t.same(await dispatcher.pairs(), []);
});

t.test('a worker refuses secrets of another job, dispatch or name, and those of a verdict', async (t) => {
  const { job, action, signal, worker, recipients, forge } = await secretScene(t);
  let ran = 0;
  const runner = worker('one', async () => {
    ran += 1;
    return resultOf(0);
  });
  const env = { API_TOKEN: token };
  const seal = async (about: { action: string; fence: number }, given: Record<string, string> = env) =>
    (await sealSecrets(about, given, recipients)).sealed;
  const about = { action, fence: 1 };
  const replayed = await seal(about);
  const [one, same] = [await sealSecrets(about, env, recipients), await sealSecrets(about, env, recipients)];
  t.not(one.sha256, same.sha256, 'a digest says nothing of a value');
  const another: Job = { ...job, argv: ['sh', '-c', 'curl'] };
  const reused: Job = { ...job, expects: 0 };
  const cases: readonly (readonly [name: string, job: Job, fence: number, Buffer | undefined, RegExp])[] = [
    ['of another job', another, 1, replayed, /those of another job or dispatch/],
    ['of an earlier dispatch', job, 2, replayed, /those of another job or dispatch/],
    ['of other names', job, 1, await seal({ action, fence: 1 }, { NODE_OPTIONS: token }), /other names/],
    ['more names', job, 1, await seal({ action, fence: 1 }, { ...env, NODE_OPTIONS: token }), /other names/],
    ['damaged', job, 1, Buffer.from(`${replayed}`.replace(/\n[A-Za-z0-9+/]/, '\n!')), /damaged or missing/],
    ['missing', job, 1, undefined, /damaged or missing/],
    ['for a verdict', reused, 1, await seal({ action: writeJob(reused).action, fence: 1 }), /for one run/],
  ];
  for (const [name, one, fence, sealed, why] of cases) {
    const forged = await forge(one, fence, sealed);
    await t.rejects(runner.run(forged, signal), { code: 'JOB_REFUSED', message: why }, name);
  }
  t.equal(ran, 0);
  t.match(await runner.run(await forge(job, 1, replayed), signal), { outcome: 'published' });
  t.equal(ran, 1);
});

t.test('lines of `.writ/workers` with and without a recipient', async (t) => {
  const { workers, listed, other, identities } = await scene(t);
  const recipient = await recipientOf(identities[0]);
  t.equal(workers[0]?.recipient, recipient);
  const key = createPublicKey(listed.publicKeyPem);
  const old = workerLine('old', key, ['a']);
  const read = (...lines: string[]) => readWorkers(Buffer.from(`${lines.join('\r\n')}\n`));
  for (const more of ['', ' ', ' a comment', ' ann@age1.example'])
    t.match(read(`${old}${more}`), [{ name: 'old', labels: ['a'], recipient: undefined }], more);
  for (const more of ['', ' a comment'])
    t.match(read(`${workerLine('new', key, [], recipient)}${more}`), [{ name: 'new', recipient }]);
  for (const more of [
    'age1',
    `${recipient}x`,
    recipient.slice(0, -1),
    recipient.toUpperCase().replace('AGE', 'age'),
  ])
    t.throws(() => read(`${old} ${more}`), { code: 'KEY_UNUSABLE', detail: { line: 1 } }, more);
  const twice = workerLine('other', createPublicKey(other.publicKeyPem), [], recipient);
  t.throws(() => read(workerLine('new', key, [], recipient), twice), /line 2 .* listed twice/);
});

long('of two valid results the first counts, and every other one is found', async (t) => {
  const place = await scene(t);
  const { dispatcher, job, ran, publish, other } = place;
  const running = dispatcher.run(job);
  await place.jobIsThere();
  await publish.call(place, ran(0, 'one\n'));
  t.match(await running, { answer: { worker: { name: 'build-1' }, result: { exitCode: 0 } } });
  await publish.call(place, ran(0, 'another text in the log\n'), { key: other });
  t.match(await dispatcher.pairs(), [{ second: { result: { exitCode: 0 } } }]);
  await publish.call(place, ran(1), { key: other });
  t.match((await dispatcher.pairs()).slice(1), [
    { first: { result: { exitCode: 0 } }, second: { worker: { name: 'build-2' }, result: { exitCode: 1 } } },
  ]);
});

t.test('a worker whose dispatch is over publishes nothing', async (t) => {
  const place = await scene(t, { after: 1000 });
  const { dispatcher, job, action, worker, time, over, wakeUps, hear } = place;
  const running = dispatcher.run(job);
  await until(() => wakeUps.length > 0);
  const held = Promise.withResolvers<SandboxResult>();
  let begun = false;
  const slow = worker('slow', () => {
    begun = true;
    return held.promise;
  }).run(action, new AbortController().signal);
  await until(() => begun);
  hear('taken');
  time.now += 2001;
  await until(() => over.length === 1 && wakeUps.at(-1) === 2);
  held.resolve(resultOf(1));
  t.match(await slow, { outcome: 'superseded', why: 'the job is at dispatch 2' });
  const quick = worker('quick', async () => resultOf(0), place.other);
  t.match(await quick.run(action, new AbortController().signal), { outcome: 'published' });
  t.match(await running, { answer: { fence: 2, worker: { name: 'build-2' }, result: { exitCode: 0 } } });
  t.same(await dispatcher.pairs(), []);
});

t.test('workers that take a job again and again, and decline it, hold up no run', async (t) => {
  const { dispatcher, job, time, wakeUps, over, hear } = await scene(t, { after: 1000 });
  let ended: unknown = 'running';
  dispatcher.run(job).then((found) => {
    ended = found;
  }, t.fail);
  await until(() => wakeUps.length > 0);
  await until(() => {
    if (ended === 'running') time.now += 1500;
    hear('taken');
    return ended !== 'running';
  });
  t.equal(ended, undefined);
  t.same(over, [1, 2, 3]);
});

long('a job that no worker takes is withdrawn', async (t) => {
  const place = await scene(t, { after: 1000 });
  const { dispatcher, job, action, worker, time, wakeUps, over, refs } = place;
  const running = dispatcher.run(job);
  await until(() => wakeUps.length > 0);
  const held = Promise.withResolvers<SandboxResult>();
  let begun = false;
  const late = worker('late', () => {
    begun = true;
    return held.promise;
  }).run(action, new AbortController().signal);
  await until(() => begun);
  time.now += 1001;
  t.equal(await running, undefined);
  held.resolve(resultOf(0));
  t.match(await late, { outcome: 'superseded', why: 'the job was withdrawn' });
  t.equal(refs(), '');
  t.same(over, [1], 'results of this dispatch will never count');
});

t.test('no job is left at the remote', async (t) => {
  let answer = async (): Promise<unknown> => undefined;
  const place = await scene(t, {
    over: (content) => ({
      ...content,
      push: async (orders, signal) => {
        const isLast = orders.every(({ to }) => to === null);
        // A worker answers after the look at what is left, and before its removal.
        if (isLast) await answer();
        return content.push(orders, signal);
      },
    }),
  });
  const { dispatcher, job, action, ran, publish, own, refs, other } = place;
  const running = dispatcher.run(job);
  await place.jobIsThere();
  await publish.call(place, ran(0));
  await running;
  answer = async () => {
    answer = async () => undefined;
    await publish.call(place, ran(0, 'another text\n'));
  };
  const earlier = 'b'.repeat(64);
  await own.bring([jobRef(action)]);
  const commit = (await own.list([jobRef(action)])).get(jobRef(action)) ?? '';
  const names = [jobRef(earlier), resultRef(earlier, other.keyId)];
  await own.push(names.map((ref) => ({ ref, from: null, to: commit })));
  t.equal(await dispatcher.close([earlier]), true);
  t.equal(refs(), '', 'not even one of an earlier process');
});

long('a machine that is not what the job names declines it', async (t) => {
  const { dispatcher, job, sample, worker } = await scene(t);
  const cases: readonly (readonly [Partial<Job>, RegExp])[] = [
    [{ tools: [{ name: 'git', sha256: 'a'.repeat(64) }] }, /`git` is another program/],
    [{ sandbox: { name: 'stub', enforced: [] } }, /its sandbox/],
    [{ platform: ['plan9', 'mips', '0'] }, /operating system/],
  ];
  for (const [change, why] of cases) {
    const other = { ...job, ...change };
    const { action } = writeJob(other);
    void dispatcher.run(other).catch(() => undefined);
    const runner = worker('one', async () => resultOf(0));
    await until(
      async () => (await runner.run(action, new AbortController().signal)).outcome !== 'superseded',
    );
    t.match(await runner.run(action, new AbortController().signal), { outcome: 'declined', why });
  }
  t.ok(sample.root);
});

t.test('results are compared by exit, tests by outcome and artifacts', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  const suite = { id: 'unit', kind: 'testSuite', command: 'node --test', artifactsProduced: ['build-log'] };
  const spec = JSON.parse(`${sampleSpec({ acceptance: { verificationPlan: { fastChecks: [suite] } } })}`);
  const [check] = spec.acceptance.verificationPlan.fastChecks;
  const attempt = {
    services: { engine },
    identity: { contract: { effective: spec }, scope: { write: [], forbidden: [], wholeRepository: true } },
    patch: { files: [] },
    environment: { config: { checks: { reports: new Map() } } },
  } as unknown as Attempt;
  const junit = (cases: string) =>
    Buffer.from(`<testsuites><testsuite name="s">${cases}</testsuite></testsuites>`);
  const passes = '<testcase name="one" time="0.1"/><testcase name="two" time="0.2"/>';
  const failed = (name: string) => `<testcase name="${name}"><failure message="no">no</failure></testcase>`;
  const ran = (
    { exitCode = 0, text = 'ran\n', signal = undefined as string | undefined, timedOut = false } = {},
    files: Readonly<Record<string, Buffer>> = { 'junit.xml': junit(passes) },
  ) => {
    const { exitCode: _, ...result } = resultOf(exitCode, text);
    const ended = signal === undefined ? { exitCode } : { signal };
    const reports = Object.entries(files).map(([name, bytes]) => ({ name, bytes }));
    return { result: { ...result, ...ended, timedOut }, reports, unread: [] };
  };
  const command = { stage: 'fast', check } as Parameters<typeof isSameOutcome>[1];
  const isSame = (one: ReturnType<typeof ran>, other = ran()) => isSameOutcome(attempt, command, one, other);
  t.equal(await isSame(ran()), true);
  const alike: Readonly<Record<string, ReturnType<typeof ran>>> = {
    'another log': ran({ text: 'another text\n' }),
    'another duration': ran({}, { 'junit.xml': junit(passes.replace('0.1', '9.9')) }),
    'another order of tests': ran(
      {},
      {
        'junit.xml': junit('<testcase name="two" time="0.2"/><testcase name="one" time="0.1"/>'),
      },
    ),
    'a file that no artifact is': ran({}, { 'junit.xml': junit(passes), 'scratch.bin': Buffer.from('1') }),
  };
  for (const [name, one] of Object.entries(alike)) t.equal(await isSame(one), true, name);
  const others: Readonly<Record<string, ReturnType<typeof ran>>> = {
    'another exit code': ran({ exitCode: 1 }),
    'a signal': ran({ signal: 'SIGKILL' }),
    'a timeout': ran({ timedOut: true }),
    'a failed test': ran({}, { 'junit.xml': junit(`<testcase name="one"/>${failed('two')}`) }),
    'a test of another name': ran({}, { 'junit.xml': junit(passes.replace('two', 'three')) }),
    'a test less': ran({}, { 'junit.xml': junit('<testcase name="one"/>') }),
    'a skipped test': ran(
      {},
      { 'junit.xml': junit('<testcase name="one"/><testcase name="two"><skipped/></testcase>') },
    ),
    'an artifact': ran({}, { 'junit.xml': junit(passes), 'build-log.bin': Buffer.from('1') }),
  };
  for (const [name, one] of Object.entries(others)) t.equal(await isSame(one), false, name);
  const bytes = (text: string) => ran({}, { 'junit.xml': junit(passes), 'build-log.bin': Buffer.from(text) });
  t.equal(await isSame(bytes('1'), bytes('1')), true, 'the same artifact');
  t.equal(await isSame(bytes('1'), bytes('2')), false, 'other bytes of an artifact');
  const fails = (name: string) => ran({ exitCode: 1 }, { 'junit.xml': junit(failed(name) + passes) });
  t.equal(await isSame(fails('a'), fails('a')), true);
  t.equal(await isSame(fails('a'), fails('b')), false, 'another test that fails');
});
