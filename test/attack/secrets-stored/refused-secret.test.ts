import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { WritError } from '../../../core/base/errors.ts';
import { definePlugin } from '../../../plugin.ts';
import { createRecordedWorker, type RecordedAnswer } from '../../../plugins/recorded-worker/plugin.ts';
import { runLine } from '../../bin/host.ts';
import { type Json, makeSample, merge, type Sample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { add, plain, token, tracesOf } from './scene.ts';

t.setTimeout(400_000);

async function refused(t: Test, patch: string | Buffer, more: Json = {}) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const view = await sample.run({ source: { kind: 'patch', bytes: Buffer.from(patch) } }, merge(plain, more));
  t.equal(view.decision?.type, 'abandon', view.decision?.rationale ?? '');
  return { sample, view };
}

/** fsck finds nothing, replay decides the same again, and whoever looks is told. */
async function stillSound(t: Test, sample: Sample, runId: string): Promise<void> {
  const given = { cwd: sample.root, env: sample.env };
  for (const line of [['fsck'], ['replay', runId], ['gc', '--dry-run']]) {
    const { code, out } = await runLine(['--json', ...line], commands, given);
    t.equal(code, 0, `${line[0]}: ${out.slice(0, 400)}`);
  }
  const files = ['html', 'sarif', 'markdown', 'junit'].flatMap((form) => [
    `--${form}`,
    join(sample.home, `report.${form}`),
  ]);
  t.equal((await runLine(['report', runId, ...files], commands, given)).code, 0);
  t.strictSame(tracesOf(sample, token), [], 'reports for people and tools');
  const shown = await runLine(['show', runId], commands, given);
  t.match(shown.out + shown.err, /masked/);
}

t.test('a patch that is refused for a token leaves the token nowhere', async (t) => {
  const { sample, view } = await refused(
    t,
    add('src/key.js', 'const a = 1;', `const key = '${token}';`) + add('src/b.js', 'const b = 2;'),
  );
  t.strictSame(tracesOf(sample, token), []);
  const stored = sample.git('cat-file', 'blob', `refs/ai/content/${view.runId}:patchset.diff`);
  t.match(stored, /masked/);
  t.match(stored, /\+const b = 2;/, 'what is beside it stays');
  await stillSound(t, sample, view.runId);
});

long('masked content must match its recorded digests', async (t) => {
  const { sample, view } = await refused(t, add('src/key.js', `const key = '${token}';`));
  const run = `refs/ai/runs/${view.runId}`;
  const record = JSON.parse(sample.git('cat-file', 'blob', `${run}:masked.json`)) as Record<string, string>;
  t.equal(record.originalSha256, view.patch?.digest);
  const put = (ref: string, path: string, text: string): void => {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: sample.root,
      env: sample.env,
      input: text,
    })
      .toString()
      .trim();
    const index = { ...sample.env, GIT_INDEX_FILE: join(sample.home, 'index') };
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: sample.root, env: index }).toString().trim();
    git('read-tree', ref);
    git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
    const commit = git(
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@example.com',
      'commit-tree',
      git('write-tree'),
      '-p',
      ref,
      '-m',
      'x',
    );
    git('update-ref', ref, commit);
  };
  const fsck = async (): Promise<string> =>
    (await runLine(['--json', 'fsck'], commands, { cwd: sample.root, env: sample.env })).out;
  put(run, 'masked.json', `${JSON.stringify({ ...record, originalSha256: '0'.repeat(64) })}\n`);
  t.match(await fsck(), /digest-mismatch/, 'another original than was judged');
  put(run, 'masked.json', `${JSON.stringify({ ...record, more: 1 })}\n`);
  t.match(await fsck(), /masked\.json/, 'no such record');
  put(run, 'masked.json', `${JSON.stringify(record)}\n`);
  put(`refs/ai/content/${view.runId}`, 'patchset.diff', 'another\n');
  t.match(await fsck(), /digest-mismatch/, 'another content than was kept');
});

