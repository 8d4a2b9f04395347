import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type GivenAnchors, loadAnchors } from '../../../attest/verify/anchors.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { replayRecord } from '../../../engine/decide/replay-record.ts';
import {
  copyOf,
  daysLater,
  makeMachine,
  rebound,
  removeMachines,
  resealPayload,
  type SealedRun,
  sealRun,
  statementOf,
  toSource,
} from '../../attest/verify/sealed-run.ts';
import { long } from '../../rooms/long.ts';
import { looseObject } from '../../workspace/git/loose-object.ts';
import { memoryInHand, people, rich } from '../rich-set.ts';
import { sealedPlace } from './place.ts';

t.teardown(removeMachines);

/** What a file of a record may hold that is none. */
const garbage: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  text: Buffer.from('not json'),
  null: Buffer.from('null'),
  number: Buffer.from('1'),
  object: Buffer.from('{}\n'),
  list: Buffer.from('[]'),
  deep: Buffer.from('['.repeat(200_000)),
  'deep objects': Buffer.from('{"a":'.repeat(100_000)),
  binary: Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * n * 31) % 256)),
  long: Buffer.from(`{"a":"${'x'.repeat(5_000_000)}"}`),
};
const machine = makeMachine();
const sealed = await sealRun(machine, rich);
const given: GivenAnchors = { keyFiles: [], ledgerKeys: [] };
const anchors = await loadAnchors(given, { HOME: machine.home });

interface Judged {
  readonly exit: number;
  readonly code: string | undefined;
}

async function judge(run: SealedRun, replay = true): Promise<Judged> {
  const options = {
    clock: daysLater(1),
    memory: memoryInHand(),
    allowedSigners: people,
    ...(replay ? { replay: replayRecord } : {}),
  };
  const report = await verifyRun(toSource(run, machine), anchors, options);
  const failing = report.checks.find(({ status }) => status !== 'passed');
  return { exit: verifyExitCode(report), code: failing?.code };
}

/** A verdict with a code; a fault would be thrown. */
function isVerdict({ exit, code }: Judged): boolean {
  return [1, 3].includes(exit) && code !== undefined;
}

long('any content of a record file gives a verdict, not an internal error', async (t) => {
  t.equal((await judge(sealed, false)).exit, 0, 'the record as it is');
  let tried = 0;
  for (const side of ['run', 'content'] as const)
    for (const path of sealed[side].keys())
      for (const [what, bytes] of Object.entries(garbage)) {
        const run = copyOf(sealed);
        run[side].set(path, bytes);
        const judged = await judge(run);
        if (!isVerdict(judged)) t.fail(`${side} ${path} ${what}: ${JSON.stringify(judged)}`);
        tried += 1;
      }
  t.ok(tried > 200, `${tried} tried`);
});

long('malformed files signed by a trusted signer give a verdict, not an internal error', async (t) => {
  let tried = 0;
  for (const path of sealed.run.keys())
    for (const what of ['null', 'object']) {
      const bytes = garbage[what] ?? Buffer.alloc(0);
      const statement = statementOf(sealed);
      const listed = statement.predicate.runDetails.byproducts.find(({ name }) => name === path);
      const run = copyOf(sealed);
      run.run.set(path, bytes);
      if (listed) Object.assign(listed.digest, { sha256: sha256Hex(bytes) });
      const isSigned = path.endsWith('.sigstore.json') || path.endsWith('.tlog-proof');
      if (isSigned) continue;
      const again = await rebound(
        machine,
        await resealPayload(machine, run, Buffer.from(canonicalize(statement))),
      );
      const judged = await judge(again);
      if (!isVerdict(judged)) t.fail(`${path} ${what}: ${JSON.stringify(judged)}`);
      tried += 1;
    }
  t.ok(tried > 20, `${tried} tried`);
});

long(
  'a ref that holds no run record gives a verdict, not an internal error',
  { timeout: 600_000 },
  async (t) => {
    const { sample, commit, runId, verify } = await sealedPlace();
    t.teardown(() => sample.remove());
    const { git, root } = sample;
    const ref = { run: `refs/ai/runs/${runId}`, content: `refs/ai/content/${runId}` };
    const genuine = { run: git('rev-parse', ref.run), content: git('rev-parse', ref.content) };
    const written = (bytes: Uint8Array) =>
      execFileSync('git', ['hash-object', '-w', '--stdin'], {
        cwd: root,
        input: bytes,
        encoding: 'utf8',
      }).trim();
    /** The genuine record with some files exchanged, as a commit. */
    const recordWith = (files: Readonly<Record<string, string>>): string => {
      const env = { ...process.env, ...sample.env, GIT_INDEX_FILE: join(root, '.git/attack-index') };
      const run = (...args: string[]) =>
        execFileSync('git', args, { cwd: root, env, encoding: 'utf8' }).trim();
      run('read-tree', genuine.run);
      for (const [path, id] of Object.entries(files))
        run('update-index', '--add', '--cacheinfo', `100644,${id},${path}`);
      return git('commit-tree', '-m', 'x', run('write-tree'));
    };
    const ask = async (
      side: 'run' | 'content',
      what: string,
      at: string,
      expected: Readonly<Record<string, number>>,
    ) => {
      git('update-ref', ref[side], at);
      for (const [target, code] of Object.entries(expected)) {
        const found = await verify(...(target === 'run' ? [runId, '--run'] : [commit]));
        t.equal(
          found.code,
          code,
          `${side} ${what}, by ${target}: ${found.error?.code} ${found.error?.message}`,
        );
        t.ok(found.data?.checks.length > 0);
        t.not(found.data?.verified, true);
      }
      git('update-ref', ref[side], genuine[side]);
    };
    const junk = written(Buffer.from('not json'));
    await ask('run', 'a blob', junk, { run: 3, commit: 1 });
    await ask('content', 'a blob', junk, { run: 1, commit: 1 });
    await ask('run', 'the sealed commit', commit, { run: 3, commit: 3 });
    for (const [path, bytes] of [
      ['decision.json', garbage.object],
      ['decision.json', garbage.deep],
      ['decision.json', garbage.empty],
      ['gate-report.json', garbage.text],
      ['rollback.json', garbage.text],
      ['masked.json', garbage.text],
    ] as const)
      await ask('run', path, recordWith({ [path]: written(bytes ?? Buffer.alloc(0)) }), { run: 1 });
    // A copy that was cut short: git itself writes no ref to what is not there.
    for (const side of ['run', 'content'] as const) {
      writeFileSync(join(root, '.git', ref[side]), `${'1'.repeat(40)}\n`);
      for (const target of [[commit], [runId, '--run']]) {
        const found = await verify(...target);
        t.equal(found.code, 3, `${side} that is not here: ${found.error?.code} ${found.error?.message}`);
      }
      writeFileSync(join(root, '.git', ref[side]), `${genuine[side]}\n`);
    }
    for (const name of ['^{tree}', ':evidence']) {
      const id = git('rev-parse', `${ref.run}${name}`);
      const path = looseObject(join(root, '.git'), id);
      renameSync(path, `${path}.gone`);
      const found = await verify(commit);
      t.equal(found.code, 3, `without ${name}: ${found.error?.code} ${found.error?.message}`);
      renameSync(`${path}.gone`, path);
    }
    await ask(
      'run',
      'more than is read',
      recordWith({ 'evidence/x.json': written(Buffer.alloc(257 * 1024 * 1024)) }),
      { run: 3, commit: 3 },
    );
  },
);
