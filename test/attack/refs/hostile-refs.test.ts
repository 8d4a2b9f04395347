import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { casesOf, everyThird, long } from '../../rooms/long.ts';
import { launcherOptions, writProgram as writ } from '../../starter/program.ts';
import { plantHostileRefs } from './hostile.ts';

t.setTimeout(900_000);
const missing = 'dead'.repeat(10);

interface Answer {
  readonly status: number | null;
  readonly out: string;
  readonly data: never;
  readonly kilobytes: number;
}

long('a hostile ref breaks only its own record', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(sample.home, 'ann.key')]);
  const key = readFileSync(join(sample.home, 'ann.key.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ', 'allowed_signers'), `ann@sample.example ${key}\n`);
  sample.git('add', '--force', '.writ');
  sample.git('commit', '--quiet', '-m', 'signers');
  const patch = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const source = { kind: 'patch', bytes: patch } as const;
  const other =
    'diff --git a/src/more.js b/src/more.js\nnew file mode 100644\n--- /dev/null\n+++ b/src/more.js\n@@ -0,0 +1 @@\n+export const more = 1;\n';
  const sealed = await sample.run({ source });
  t.equal(sealed.decision?.type, 'commit');
  const waiting = await sample.run(
    { source: { kind: 'patch', bytes: Buffer.from(other) } },
    {
      metadata: { id: 'sample-intent-0002' },
      intent: { changeType: 'feature' },
      risk: { humanInLoop: { required: true, minApprovers: 1 } },
      acceptance: {
        verificationPlan: {
          releaseChecks: [
            { id: 'people', kind: 'policy', command: 'require-approvers --min 1', required: true },
          ],
        },
      },
    },
  );
  t.equal(waiting.state, 'waiting');
  const bare = join(sample.home, 'shared.git');
  execFileSync('git', ['clone', '--quiet', '--bare', sample.root, bare], { env: sample.env });
  sample.git('remote', 'add', 'origin', bare);
  const call = (...args: string[]): Answer => {
    const wrapped = [
      '-v',
      '-o',
      join(sample.home, 'time'),
      process.execPath,
      ...launcherOptions,
      writ,
      ...args,
      '--json',
    ];
    const { status, stdout, stderr } = spawnSync('/usr/bin/time', wrapped, {
      cwd: sample.root,
      env: sample.env,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    const kilobytes = Number(
      /Maximum resident set size \(kbytes\): (\d+)/.exec(
        readFileSync(join(sample.home, 'time'), 'utf8'),
      )?.[1],
    );
    return {
      status,
      out: `${stdout.slice(0, 600)}${stderr.slice(0, 300)}`,
      data: (JSON.parse(stdout || '{}') as Answer).data,
      kilobytes,
    };
  };
  t.equal(call('push').status, 0);
  const hostile = plantHostileRefs(join(sample.root, '.git'), sample.env, waiting.runId);
  appendFileSync(join(sample.root, '.git', 'refs', 'ai', 'runs', 'absent'), `${missing}\n`);
  appendFileSync(join(sample.root, '.git', 'refs', 'ai', 'runs', 'loop'), 'ref: refs/ai/runs/loop\n');
  t.ok(hostile.length > 20);

  const survives = async (t: Test, name: string): Promise<void> => {
    const given = (answer: Answer): void => {
      t.ok(answer.kilobytes < 1_500_000, `${name}: ${answer.kilobytes} KB`);
      t.not(answer.status, 70, `${name}: ${answer.out}`);
      t.not(answer.status, null, name);
    };
    const timed = (...args: string[]): Answer => {
      const answer = call(...args);
      t.comment(`${name} ${args[0]}: ${answer.status} ${Math.round(answer.kilobytes / 1024)} MB`);
      given(answer);
      return answer;
    };
    const runs = timed('runs');
    t.equal(runs.status, 0, runs.out);
    const listed = (runs.data as { runs: { run_id: string; state: string }[] } | undefined)?.runs ?? [];
    for (const { runId } of [waiting, sealed])
      t.ok(
        listed.some(({ run_id }) => run_id === runId),
        `runs lists ${runId}`,
      );
    const lines: Readonly<Record<string, readonly [exit: number, ...line: string[]]>> = {
      'show of the sealed run': [0, 'show', sealed.runId],
      'show of the waiting run': [0, 'show', waiting.runId],
      verify: [0, 'verify', sealed.runId],
      replay: [0, 'replay', sealed.runId],
      fsck: [1, 'fsck'],
      gc: [0, 'gc', '--dry-run'],
    };
    for (const [, [exit, ...line]] of casesOf(lines, ['show of the waiting run', 'verify', 'fsck'])) {
      const answer = timed(...line);
      t.equal(answer.status, exit, answer.out);
    }
    for (const name of everyThird(['huge', 'many', 'a-blob', 'absent', 'no-commit'])) timed('show', name);
  };
  const ways: Readonly<Record<string, (t: Test) => Promise<void>>> = {
    here: (t) => survives(t, 'here'),
    'on their way to a remote and back': async (t) => {
      const pushed = call('push');
      t.not(pushed.status, 70, pushed.out);
      const moved = (pushed.data as { refs: { ref: string; status: string }[] } | undefined)?.refs ?? [];
      t.ok(
        moved.some(({ ref, status }) => ref.endsWith(sealed.runId) && status === 'current'),
        pushed.out,
      );
    },
    'approve and resume of the good run': async (t) => {
      const approved = call(
        'approve',
        waiting.runId,
        '--key',
        join(sample.home, 'ann.key'),
        '--as',
        'ann@sample.example',
      );
      t.equal(approved.status, 0, approved.out);
      const resumed = call('resume', waiting.runId);
      t.equal(resumed.status, 0, resumed.out);
    },
    'in a clone that fetched them': async (t) => {
      plantHostileRefs(bare, sample.env, waiting.runId);
      const clone = join(sample.home, 'clone');
      execFileSync('git', ['clone', '--quiet', bare, clone], { env: sample.env });
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...launcherOptions, writ, 'fetch', '--json'],
        {
          cwd: clone,
          env: sample.env,
          encoding: 'utf8',
          maxBuffer: 1 << 28,
        },
      );
      t.not(status, 70, stdout.slice(0, 600) + stderr.slice(0, 300));
      const { refs = [] } =
        (JSON.parse(stdout) as { data?: { refs: { ref: string; status: string }[] } }).data ?? {};
      t.ok(
        refs.some(({ ref, status: became }) => ref.endsWith(`runs/${sealed.runId}`) && became === 'created'),
        stdout.slice(0, 600),
      );
      const shown = spawnSync(process.execPath, [...launcherOptions, writ, 'show', sealed.runId, '--json'], {
        cwd: clone,
        env: sample.env,
        encoding: 'utf8',
      });
      t.equal(shown.status, 0, shown.stdout.slice(0, 400));
    },
  };
  for (const [way, holds] of casesOf(ways, ['here'])) await t.test(way, holds);
});
