import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { outputOf } from '../../starter/run-program.ts';
import { fixtures, type Json, makeSample } from '../sample.ts';
import { closePool } from '../shared-pool.ts';

process.env.GIT_CONFIG_GLOBAL = '/dev/null';
process.env.GIT_CONFIG_NOSYSTEM = '1';

const day = 86_400_000;

/** A repository in which one run committed, to be spoilt: a copy for each test. */
export interface Spoilable {
  readonly root: string;
  /** Home of the user whose keys signed. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runId: string;
  readonly commit: string;
  readonly repository: Repository;
  git(...args: string[]): string;
  /** Path in the git directory. */
  inGit(...parts: string[]): string;
  /** Replaces files of a ref's tree; `undefined` removes one. */
  rewrite(ref: string, files: Readonly<Record<string, string | Buffer | undefined>>): void;
  show(ref: string, path: string): string;
}

const copies: string[] = [];
process.once('exit', () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});

const made = new Map<string, Promise<() => Promise<Spoilable>>>();

/** Runs the sample, once per process for the same contract; each call of what it answers makes a copy. */
export function finishedRun(spec: Json = {}, more = 0): Promise<() => Promise<Spoilable>> {
  const key = JSON.stringify([spec, more]);
  const known = made.get(key) ?? makeRun(spec, more);
  made.set(key, known);
  return known;
}

async function makeRun(spec: Json, more: number): Promise<() => Promise<Spoilable>> {
  const sample = makeSample();
  copies.push(join(sample.root, '..'));
  const patch = (name: string) =>
    ({ kind: 'patch', bytes: readFileSync(join(fixtures, name, 'change.diff')) }) as const;
  // Refused ones first: the one that commits closes the intent.
  for (let index = 0; index < more; index += 1)
    await sample.run({ source: patch('a-change-outside-the-scope-is-refused') }, spec);
  const view = await sample.run({ source: patch('a-fix-with-a-new-test-is-committed') }, spec);
  await closePool();
  const commit = view.decision?.commitSha ?? '';
  return async () => {
    const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-spoil-')));
    copies.push(box);
    cpSync(join(sample.root, '..'), box, { recursive: true });
    const root = join(box, 'repo');
    const env = { ...sample.env, HOME: join(box, 'home') };
    const git = (...args: string[]): string => outputOf('git', args, { cwd: root, env }).toString().trim();
    const inGit = (...parts: string[]): string => join(root, '.git', ...parts);
    return {
      root,
      home: join(box, 'home'),
      env,
      runId: view.runId,
      commit,
      repository: await openRepository(root),
      git,
      inGit,
      rewrite(ref, files) {
        const index = { ...env, GIT_INDEX_FILE: inGit('spoil-index') };
        const run = (args: readonly string[], input?: string | Buffer): string =>
          outputOf('git', args, { cwd: root, env: index, ...(input === undefined ? {} : { input }) })
            .toString()
            .trim();
        run(['read-tree', ref]);
        for (const [path, content] of Object.entries(files)) {
          if (content === undefined) run(['update-index', '--force-remove', path]);
          else {
            const blob = run(['hash-object', '-w', '--stdin'], content);
            run(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`]);
          }
        }
        git('update-ref', ref, git('commit-tree', run(['write-tree']), '-p', ref, '-m', 'spoilt'));
      },
      show: (ref, path) => outputOf('git', ['show', `${ref}:${path}`], { cwd: root, env }).toString(),
    };
  };
}

/** The real clock, so many days and milliseconds later. */
export function daysLater(days: number, ms = 0): Clock {
  return { ...systemClock, now: () => systemClock.now() + days * day + ms };
}

/** A clock that stands. */
export function clockAt(ms: number): Clock {
  return { ...systemClock, now: () => ms };
}
