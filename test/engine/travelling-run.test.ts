import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { long } from '../rooms/long.ts';
import { launcherOptions, writProgram as writ } from '../starter/program.ts';
import { fixtures, sampleSpec } from './sample.ts';

const people = ['ann', 'ben'];

long('clones that share only a bare remote can approve and resume a waiting run', async (t) => {
  const box = mkdtempSync(join(tmpdir(), 'writ-travel-'));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  const env = { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, env: { ...env, HOME: box }, encoding: 'utf8', stdio: 'pipe' }).trim();
  const seed = join(box, 'seed');
  cpSync(join(fixtures, '_sample'), seed, { recursive: true });
  mkdirSync(join(seed, '.writ'));
  const signers = people.map((person) => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(box, `${person}.key`)]);
    const key = readFileSync(join(box, `${person}.key.pub`), 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
    return `${person}@sample.example ${key}\n`;
  });
  writeFileSync(join(seed, '.writ', 'allowed_signers'), signers.join(''));
  git(seed, 'init', '--quiet', '--initial-branch=main');
  git(seed, 'add', '--all');
  git(seed, '-c', 'user.name=M', '-c', 'user.email=m@sample.example', 'commit', '--quiet', '-m', 'Sample');
  git(box, 'clone', '--quiet', '--bare', seed, 'shared.git');
  const clone = (
    name: string,
  ): ((...args: string[]) => { status: number | null; data: never; error?: object }) => {
    const root = join(box, name);
    git(box, 'clone', '--quiet', 'shared.git', name);
    git(root, 'config', 'user.name', name);
    git(root, 'config', 'user.email', `${name}@sample.example`);
    mkdirSync(join(box, `${name}-home`));
    return (...args) => {
      const { status, stdout } = spawnSync(process.execPath, [...launcherOptions, writ, ...args, '--json'], {
        cwd: root,
        env: { ...env, HOME: join(box, `${name}-home`) },
        encoding: 'utf8',
      });
      return { status, ...(JSON.parse(stdout) as { data: never; error?: object }) };
    };
  };
  const spec = join(box, 'spec.json');
  writeFileSync(
    spec,
    sampleSpec({
      risk: { humanInLoop: { required: true, minApprovers: 2 } },
      acceptance: {
        verificationPlan: {
          releaseChecks: [
            { id: 'people', kind: 'policy', command: 'require-approvers --min 2', required: true },
          ],
        },
      },
    }),
  );
  const first = clone('first');
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  const ran = first('run', spec, '--patch', patch);
  t.equal(ran.status, 4);
  const { run_id: run } = ran.data as { run_id: string };
  t.equal(first('push').status, 0);

  const second = clone('second');
  t.equal(second('fetch').status, 0);
  for (const person of people) {
    const signed = second(
      'approve',
      run,
      '--key',
      join(box, `${person}.key`),
      '--as',
      `${person}@sample.example`,
    );
    t.equal(signed.status, 0);
  }
  t.equal(second('push').status, 0);

  const third = clone('third');
  t.equal(third('fetch').status, 0);
  t.equal(third('resume', run).status, 0);
  t.equal(git(join(box, 'third'), 'rev-list', '--count', 'main'), '2');
  t.equal(git(join(box, 'third'), 'status', '--porcelain'), '');
  t.equal(third('verify', run).status, 0);
  t.match(third('replay', run), { status: 0, data: { equal: true } });
  t.match(third('fsck'), { status: 0, data: { problems: [] } });
  t.equal(third('push').status, 0);
  git(join(box, 'third'), 'push', '--quiet', 'origin', 'main');

  // Who ended it as well, not knowing: their plan came along, and ours goes on from it.
  const same = clone('same');
  for (const name of ['', '-home']) {
    rmSync(join(box, `same${name}`), { recursive: true });
    cpSync(join(box, `first${name}`), join(box, `same${name}`), { recursive: true });
  }
  t.equal(same('fetch').status, 0);
  git(join(box, 'same'), 'pull', '--quiet', '--ff-only');
  // By the record that sealed it, which does not hold here; its signer is not trusted here.
  t.match(same('verify', 'HEAD'), { status: 3, data: { checks: [{}, { code: 'untrusted-signer' }] } });
  t.match(same('cancel', run), { status: 0, data: { decision: { type: 'abandon' } } });
  t.match(same('fetch'), { status: 1, error: { hints: [/--theirs RUN/] } });
  t.equal(same('fetch', '--theirs', run).status, 0);
  t.match(same('show', run), { status: 0, data: { decision: { type: 'commit' } } });
  t.match(same('fsck'), { status: 0, data: { problems: [] } });

  t.equal(first('fetch').status, 0);
  // The run was begun here: our record holds until somebody says otherwise.
  t.match(first('show', run), { status: 0, data: { state: 'waiting', notices: [/another record/] } });
  t.equal(first('fetch', '--theirs', run).status, 0);
  t.match(first('show', run), { status: 0, data: { decision: { type: 'commit' } } });
});

long('a run by a worker verifies like any other run', async (t) => {
  const { makeSample } = await import('./sample.ts');
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = join(sample.home, 'spec.json');
  const recording = join(sample.home, 'recording.json');
  writeFileSync(spec, sampleSpec());
  const patch = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');
  writeFileSync(
    recording,
    JSON.stringify({ format: 'urn:writ:recording:v1', answers: [{ task: 1, attempt: 1, patch }] }),
  );
  const call = (...args: string[]) => {
    const options = { cwd: sample.root, env: sample.env, encoding: 'utf8' } as const;
    const { status, stdout } = spawnSync(
      process.execPath,
      [...launcherOptions, writ, ...args, '--json'],
      options,
    );
    return { status, stdout };
  };
  t.equal(call('run', spec, '--recording', recording).status, 0);
  const verified = call('verify', 'HEAD');
  t.equal(verified.status, 0, verified.stdout.slice(0, 2000));
  t.equal(call('fsck').status, 0);
});

long('`writ cancel` ends a waiting run with Decision.Abandon and moves nothing', async (t) => {
  const { makeSample } = await import('./sample.ts');
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec({ risk: { humanInLoop: { required: true, minApprovers: 1 } } }));
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  const call = (...args: string[]) => {
    const env = { ...sample.env, PATH: process.env.PATH ?? '' };
    const { status, stdout } = spawnSync(process.execPath, [...launcherOptions, writ, ...args, '--json'], {
      cwd: sample.root,
      env,
      encoding: 'utf8',
    });
    return { status, ...(JSON.parse(stdout) as { data?: { run_id: string }; error?: { code: string } }) };
  };
  const ran = call('run', spec, '--patch', patch);
  t.equal(ran.status, 4);
  const run = ran.data?.run_id ?? '';
  t.match(call('cancel', run, '--reason', 'not needed'), {
    status: 0,
    data: { decision: { type: 'abandon', rationale: /cancelled/ } },
  });
  t.equal(sample.git('rev-list', '--count', 'main'), '1');
  t.match(call('resume', run), { status: 1, error: { code: 'DECISION_ABANDON' } });
});
