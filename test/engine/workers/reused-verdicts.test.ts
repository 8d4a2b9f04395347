/* Verdicts of earlier runs are reused where a candidate has the same content at every path that a check observed. */

import { createPublicKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { verifyTargets } from '../../../api/verify/verify-targets.ts';
import { openOwnKey } from '../../../attest/keys/key-signer.ts';
import { isSampled, readWorkers, workerLine } from '../../../attest/statement/job-result.ts';
import { explain } from '../../../attest/verify/explain.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { Signer } from '../../../core/interfaces/sealing.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { digestFile } from '../../../plugins/workers/job.ts';
import { signResult } from '../../../plugins/workers/result.ts';
import {
  type Conditions,
  conditionsOf,
  observe,
  parseVerdict,
  readVerdict,
  writeVerdict,
} from '../../../plugins/workers/verdict.ts';
import type { Footprint } from '../../../readers/trace/read-trace.ts';
import { long } from '../../rooms/long.ts';
import { type Json, makeSample, merge, type Sample } from '../sample.ts';
import { fix, noRedis, openScene } from './scene.ts';

const source = { kind: 'patch', bytes: fix } as const;
const root = '/workspace';
const sh = '/bin/sh';

const entry = (path: string, content: string, mode = '100644') => ({
  path,
  mode,
  object: sha256Hex(content).slice(0, 40),
});
const candidate = [
  entry('src/a.js', 'a'),
  entry('src/b.js', 'b'),
  entry('test/a.test.js', 't'),
  entry('run.sh', 'r', '100755'),
];
const candidateTree: readonly ReturnType<typeof entry>[] = candidate;
const treeOf = (entries: readonly ReturnType<typeof entry>[]) => ({
  entries,
  links: new Map<string, string>(),
});
const at = (...paths: string[]) => paths.map((path) => `${root}/${path}`);
const footprint: Footprint = {
  ...{ missing: [], read: [], opened: [], unread: 0, aliased: [] },
  named: at('src/a.js', 'test/a.test.js', 'src/config.json'),
  listed: at('test'),
  executed: [sh],
};

const conditions: Conditions = {
  schema: 'urn:writ:job:v1',
  for: { repository: 'git+https://git.example/one.git', stage: 'fast', check: 'unit', turn: 1 },
  rules: 'a'.repeat(64),
  given: [{ directory: 'node_modules', sha256: 'b'.repeat(64) }],
  argv: ['sh', '-c', 'node --test'],
  env: { LANG: 'C.UTF-8' },
  tools: [{ name: 'node', sha256: 'c'.repeat(64) }],
  platform: ['linux', 'x64', 'd'.repeat(64)],
  sandbox: { name: 'bubblewrap', enforced: ['network'] },
  limits: { timeoutMs: 1000, maxOutputBytes: 10_000, maxMemoryBytes: 1e9 },
  expects: 0,
};
const day = 86_400_000;

/** A signed verdict of the candidate above, and what it is opened with. */
async function scene(t: Test) {
  const box = mkdtempSync(join(tmpdir(), 'writ-verdicts-'));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  const key = (name: string) => openOwnKey(join(box, name), 'worker', 'ed25519');
  const [listed, stranger] = [await key('listed'), await key('stranger')];
  const lineOf = (name: string, { publicKeyPem }: Signer) =>
    workerLine(name, createPublicKey(publicKeyPem), []);
  const signers = readWorkers(Buffer.from(`${lineOf('build-1', listed)}\n`));
  const seen = await observe(footprint, root, treeOf(candidate));
  if ('reason' in seen) throw new Error(seen.reason);
  const output = { bytes: Buffer.from('ok\n'), totalBytes: 3, truncated: false };
  const sign = async (
    { about = conditions, by = listed, signedAtMs = 10 * day, observed = seen.digest } = {},
    action = 'e'.repeat(64),
  ) => {
    const verdict = { conditions: conditionsOf(about), observed, run: 'run-1', signedAtMs };
    const ran = {
      result: {
        ...{ exitCode: 0, timedOut: false, aborted: false, durationMs: 1 },
        ...{ stdout: output, stderr: output, combined: output },
      },
      ...{ reports: [], unread: [], written: [], isCut: false, verdict, observed: seen.bytes },
    };
    return writeVerdict(action, await signResult({ action, fence: 1 }, ran, by)) ?? '';
  };
  const open = (
    kept: string,
    { about = conditions, tree = candidateTree, nowMs = 11 * day, by = signers } = {},
  ) =>
    readVerdict(parseVerdict(kept), {
      ...{ conditions: conditionsOf(about), signers: by, tree: treeOf(tree), nowMs, maxAgeMs: 7 * day },
      maxOutputBytes: 10_000,
    });
  return { sign, open, stranger, listed, lineOf };
}

t.test('a verdict holds where everything that was observed is the same', async (t) => {
  const { sign, open } = await scene(t);
  const kept = await sign();
  t.match(await open(kept), {
    worker: { name: 'build-1' },
    verdict: { run: 'run-1' },
    result: { exitCode: 0 },
  });
  const others: Record<string, readonly ReturnType<typeof entry>[]> = {
    'a file that it never named': [
      ...candidate.filter(({ path }) => path !== 'src/b.js'),
      entry('src/b.js', 'other'),
    ],
    'a new file in a directory that it did not list': [...candidate, entry('src/new.js', 'n')],
  };
  for (const [name, tree] of Object.entries(others)) t.ok(await open(kept, { tree }), name);
  const changed: Record<string, readonly ReturnType<typeof entry>[]> = {
    'a file that it read': [entry('src/a.js', 'other'), ...candidate.slice(1)],
    'a file that it read is gone': candidate.slice(1),
    'its mode': [entry('src/a.js', 'a', '100755'), ...candidate.slice(1)],
    'a path that it looked up in vain': [...candidate, entry('src/config.json', 'c')],
    'a directory that it listed': [...candidate, entry('test/new.test.js', 'n')],
    'an executable, which the kernel may have read': [
      ...candidate.slice(0, 3),
      entry('run.sh', 'x', '100755'),
    ],
  };
  for (const [name, tree] of Object.entries(changed))
    await t.rejects(open(kept, { tree }), { code: 'JOB_REFUSED', message: /about other content/ }, name);
});

t.test('verdicts that are refused', async (t) => {
  const { sign, open, stranger, listed, lineOf } = await scene(t);
  const refuses = (name: string, opening: Promise<unknown>, message: RegExp) =>
    t.rejects(opening, { code: 'JOB_REFUSED', message }, name);
  const change = (kept: string, act: (files: Record<string, string>) => void): string => {
    const entry = JSON.parse(kept);
    act(entry.files);
    return JSON.stringify(entry);
  };
  const kept = await sign();
  const decode = (text = ''): { payload: string; signatures: { keyid: string }[] } =>
    JSON.parse(Buffer.from(text, 'base64').toString());
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
  const forged = change(kept, (files) => {
    const envelope = decode(files['envelope.json']);
    const payload = Buffer.from(envelope.payload, 'base64')
      .toString()
      .replace('"exitCode":0', '"exitCode":7');
    files['envelope.json'] = encode({ ...envelope, payload: Buffer.from(payload).toString('base64') });
  });
  await refuses('forged: a changed payload', open(forged), /signature does not fit/);
  const output = change(kept, (files) => {
    files.stdout = Buffer.from('no\n').toString('base64');
  });
  await refuses('forged: other output', open(output), /`stdout` has another digest/);
  await refuses('forged: an unlisted key', open(await sign({ by: stranger })), /does not list its key/);
  const bound = change(await sign({ by: stranger }), (files) => {
    const envelope = decode(files['envelope.json']);
    const [signature] = envelope.signatures;
    files['envelope.json'] = encode({ ...envelope, signatures: [{ ...signature, keyid: listed.keyId }] });
  });
  await refuses(
    'a key bound to another identity: the id of a listed one',
    open(bound),
    /signature does not fit/,
  );
  const renamed = readWorkers(Buffer.from(`${lineOf('build-1', stranger)}\n`));
  await refuses(
    'a key bound to another identity: its name',
    open(kept, { by: renamed }),
    /does not list its key/,
  );
  const moved = JSON.stringify({ ...JSON.parse(kept), action: 'f'.repeat(64) });
  await refuses('a result of another job', open(moved), /about another job/);

  const others: Record<string, Partial<Conditions>> = {
    'another tool under the same name': { tools: [{ name: 'node', sha256: 'f'.repeat(64) }] },
    'another environment': { env: { LANG: 'C.UTF-8', NODE_ENV: 'production' } },
    'replay in another repository': {
      for: { ...conditions.for, repository: 'git+https://git.example/two.git' },
    },
    'replay for another check': { for: { ...conditions.for, check: 'lint' } },
    'a result for another policy': { rules: 'f'.repeat(64) },
    'another command': { argv: ['sh', '-c', 'true'] },
    'other dependencies': { given: [] },
    'another sandbox': { sandbox: { name: 'bare', enforced: [] } },
    'another platform': { platform: ['linux', 'arm64', 'd'.repeat(64)] },
    'other limits': { limits: { ...conditions.limits, timeoutMs: 2000 } },
    'another expected exit code': { expects: 1 },
  };
  for (const [name, other] of Object.entries(others))
    await refuses(name, open(kept, { about: { ...conditions, ...other } }), /other conditions/);

  await refuses('a clock: too old', open(kept, { nowMs: 17 * day + 1 }), /too old/);
  await refuses('a clock: of the future', open(kept, { nowMs: 10 * day - 1 }), /has not come/);
  t.ok(await open(kept, { nowMs: 17 * day }));
});

t.test('a program that was executed is part of what was observed', async (t) => {
  const { sign, open } = await scene(t);
  const other = await observe({ ...footprint, executed: ['/bin/true'] }, root, treeOf(candidate));
  t.not(await digestFile(sh), await digestFile('/bin/true'));
  await t.rejects(open(await sign({ observed: 'digest' in other ? other.digest : '' })), {
    code: 'JOB_REFUSED',
  });
});

t.test('runs that say nothing of another tree', async (t) => {
  const cases: readonly (readonly [Partial<Footprint>, RegExp])[] = [
    [{ named: at('.git/HEAD') }, /reads `\.git\/HEAD`/],
    [{ listed: at('.git') }, /reads `\.git`/],
    [{ aliased: ['/'] }, /by another name/],
    [{ aliased: at('src') }, /by another name/],
    [{ unread: 1 }, /cannot be read/],
  ];
  for (const [change, why] of cases)
    t.match(await observe({ ...footprint, ...change }, root, treeOf(candidate)), { reason: why });
  t.match(
    await observe({ ...footprint, aliased: at('src/a.js'), named: at('.git') }, root, treeOf(candidate)),
    { digest: /^[0-9a-f]{64}$/ },
  );
});

t.test('the seed of a run decides which verdicts are samples', async (t) => {
  const keys = Array.from({ length: 2000 }, (_, n) => sha256Hex(`key ${n}`));
  const sampled = (seed: string, percent: number) => keys.filter((key) => isSampled(seed, key, percent));
  t.equal(sampled('one', 0).length, 0);
  t.equal(sampled('one', 100).length, keys.length);
  t.same(sampled('one', 2), sampled('one', 2), 'anyone who knows the seed comes to the same');
  t.notSame(sampled('one', 2), sampled('two', 2));
  t.equal(sampled('one', 2).length, 46, 'about two of a hundred');
});

function write(sample: Sample, path: string, text: string): void {
  mkdirSync(join(sample.root, path, '..'), { recursive: true });
  writeFileSync(join(sample.root, path), text);
}

/** Goes back to a base with another file. */
function rebase(sample: Sample, base: string, path: string, text: string): void {
  sample.git('reset', '-q', '--hard', base);
  write(sample, path, text);
  sample.git('add', '-f', path);
  sample.git('commit', '-qm', `Change ${path}`);
}

/** A repository whose policy reuses own verdicts. */
function reusing(t: Test, more = 'sample_percent = 0') {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  write(sample, '.writ/config.toml', `[verdicts]\nreuse = "own"\n${more}\n`);
  sample.git('add', '-f', '.writ/config.toml');
  sample.git('commit', '-qm', 'Reuse');
  const base = sample.git('rev-parse', 'HEAD');
  return {
    sample,
    rebase: (path: string, text: string) => rebase(sample, base, path, text),
    async run(spec: Json = {}) {
      const view = await sample.run({ source }, spec);
      return { view, check: view.stages[0]?.checks[0] };
    },
  };
}

const verified = async ({ root, env }: Sample, runId: string) => {
  const where = { stores: builtInStores, repoPath: root, cwd: root, env };
  const [target] = await verifyTargets(where, [runId]);
  return target?.report;
};

const fast = (command: string, artifactsProduced: string[] = []): Json => ({
  artifacts: {
    required: ['patchset', 'test-log', ...artifactsProduced].map((name) => ({
      ...{ name, stage: 'per-task', required: true },
    })),
  },
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          id: 'unit',
          kind: 'testSuite',
          command: 'node --test --test-isolation=none --test-reporter=tap',
          timeoutSeconds: 60,
          required: true,
          artifactsProduced: ['test-log'],
        },
        { id: 'other', kind: 'command', command, timeoutSeconds: 60, required: true, artifactsProduced },
      ],
    },
  },
});

