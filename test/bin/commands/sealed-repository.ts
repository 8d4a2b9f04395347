import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../../bin/command-table.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { makeKey, publicOf } from '../../attest/approval/ssh-tools.ts';
import type { Loose } from '../../attest/verify/strangers.ts';
import { asksForTwo } from '../asks-for-two.ts';
import { runLine } from '../host.ts';

export interface SealedRepository {
  readonly repo: string;
  readonly runId: string;
  /** Environment of somebody who knows nobody. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of the signer: `signer.pem`, `log.vkey`, `people`, `spec.json`. */
  readonly trust: string;
  readonly git: (cwd: string, ...args: string[]) => string;
}

/**
 * A repository with one sealed commit, approved by one person; `undefined` where no run works on this machine. `files`
 * of its `.writ` and parts of its `spec` may differ.
 */
export async function makeSealedRepository(
  root: string,
  {
    files = {},
    spec: more = { risk: { level: 'medium', humanInLoop: { required: true, minApprovers: 1 } } },
  }: {
    readonly files?: Readonly<Record<string, string>>;
    readonly spec?: Parameters<typeof sampleSpecWith>[0];
  } = {},
): Promise<SealedRepository | undefined> {
  const [repo, home, trust] = [join(root, 'repo'), join(root, 'home'), join(root, 'trust')];
  const base = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Dana',
    GIT_AUTHOR_EMAIL: 'dana@example.org',
    GIT_COMMITTER_NAME: 'Dana',
    GIT_COMMITTER_EMAIL: 'dana@example.org',
    PATH: process.env.PATH ?? '',
  };
  const env = { ...base, HOME: home };
  for (const path of [join(repo, '.writ'), home, trust, join(root, 'their-home')])
    mkdirSync(path, { recursive: true });
  const { code: healthy } = await runLine(['doctor'], commands, { cwd: root, env });
  if (healthy !== 0 && healthy !== 128) return undefined;
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const author = async (...argv: string[]): Promise<Loose> => {
    const { code, out } = await runLine(['--json', ...argv], commands, { cwd: repo, env });
    return { code, ...JSON.parse(out) };
  };
  const expectExit = async (expected: number, ...argv: string[]): Promise<Loose> => {
    const answer = await author(...argv);
    if (answer.code !== expected)
      throw new Error(`${argv[0]}: exit ${answer.code} ${JSON.stringify(answer.error)}`);
    return answer.data;
  };
  const ana = makeKey(root, 'ana');
  const people = `ana@example.org namespaces="writ-approval@v1" ${publicOf(ana)}\n`;
  writeFileSync(join(repo, '.writ', 'allowed_signers'), people);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(repo, '.writ', name), text);
  writeFileSync(join(repo, 'a.txt'), 'one\n');
  git(repo, 'init', '-q', '-b', 'main');
  git(repo, 'add', '-A');
  git(repo, 'commit', '-qm', 'base');
  const spec = sampleSpecWith({
    metadata: { target: { repo: { type: 'local', locator: repo } } },
    provenance: { transparencyLog: { mode: 'internal-ledger' } },
    ...asksForTwo,
    ...more,
  });
  writeFileSync(join(trust, 'spec.json'), JSON.stringify(spec));
  writeFileSync(join(trust, 'people'), people);
  writeFileSync(join(root, 'good.patch'), '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n');
  const { run_id: runId } = await expectExit(4, 'run', join(trust, 'spec.json'), '--patch', '../good.patch');
  await expectExit(0, 'approve', runId, '--key', ana);
  await expectExit(0, 'resume', runId);
  const { vkey } = (await author('ledger', 'show')).data ?? { vkey: '' };
  const keys = join(home, '.config', 'writ', 'keys');
  const [pem = ''] = readdirSync(keys).filter((name) => /^signing-.*\.pub\.pem$/.test(name));
  cpSync(join(keys, pem), join(trust, 'signer.pem'));
  writeFileSync(join(trust, 'log.vkey'), vkey);
  return { repo, runId, trust, git, env: { ...base, HOME: join(root, 'their-home') } };
}
