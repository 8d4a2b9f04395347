import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { PlanRequest } from '../../engine/plan-run.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import type { ResumeRequest, RunRequest } from '../../engine/state/run-request.ts';
import { openEngine } from '../../plugins/preset/open-engine.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { outputOf } from '../starter/run-program.ts';
import { sharedPool } from './shared-pool.ts';

export const fixtures = fileURLToPath(new URL('../../fixtures/runs/', import.meta.url));

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A real repository with one commit, a private home, and everything that runs in it. */
export interface Sample {
  readonly root: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  git(...args: string[]): string;
  /** Refs of the person, HEAD, index bytes and status: what a refused run must leave bit for bit. */
  state(): string;
  engine(plugins?: readonly LoadedPlugin[], ephemeralKey?: boolean): Promise<WritEngine>;
  run(
    change: Partial<RunRequest> & (Pick<RunRequest, 'source'> | { readonly worker: Worker }),
    spec?: Json,
    plugins?: readonly LoadedPlugin[],
  ): Promise<RunView>;
  /** Goes on with a run; `more.at` is another clone to do so in. */
  resume(
    runId: string,
    more?: Partial<ResumeRequest> & { readonly at?: string },
    plugins?: readonly LoadedPlugin[],
  ): Promise<RunView>;
  remove(): void;
}

/** The sample's contract with `more` merged into it; arrays and scalars replace. */
export function sampleSpec(more: Json = {}): Buffer {
  const spec = JSON.parse(readFileSync(join(fixtures, '_sample.intent.json'), 'utf8')) as Json;
  return Buffer.from(JSON.stringify(merge(spec, more)));
}

/** What `writ plan` asks of the sample's repository. */
export function planRequest(
  { root }: Pick<Sample, 'root'>,
  spec: Json = {},
  who: PlanRequest['who'] = 'worker',
): PlanRequest {
  return { repositoryPath: root, specBytes: sampleSpec(spec), who, sandbox: 'auto', clock: systemClock };
}

export function merge(base: Json, more: Json): Json {
  if (!isRecord(base) || !isRecord(more)) return more;
  const merged: Record<string, Json> = { ...base };
  for (const [key, value] of Object.entries(more))
    merged[key] = key in merged ? merge(merged[key] as Json, value) : value;
  return merged;
}

function isRecord(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const discarded: string[] = [];
process.once('exit', () => {
  for (const box of discarded) rmSync(box, { recursive: true, force: true });
});

function makeBox(): string {
  return mkdtempSync(join(tmpdir(), 'writ-test-'));
}

function gitEnv(home: string) {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: '2025-05-06T00:00:00Z',
    GIT_COMMITTER_DATE: '2025-05-06T00:00:00Z',
    // A home of its own has nothing compiled yet.
    ...(process.env.NODE_COMPILE_CACHE === undefined
      ? {}
      : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
}

function runGit(root: string, env: Readonly<Record<string, string>>, args: readonly string[]): string {
  return outputOf('git', args, { cwd: root, env }).toString().trim();
}

const templates = new Map<string, string>();

/** A repository of these files with one commit, made once per process and copied from then on. */
function templateOf(files: string): string {
  const known = templates.get(files);
  if (known !== undefined) return known;
  const box = makeBox();
  discarded.push(box);
  const root = join(box, 'repo');
  cpSync(files, root, { recursive: true });
  const git = (...args: string[]): string => runGit(root, gitEnv(box), args);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Sample maintainer');
  git('config', 'user.email', 'maintainer@sample.example');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Sample');
  // Fourteen files that every copy would be made of, and none of them does anything.
  rmSync(join(root, '.git', 'hooks'), { recursive: true });
  templates.set(files, root);
  return root;
}

export function makeSample(files = join(fixtures, '_sample')): Sample {
  const template = templateOf(files);
  const box = makeBox();
  const root = join(box, 'repo');
  const home = join(box, 'home');
  mkdirSync(home);
  cpSync(template, root, { recursive: true });
  const env = gitEnv(home);
  const git = (...args: string[]): string => runGit(root, env, args);
  // The copies are new files to the index: what is compared with it later must not find it rewritten.
  git('update-index', '-q', '--refresh');
  const engine = (plugins: readonly LoadedPlugin[] = [], ephemeralKey = false): Promise<WritEngine> =>
    openEngine({
      env,
      ephemeralKey,
      plugins,
      clock: systemClock,
      report: () => {},
      pool: sharedPool(),
    });
  const setting = () => ({
    sandbox: 'auto' as const,
    schedulerVersion: '0.0.0-test',
    witness: userJournalWitness(env),
    clock: systemClock,
    signal: new AbortController().signal,
  });
  return {
    root,
    home,
    env,
    git,
    state: () =>
      [
        git('for-each-ref', 'refs/heads', 'refs/tags', 'refs/remotes'),
        readFileSync(join(root, '.git', 'HEAD'), 'utf8'),
        readFileSync(join(root, '.git', 'index')).toString('hex'),
        git('status', '--porcelain=v2', '--ignored', '--untracked-files=all'),
      ].join('\n'),
    engine,
    async run(change, spec = {}, plugins = []) {
      const { source, more } = 'worker' in change ? workedBy(change) : { source: change.source, more: [] };
      await using opened = await engine([...plugins, ...more]);
      return await runIntent(opened, {
        repositoryPath: root,
        specBytes: sampleSpec(spec),
        ...setting(),
        ...change,
        source,
      });
    },
    async resume(runId, { at = root, ...more } = {}, plugins = []) {
      await using opened = await engine(plugins);
      const { sandbox: _, ...again } = setting();
      return await resumeRun(opened, { repositoryPath: at, runId, ...again, ...more });
    },
    // At the end: making files is slow on ext4 while there are many that were deleted seconds ago.
    remove: () => void discarded.push(box),
  };
}

/** A worker of a test's own, in the slot under a name of its own. */
export function workedBy({ worker }: { readonly worker: Worker }) {
  const own = definePlugin({
    name: 'worker-of-the-test',
    api: 1,
    setup({ slots }) {
      slots.worker.add('of-the-test', { open: () => worker });
      return undefined;
    },
  });
  return {
    source: { kind: 'worker', worker: 'of-the-test', from: Buffer.alloc(0) } as const,
    more: [own],
  };
}
