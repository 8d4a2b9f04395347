import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { fixtures, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { launcherOptions, writProgram as writ } from '../../starter/program.ts';
import { outputOf } from '../../starter/run-program.ts';

t.setTimeout(600_000);

interface Answer {
  readonly status: number | null;
  readonly data: {
    readonly run_id: string;
    readonly state: string;
    readonly notices?: readonly string[];
    readonly decision?: { readonly type: string };
    readonly refs: readonly { readonly ref: string; readonly status: string; readonly reason?: string }[];
    readonly problems: readonly { readonly code: string }[];
  };
}
type Call = (...args: string[]) => Answer;

/** A bare remote, clones of it with a home each, and a run that waits in the first and was pushed. */
function scene(t: Test): {
  run: string;
  clone: (name: string) => Call;
  first: Call;
  git: (name: string, ...args: string[]) => string;
  /** Private key of the signer at the policy commit. */
  key: string;
  spec: string;
  /** Files with the public keys that a clone signed with. */
  signers: (name: string) => readonly string[];
} {
  const box = mkdtempSync(join(tmpdir(), 'writ-two-'));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  const env = { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (name: string, ...args: string[]): string =>
    execFileSync('git', args, {
      cwd: join(box, name),
      env: { ...env, HOME: box },
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  cpSync(join(fixtures, '_sample'), join(box, 'seed'), { recursive: true });
  const key = join(box, 'ann.key');
  outputOf('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  mkdirSync(join(box, 'seed', '.writ'));
  const signer = `ann@sample.example ${readFileSync(`${key}.pub`, 'utf8')}`;
  writeFileSync(join(box, 'seed', '.writ', 'allowed_signers'), signer);
  git('seed', 'init', '--quiet', '--initial-branch=main');
  git('seed', 'add', '--all');
  git('seed', '-c', 'user.name=M', '-c', 'user.email=m@sample.example', 'commit', '--quiet', '-m', 'Sample');
  git('.', 'clone', '--quiet', '--bare', 'seed', 'shared.git');
  const clone = (name: string): Call => {
    git('.', 'clone', '--quiet', 'shared.git', name);
    git(name, 'config', 'user.name', name);
    git(name, 'config', 'user.email', `${name}@sample.example`);
    mkdirSync(join(box, `${name}-home`));
    return (...args) => {
      const given = {
        cwd: join(box, name),
        env: { ...env, HOME: join(box, `${name}-home`) },
        encoding: 'utf8',
      } as const;
      const { status, stdout } = spawnSync(
        process.execPath,
        [...launcherOptions, writ, ...args, '--json'],
        given,
      );
      return { status, data: (JSON.parse(stdout) as Answer).data };
    };
  };
  const signers = (name: string): readonly string[] => {
    const keys = join(box, `${name}-home`, '.config', 'writ', 'keys');
    return readdirSync(keys)
      .filter((file) => file.endsWith('.pub.pem'))
      .map((file) => join(keys, file));
  };
  const spec = join(box, 'spec.json');
  const people = { id: 'people', kind: 'policy', command: 'require-approvers --min 1', required: true };
  writeFileSync(
    spec,
    sampleSpec({
      risk: { humanInLoop: { required: true, minApprovers: 1 } },
      acceptance: { verificationPlan: { releaseChecks: [people] } },
    }),
  );
  const first = clone('first');
  const ran = first(
    'run',
    spec,
    '--patch',
    join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'),
  );
  t.equal(ran.status, 4);
  t.equal(first('push').status, 0);
  return { run: ran.data.run_id, clone, first, git, key, spec, signers };
}

const statusOf = ({ data }: Answer, kind: string): string | undefined =>
  data.refs.find(({ ref }) => ref.startsWith(`refs/ai/${kind}/`))?.status;

long('a record that changed in another clone does not replace the local one and is reported', (t) => {
  const { run, clone, first } = scene(t);
  const second = clone('second');
  t.equal(second('fetch').status, 0);
  t.equal(second('cancel', run).data.decision?.type, 'abandon');
  t.equal(second('push').status, 0);

  for (const again of [false, true]) {
    const came = first('fetch');
    t.equal(came.status, 0);
    t.equal(statusOf(came, 'runs'), 'changed', again ? 'again: the same' : 'said');
    t.match(first('show', run), { status: 0, data: { state: 'waiting', notices: [/another record/] } });
  }
  t.equal(first('fetch', '--ours', run, '--theirs', run).status, 129);
  t.equal(first('fetch', '--theirs', run).status, 0);
  const shown = first('show', run);
  t.match(shown, { status: 0, data: { decision: { type: 'abandon' } } });
  t.notMatch(String(shown.data.notices), /another record/);
  t.strictSame(first('fsck').data.problems, []);
  t.equal(first('push').status, 0);
  t.equal(first('fetch', '--theirs', run).status, 1, 'there is one now');
  t.end();
});

long('the end of a run that waited at the remote is pushed with its content', (t) => {
  const { run, clone, first, key } = scene(t);
  const [second, third] = [clone('second'), clone('third')];
  t.equal(second('fetch').status, 0);
  t.equal(second('approve', run, '--reject', '--comment', 'no', '--key', key).status, 0);
  t.equal(second('resume', run).data.decision?.type, 'abandon', 'its checks ran again: other content');
  const pushed = second('push');
  t.strictSame([statusOf(pushed, 'runs'), statusOf(pushed, 'content')], ['updated', 'updated']);
  t.equal(third('fetch').status, 0);
  t.strictSame(third('fsck').data.problems, []);

  t.equal(statusOf(first('fetch'), 'runs'), 'changed');
  t.strictSame(first('fsck').data.problems, [], 'beside a record that waits there is a plan of its end');
  t.equal(first('fetch', '--theirs', run).status, 0);
  t.strictSame(first('fsck').data.problems, []);
  t.end();
});

long('a run that continued in two clones can be resolved in both', (t) => {
  const { run, clone, git } = scene(t);
  const [second, third] = [clone('second'), clone('third')];
  for (const call of [second, third]) {
    t.equal(call('fetch').status, 0);
    t.equal(call('cancel', run).data.decision?.type, 'abandon');
  }
  t.equal(second('push').status, 0);
  t.equal(third('push').status, 1, 'what is there is not overwritten');
  const came = third('fetch');
  t.equal(came.status, 1);
  t.equal(statusOf(came, 'runs'), 'diverged');
  t.match(came.data.refs.find(({ status }) => status === 'diverged')?.reason, /--theirs|chosen/);
  const ours = git('third', 'rev-parse', `refs/ai/runs/${run}^{tree}`);
  t.match(third('show', run), {
    status: 0,
    data: { decision: { type: 'abandon' }, notices: [/another record/] },
  });
  t.equal(third('fetch', '--ours', run).status, 0);
  t.equal(git('third', 'rev-parse', `refs/ai/runs/${run}^{tree}`), ours);
  const pushed = third('push');
  t.equal(pushed.status, 0, JSON.stringify(pushed.data));
  t.equal(third('fetch').status, 0);
  t.strictSame(third('fsck').data.problems, []);

  t.equal(statusOf(second('fetch'), 'runs'), 'changed', 'where it went the other way the same is asked');
  t.equal(second('fetch', '--theirs', run).status, 0);
  t.equal(second('push').status, 0);
  t.equal(git('second', 'rev-parse', `refs/ai/runs/${run}^{tree}`), ours, 'then all say the same');
  t.strictSame(second('fsck').data.problems, []);
  const fourth = clone('fourth');
  t.equal(fourth('fetch').status, 0);
  t.match(fourth('show', run), { status: 0, data: { decision: { type: 'abandon' } } });
  t.notMatch(git('fourth', 'for-each-ref'), /fetched/, 'what was kept beside it stays where it was kept');
  t.end();
});

long('where two clones sealed one run, the landed commit counts whichever record holds', (t) => {
  const { run, clone, first, git, key, spec, signers } = scene(t);
  t.equal(first('approve', run, '--key', key).status, 0);
  t.equal(first('push').status, 0);
  const [second, third] = [clone('second'), clone('third')];
  for (const call of [second, third]) t.equal(call('fetch').status, 0);
  t.equal(third('resume', run).data.decision?.type, 'commit');
  t.equal(second('resume', run).data.decision?.type, 'commit', 'later, so that its content is the newer one');
  git('third', 'push', '--quiet', 'origin', 'main');
  t.equal(third('push').status, 0);

  const early = second('push');
  t.equal(early.status, 1);
  t.strictSame([statusOf(early, 'runs'), statusOf(early, 'content')], ['unfetched', 'unfetched']);
  git('second', 'fetch', '--quiet');
  git('second', 'reset', '--quiet', '--hard', 'origin/main');
  t.equal(second('fetch').status, 1);
  const late = second('push');
  t.strictSame([statusOf(late, 'runs'), statusOf(late, 'content')], ['diverged', 'diverged']);
  const fourth = clone('fourth');
  t.equal(fourth('fetch').status, 0);
  t.strictSame(fourth('fsck').data.problems, [], 'no content or plan came without its record');

  const trusted = signers('third').flatMap((file) => ['--key', file]);
  t.equal(second('verify', 'HEAD', ...trusted).status, 0, 'by the record kept beside ours');
  const status = (call: Call): unknown => call('spec', 'show', '--current', spec).data;
  t.match(status(second), { status: 'closed' }, 'closed by the commit that landed');

  t.equal(second('fetch', '--ours', run).status, 0);
  t.equal(second('push').status, 0);
  t.strictSame(second('fsck').data.problems, []);
  const came = third('fetch');
  t.strictSame(
    ['runs', 'content', 'plans'].map((kind) => statusOf(came, kind)),
    ['changed', 'changed', 'changed'],
  );
  t.strictSame(third('fsck').data.problems, [], 'ours is kept whole');
  t.equal(third('fetch', '--theirs', run).status, 0);
  t.strictSame(third('fsck').data.problems, []);
  t.match(status(third), { status: 'closed' }, 'also by the record that gave way');
  t.equal(third('verify', 'HEAD').status, 0);
  t.end();
});
