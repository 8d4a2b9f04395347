import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import type { Loose } from '../../attest/verify/strangers.ts';
import { isLong, long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';
import { makeSealedRepository } from './sealed-repository.ts';

/** A run in a sandbox, an approval and its seal on a busy machine. */
t.setTimeout(400_000);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-repositories-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const sealed = isLong && !withoutSshKeygen ? await makeSealedRepository(root) : undefined;
const skip = withoutSshKeygen || (sealed ? false : 'writ doctor: no run works on this machine');

long(
  'a sealed commit verifies in bare, mirror and shallow clones, and missing objects are named',
  { skip },
  async (t) => {
    if (sealed === undefined) return;
    const { repo, git, trust, runId, env } = sealed;
    const at = (name: string) => join(root, name);
    const evidence = '+refs/ai/*:refs/ai/*';
    const url = `file://${repo}`;
    const anchors = ['--key', join(trust, 'signer.pem'), '--ledger-key', join(trust, 'log.vkey')].concat(
      ...['--allowed-signers', join(trust, 'people'), '--spec', join(trust, 'spec.json'), '--replay'],
    );
    const verify = async (cwd: string, target: string, ...more: string[]): Promise<Loose> => {
      const { code, out } = await runLine(['--json', 'verify', target, ...anchors, ...more], commands, {
        cwd,
        env,
      });
      return { code, ...JSON.parse(out) };
    };
    git(root, 'clone', '-q', '--mirror', repo, 'mirror.git');
    git(root, 'clone', '-q', '--bare', repo, 'bare.git');
    git(repo, 'worktree', 'add', '-q', '--detach', at('tree'), 'HEAD');
    git(root, 'clone', '-q', '--depth', '1', url, 'shallow');
    t.match(
      await verify(at('bare.git'), 'HEAD'),
      { code: 3, error: { details: { reason: /`git fetch REMOTE "\+refs\/ai\/\*:refs\/ai\/\*"`/ } } },
      'a clone without evidence says how to get it',
    );
    t.equal((await verify(at('shallow'), 'HEAD')).code, 3);
    git(at('bare.git'), 'fetch', '-q', repo, evidence);
    git(at('shallow'), 'fetch', '-q', '--depth', '1', 'origin', evidence);
    for (const place of ['mirror.git', 'bare.git', 'tree', 'shallow'])
      for (const target of ['HEAD', runId]) {
        const { code, data, error } = await verify(at(place), target);
        t.same([code, data?.ran, error], [0, data?.expected, undefined], `${place} ${target}`);
      }
    t.equal((await verify(root, 'HEAD', '--repo', at('mirror.git'))).code, 0, 'from elsewhere');
    t.equal((await verify(join(at('mirror.git'), 'refs'), 'HEAD')).code, 0, 'from within');

    git(repo, 'config', 'uploadpack.allowFilter', 'true');
    git(root, 'clone', '-q', '--filter=blob:none', url, 'partial');
    git(at('partial'), 'fetch', '-q', 'origin', evidence);
    for (const target of ['HEAD', runId])
      t.match(
        await verify(at('partial'), target),
        {
          code: 3,
          error: { details: { reason: /left [0-9a-f]{40} behind: .*`git fetch --refetch --no-filter`/ } },
        },
        'what a partial clone left behind is named, and the command that brings it',
      );
    git(at('mirror.git'), 'update-ref', 'refs/heads/main', git(repo, 'rev-parse', 'HEAD~1').trim());
    t.match(
      await verify(at('mirror.git'), 'main'),
      { code: 3 },
      'a commit that nobody sealed is none in a mirror either',
    );
    git(at('mirror.git'), 'gc', '-q', '--prune=now');
    t.match(
      await verify(at('mirror.git'), runId),
      {
        code: 3,
        error: { details: { reason: /^commit [0-9a-f]{40} of the run is not in this repository/ } },
      },
      'a run whose commit was pruned says so',
    );
    t.match(
      (
        await runLine(['run', join(trust, 'spec.json'), '--patch', join(root, 'good.patch')], commands, {
          cwd: at('bare.git'),
          env,
        })
      ).err,
      /BARE_REPOSITORY/,
      'nothing else works without a work tree',
    );
  },
);
