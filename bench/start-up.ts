import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { figure, interleaved, median } from './measure.ts';
import { sized } from './sized.ts';

/**
 * Start-up of the compiled package against `node -e 0`, whole processes with the gits they start: by the clock, and by
 * the time of processors, which says more where others work beside.
 */
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
  const shares = processorShares(starts);
  const beside = (name: string, of: 'version' | 'help' | 'validate' | 'inRepository', limit: number) => {
    const detail = `${times[of].toFixed(0)} ms, node ${times.node.toFixed(0)} ms`;
    return [
      figure(`writ ${name} / node -e 0`, times[of] / times.node, limit, 'x', detail),
      figure(`writ ${name} / node -e 0, processors`, shares[of], limit, 'x', 'median of rounds'),
    ];
  };
  const held = [
    ...beside('--version', 'version', 1.5),
    ...beside('--help', 'help', 2),
    ...beside('spec validate, no repository', 'validate', 2),
    ...beside('spec validate, in a repository', 'inRepository', 2),
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

/** Of the time of processors that `node` takes, each in turn; medians of the rounds. */
function processorShares<Name extends string>(
  starts: Readonly<Record<Name | 'node', Start>>,
): Readonly<Record<Name | 'node', number>> {
  const names = Object.keys(starts) as (Name | 'node')[];
  const rounds = Array.from({ length: sized(9, 1) }, () => {
    const taken = new Map(names.map((name) => [name, processorMs(starts[name])]));
    return (name: Name | 'node'): number => (taken.get(name) ?? 0) / (taken.get('node') ?? 0);
  });
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((of) => of(name)))])) as Record<
    Name | 'node',
    number
  >;
}

/** User and system time of ten starts: a shell tells those of what it waited for, in hundredths of a second. */
function processorMs({ cwd, env, line }: Start): number {
  const script = 'for _ in 0 1 2 3 4 5 6 7 8 9; do "$@" >/dev/null; done; times';
  const told = execFileSync('sh', ['-c', script, 'sh', ...line], { cwd, env, encoding: 'utf8' });
  const [, children = ''] = told.trim().split('\n');
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
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
