import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { figure, interleaved } from './measure.ts';

/** Start-up of the compiled package against `node -e 0`, whole processes. */
export async function benchStartUp(launcher: string): Promise<boolean> {
  const spec = resolve('fixtures/specs/valid/typical.json');
  const env = { ...process.env, NODE_COMPILE_CACHE: mkdtempSync(join(tmpdir(), 'writ-bench-cache-')) };
  // Outside of any repository a contract is judged by itself; inside of one git and the policy are asked, too.
  const outside = mkdtempSync(join(tmpdir(), 'writ-bench-outside-'));
  const inside = makeRepository();
  const node = (cwd: string, ...args: string[]) =>
    execFileSync(process.execPath, args, { cwd, env, stdio: 'ignore' });
  const works = {
    node: () => node(outside, '-e', '0'),
    version: () => node(outside, launcher, '--version'),
    validate: () => node(outside, launcher, 'spec', 'validate', spec),
    inRepository: () => node(inside, launcher, 'spec', 'validate', spec),
  };
  await interleaved(2, works);
  const times = await interleaved(21, works);
  const detail = `node ${times.node.toFixed(0)} ms`;
  const beside = (name: string, found: number, limit: number) =>
    figure(`writ ${name} / node -e 0`, found / times.node, limit, 'x', `${found.toFixed(0)} ms, ${detail}`);
  const held = [
    beside('--version', times.version, 1.5),
    beside('spec validate, no repository', times.validate, 2),
    beside('spec validate, in a repository', times.inRepository, 2),
  ];
  return held.every(Boolean);
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