long('a refused key of several lines, binary file or file name leaves no secret behind', async (t) => {
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
    .trim()
    .split('\n');
  const key = await refused(t, add('src/key.pem', ...pem));
  t.strictSame(tracesOf(key.sample, pem[1] ?? ''), []);

  const named = await refused(t, add(`src/${token}.js`, 'const a = 1;'));
  t.strictSame(tracesOf(named.sample, token), []);

  const box = makeSample();
  t.teardown(() => box.remove());
  writeFileSync(join(box.root, 'src/data.bin'), Buffer.from(`\0\0 ${token} \0\n`));
  box.git('add', '--all');
  const binary = execFileSync('git', ['diff', '--cached', '--binary', '--full-index', 'HEAD'], {
    cwd: box.root,
    env: box.env,
  });
  const { sample, view } = await refused(t, binary);
  t.strictSame(tracesOf(sample, token), []);
  const stored = sample.git('cat-file', 'blob', `refs/ai/content/${view.runId}:patchset.diff`);
  const body = binary
    .toString('latin1')
    .split('\n')
    .filter((line) => /^[A-Za-z]\S{8,}$/.test(line));
  t.ok(body.length > 0 && body.every((line) => !stored.includes(line)), 'no line of the binary patch');
});

long('a refused patch leaves no secret behind even if the spec allows secrets', async (t) => {
  const { sample } = await refused(t, add('src/key.js', `eval('${token}'); const key = '${token}';`), {
    constraints: { privacy: { dataClassesAllowed: ['public', 'secrets'], redactionRequired: false } },
  });
  t.strictSame(tracesOf(sample, token), []);
});

const worked: Json = merge(plain, {
  intent: { objectives: ['write src/one.js', 'write src/two.js'] },
  execution: { retry: { maxRetries: 1, backoffSeconds: 0 }, replan: { triggers: [] } },
});
const one = (attempt: number, patch: string, costUnits = 1): RecordedAnswer => ({
  task: 1,
  attempt,
  patch,
  costUnits,
});
const two: RecordedAnswer = { task: 2, attempt: 1, patch: add('src/two.js', 'const two = 2;'), costUnits: 1 };
const bad = add('src/one.js', `const key = '${token}';`);

async function work(t: Test, answers: readonly RecordedAnswer[], more: Json = {}) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const worker = createRecordedWorker(answers, async () => {});
  const view = await sample.run({ worker }, merge(worked, more));
  return { sample, view };
}

long('a secret of an earlier attempt that a later attempt repaired is not stored', async (t) => {
  const { sample, view } = await work(t, [one(1, bad), one(2, add('src/one.js', 'const one = 1;')), two]);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.strictSame(tracesOf(sample, token), []);
});

long('a secret that no attempt repaired is not stored', async (t) => {
  const { sample, view } = await work(t, [one(1, bad), one(2, bad), two]);
  t.equal(view.decision?.type, 'abandon', view.decision?.rationale ?? '');
  t.strictSame(tracesOf(sample, token), []);
  await stillSound(t, sample, view.runId);
});

long('a run that waits for its budget publishes no secret', async (t) => {
  const { sample, view } = await work(t, [one(1, bad, 9), one(2, bad, 9), two], {
    constraints: { resources: { maxCostUnits: 5 } },
  });
  t.equal(view.state, 'waiting', view.decision?.rationale ?? '');
  const published = tracesOf(sample, token).filter((where) => !where.startsWith(`writ/runs/`));
  t.strictSame(published, []);
  const fsck = await runLine(['--json', 'fsck'], commands, { cwd: sample.root, env: sample.env });
  t.equal(fsck.code, 0, fsck.out.slice(0, 600));
});

long('the recording of a worker is removed at the end of its run', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = join(sample.home, 'spec.json');
  const recording = join(sample.home, 'recording.json');
  writeFileSync(spec, sampleSpec(worked));
  writeFileSync(
    recording,
    JSON.stringify({ format: 'urn:writ:recording:v1', answers: [one(1, bad), one(2, bad), two] }),
  );
  await runLine(['--json', 'run', spec, '--recording', recording], commands, {
    cwd: sample.root,
    env: { ...sample.env, HOME: sample.home },
  });
  t.strictSame(tracesOf(sample, token), ['recording.json'], "the person's own file");
});

