/*
 * `node scripts/build-baseline.ts`: builds the published package of the baseline commit from git and keeps it in the
 * user's cache, where `npm run compare` finds it. Does nothing if the package is there with the digest of
 * `fixtures/compatibility/baseline.json`. Exit 1 if it cannot be built, or if the digest of what was built differs.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { baselinePlace, findBaseline, packageDigest, readBaseline } from './compatibility/baseline.ts';
import { parseFlags } from './parse-flags.ts';

parseFlags({}, { takesArguments: false });
const root = resolve(import.meta.dirname, '..');
const baseline = readBaseline();
const place = baselinePlace(baseline);

const found = findBaseline(baseline, place);
if ('packageDirectory' in found) process.stdout.write(`${place}\n`);
else {
  try {
    build();
    process.stdout.write(`${place}\n`);
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    process.exitCode = 1;
  }
}

function build(): void {
  const { commit, digest } = baseline;
  if (run('git', ['cat-file', '-e', `${commit}^{commit}`], root) === undefined)
    throw new Error(
      `This clone does not hold commit ${commit}. Fetch it with \`git fetch origin ${commit}\`, or make the clone complete with \`git fetch --unshallow\`.`,
    );
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  const box = mkdtempSync(`${place}-`);
  const tree = join(box, 'tree');
  try {
    // A worktree, because the build reads the commit from git; it works in a shallow clone, too.
    must(
      'git',
      ['-c', 'core.hooksPath=/dev/null', 'worktree', 'add', '--quiet', '--detach', tree, commit],
      root,
    );
    const bare = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    process.stderr.write('installing the dependencies of the baseline\n');
    if (run('npm', ['ci', '--offline', ...bare], tree) === undefined)
      must('npm', ['ci', '--prefer-offline', ...bare], tree);
    process.stderr.write('building and packing the baseline\n');
    const packed = must('npm', ['pack', '--silent', '--offline', '--pack-destination', box], tree);
    const tarball = basename(packed.trim().split('\n').at(-1) ?? '');
    must('tar', ['-xzf', join(box, tarball), '-C', box], box);
    const built = packageDigest(join(box, 'package'));
    if (built !== digest)
      throw new Error(
        `The package that was built of ${commit} has digest ${built}, expected ${digest}. Build it with the Node of that commit's lockfile (${process.version} built this one).`,
      );
    must('npm', ['prune', '--omit=dev', '--offline', ...bare], tree);
    renameSync(join(tree, 'node_modules'), join(box, 'node_modules'));
    run('git', ['worktree', 'remove', '--force', tree], root);
    rmSync(place, { recursive: true, force: true });
    renameSync(box, place);
  } finally {
    run('git', ['worktree', 'remove', '--force', tree], root);
    rmSync(box, { recursive: true, force: true });
    run('git', ['worktree', 'prune'], root);
  }
}

/** Stdout of a program, or `undefined` if it failed. The Node that runs this script comes first on its path. */
function run(program: string, args: readonly string[], cwd: string): string | undefined {
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const { status, stdout } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 << 20,
  });
  return status === 0 ? stdout : undefined;
}

/** The same, where a failure ends the build. */
function must(program: string, args: readonly string[], cwd: string): string {
  const out = run(program, args, cwd);
  if (out === undefined) throw new Error(`\`${program} ${args.join(' ')}\` failed in ${cwd}.`);
  return out;
}
