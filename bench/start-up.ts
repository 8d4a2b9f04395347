import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { figure, interleaved } from './measure.ts';

/** Start-up of the compiled package against `node -e 0`, whole processes with the gits they start. */
export async function benchStartUp(launcher: string): Promise<boolean> {
  const spec = resolve('fixtures/specs/valid/typical.json');
  const own = mkdtempSync(join(tmpdir(), 'writ-bench-cache-'));
  const env = { ...process.env, XDG_CACHE_HOME: own, NODE_COMPILE_CACHE: undefined };
  // Outside of any repository a contract is judged by itself; inside of one git and the policy are asked, too.
  const outside = mkdtempSync(join(tmpdir(), 'writ-bench-outside-'));
  const inside = makeRepository();
  const node = (cwd: string, ...args: string[]) => ({ cwd, env, line: [process.execPath, ...args] });
  const starts = {
    node: node(outside, '-e', '0'),
    version: node(outside, launcher, '--version'),
    help: node(outside, launcher, '--help'),
    validate: node(outside, launcher, 'spec', 'validate', spec),
    inRepository: node(inside, launcher, 'spec', 'validate', spec),
  };
  const works = {
    node: () => run(starts.node),
    version: () => run(starts.version),
    help: () => run(starts.help),
    validate: () => run(starts.validate),
    inRepository: () => run(starts.inRepository),
  };
  await interleaved(2, works);
  const times = await interleaved(21, works);
  const beside = (name: string, of: 'version' | 'help' | 'validate' | 'inRepository', limit: number) =>
    figure(
      `writ ${name} / node -e 0`,
      times[of] / times.node,
      limit,
      'x',
      `${times[of].toFixed(0)} ms, node ${times.node.toFixed(0)} ms`,
    );
  const held = [
    beside('--version', 'version', 1.5),
    beside('--help', 'help', 2),
    beside('spec validate, no repository', 'validate', 3.5),
    beside('spec validate, in a repository', 'inRepository', 3.5),
  ];
  rmSync(own, { recursive: true });
  return held.every(Boolean);
}

interface Start {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly line: readonly string[];
}

function run({ cwd, env, line: [program = '', ...args] }: Start): void {
  execFileSync(program, args, { cwd, env, stdio: 'ignore' });
}

/** A repository of the sample's files with one commit. */
function makeRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'writ-bench-inside-'));
  cpSync('fixtures/runs/_sample', root, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Sample maintainer');
  git('config', 'user.email', 'maintainer@sample.example');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Sample');
  return root;
}