long('a run that is cancelled before its checks ran stores no secret', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const stop = new AbortController();
  const stopper = definePlugin({
    name: 'stopper',
    api: 1,
    setup({ hooks }) {
      hooks.plan.review.tap(() => stop.abort(new WritError('RUN_INTERRUPTED')));
      return undefined;
    },
  });
  const bytes = Buffer.from(add('src/key.js', `const key = '${token}';`) + add('src/b.js', 'const b = 2;'));
  const request = { source: { kind: 'patch', bytes }, signal: stop.signal } as const;
  await t.rejects(sample.run(request, plain, [stopper]), { code: 'RUN_INTERRUPTED' });
  const given = { cwd: sample.root, env: sample.env };
  const listed = await runLine(['--json', 'runs'], commands, given);
  const [run] = (JSON.parse(listed.out) as { data: { runs: { run_id: string }[] } }).data.runs;
  const runId = run?.run_id ?? '';
  const cancelled = await runLine(['--json', 'cancel', runId], commands, given);
  t.match(cancelled.out, /"abandon"/);
  t.strictSame(tracesOf(sample, token), []);
  t.match(sample.git('cat-file', 'blob', `refs/ai/content/${runId}:patchset.diff`), /\+const b = 2;/);
  await stillSound(t, sample, runId);
});

long('a finding without a known path masks every file of the patch', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const patch =
    add('src/ann.planted@corp.io.js', `const key = '${token}';`) + add('src/b.js', 'const b = 2;');
  await sample.run({ source: { kind: 'patch', bytes: Buffer.from(patch) } }, plain);
  t.strictSame(tracesOf(sample, token), []);
});

long('a refused patch leaves no secret behind in its authors and message', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const password = 'Zq8vXw3Lm5Rt9KpY2nHd';
  const mail = [
    'From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001',
    `From: ${token} <ann@example.org>`,
    'Date: Mon, 1 Jan 2024 00:00:00 +0000',
    `Subject: [PATCH] add ${token}`,
    '',
    `Co-authored-by: ${password} <${token}@example.org>`,
    '---',
    add(
      'src/key.js',
      `const key = '${token}'; const password = '${password}'; const pwd = 'bob@example.org';`,
    ),
  ].join('\n');
  const view = await sample.run(
    {
      source: { kind: 'patch', bytes: Buffer.from(mail) },
      author: `${token} <bob@example.org>`,
      message: `about ${token} and ${password}`,
    },
    plain,
  );
  t.equal(view.decision?.type, 'abandon', view.decision?.rationale ?? '');
  t.strictSame(tracesOf(sample, token, password), []);
  const report = sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:gate-report.json`);
  t.match(report, /<ann@example\.org>/, 'whose address is no secret may still not approve');
  t.match(report, /<bob@example\.org>/, 'nor may who calls his address a password');
  await stillSound(t, sample, view.runId);
});

long('a refused patch leaves no other copy of the secret behind, even where no rule matches', async (t) => {
  const password = 'Zq8vXw3Lm5Rt9KpY2nHd';
  const forms = [
    password,
    Buffer.from(password).toString('base64').replace(/=+$/, ''),
    Buffer.from(password).toString('hex'),
  ];
  const { sample, view } = await refused(
    t,
    add('src/key.js', `const db = 'postgres://app:${password}@db.corp.io/app';`) +
      add('src/b.js', ...forms.map((form, at) => `const part${at} = ['${form}'];`), 'const b = 2;'),
  );
  t.strictSame(tracesOf(sample, ...forms), []);
  const stored = sample.git('cat-file', 'blob', `refs/ai/content/${view.runId}:patchset.diff`);
  t.match(stored, /\+const b = 2;/, 'what is beside it stays');
  await stillSound(t, sample, view.runId);
  const remote = join(sample.home, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', remote], { env: sample.env });
  sample.git('remote', 'add', 'origin', remote);
  const given = { cwd: sample.root, env: sample.env };
  t.equal((await runLine(['--json', 'push', '--all'], commands, given)).code, 0);
  t.strictSame(tracesOf(sample, ...forms), [], 'nor does it travel');
  const verified = await runLine(['--json', 'verify', view.runId], commands, given);
  t.equal(verified.code, 3, 'nothing was sealed, and that is told as before');
});