long('an own verdict travels across a rebase, is sealed as reused, and says whose it is', async (t) => {
  const { sample, rebase, run } = reusing(t);
  const first = await run();
  t.match(first.check?.ranOn, { here: 'there is no verdict of this content' });
  rebase('docs/notes.md', 'other notes\n');
  const second = await run();
  t.equal(second.view.decision?.type, 'commit');
  t.match(second.check, {
    status: 'passed',
    tests: { passed: 2 },
    ranOn: { worker: 'own', reused: { run: first.view.runId } },
  });
  const report = await verified(sample, second.view.runId);
  t.equal(report?.verified, true);
  t.match(report && explain(report).find(({ claim }) => claim === 'reused:unit'), {
    status: 'passed',
    says: new RegExp(`run ${first.view.runId}, signed by own \\(key [0-9a-f]{16}\\)`),
  });
  t.ok(report?.checks.some(({ id }) => id.startsWith('test-result:')));

  rebase('test/other.test.js', "import test from 'node:test';\ntest('other', () => {});\n");
  t.match((await run()).check, { ranOn: { here: /no verdict of this content/ }, tests: { passed: 3 } });
});

long('checks whose verdicts are not reused', async (t) => {
  const { rebase, run } = reusing(t);
  const cases: readonly (readonly [string, RegExp])[] = [
    ['git log -1 --format=%H > "$REPORTS_DIR/head"', /reads `\.git\//],
    ['test -n "$RUN_ID"', /names `RUN_ID`/],
    ['ln -s src other; node other/price.js', /by another name/],
    ["node -e \"require('fs').statSync('/proc/self/cwd/src')\"", /by another name/],
  ];
  const acl = {
    security: { toolAcl: { allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: {} }] } },
  };
  for (const [command, why] of cases) {
    const spec = { ...(fast(command) as Record<string, Json>), ...acl };
    for (const text of ['one', 'two']) {
      rebase('docs/notes.md', `${text}\n`);
      const { view } = await run(spec);
      const other = view.stages[0]?.checks.find(({ id }) => id === 'other');
      t.match(other, { status: 'passed', ranOn: { here: why } }, `${command}: ${text}`);
    }
  }
});

long('a sample that comes to another result refuses the change, with both results', async (t) => {
  const { rebase, run } = reusing(t, 'sample_percent = 100');
  const spec = fast('cat /proc/sys/kernel/random/uuid > "$REPORTS_DIR/build-log.bin"', ['build-log']);
  const first = await run(spec);
  t.equal(first.view.decision?.type, 'commit');
  rebase('docs/notes.md', 'other notes\n');
  const { view, check } = await run(spec);
  t.match(check?.ranOn, { here: /it is a sample/ });
  t.not(view.decision?.type, 'commit');
  const [found] = view.stages[0]?.findings ?? [];
  t.match(found, {
    severity: 'error',
    message:
      /`other`: the kept verdict of run .+ is exit code 0; the sample of this run came to exit code 0 and other/,
    detail: { code: 'NOT_REPRODUCIBLE', run: first.view.runId, results: [{ ended: 0 }, { ended: 0 }] },
  });
});

long(
  'verdicts of workers are reused by the next run; high risk wants two that agree',
  { skip: noRedis, timeout: 300_000 },
  async (t) => {
    const scene = await openScene(t);
    const { sample, secrets } = scene;
    const one = await scene.worker('build-1');
    const two = await scene.worker('build-2');
    scene.policy([one.line, two.line], '[verdicts]\nreuse = "workers"\nsample_percent = 0\n');
    await two.stop();
    const base = sample.git('rev-parse', 'HEAD');
    const run = async (text: string, spec: Json = {}) => {
      rebase(sample, base, 'docs/notes.md', text);
      const view = await sample.run({ source, secrets }, spec);
      return { view, ranOn: view.stages[0]?.checks[0]?.ranOn };
    };
    const first = await run('one\n');
    t.match(first.ranOn, { worker: 'build-1', reused: undefined });
    rmSync(join(sample.root, '.git', 'writ', 'cache'), { recursive: true, force: true });
    const second = await run('two\n');
    t.match(second.ranOn, { worker: 'build-1', reused: { run: first.view.runId } });
    t.equal((await verified(sample, second.view.runId))?.verified, true);

    const spec = fast('cat /proc/sys/kernel/random/uuid > "$REPORTS_DIR/build-log.bin"', ['build-log']);
    const high = merge(spec, {
      risk: { level: 'high', humanInLoop: { required: true, minApprovers: 2 } },
      acceptance: {
        verificationPlan: {
          releaseChecks: [
            {
              id: 'people',
              kind: 'policy',
              command: 'require-approvers',
              timeoutSeconds: 30,
              required: true,
            },
          ],
        },
      },
    });
    const waits = async (text: string) => {
      const { view } = await run(text, high);
      t.equal(view.decision?.type, 'checkpoint', JSON.stringify(view.decision));
      return view.stages[0]?.checks.map(({ ranOn }) => ranOn) ?? [];
    };
    t.match(await waits('three\n'), [{ worker: 'build-1', reused: undefined }]);
    await one.stop();
    await scene.worker('build-2');
    t.match(await waits('four\n'), [{ worker: 'build-2', reused: undefined }]);
    const [unit, other] = await waits('five\n');
    t.match(unit, { worker: 'build-2', reused: {} });
    t.match(other, { worker: 'build-2', reused: undefined }, 'two verdicts that differ');
  },
);
