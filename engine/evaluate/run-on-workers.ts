/* Runs commands of checks on workers (`[workers]`), and says why one of them runs here. */
import { readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { SandboxRequest, SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { RanOn, StageName, WrittenOutside } from '../../core/interfaces/stage.ts';
import type { Dispatcher } from '../../plugins/workers/dispatch.ts';
import type { Job } from '../../plugins/workers/job.ts';
import type { JobResult } from '../../plugins/workers/result.ts';
import { inScope } from '../../spec/scope-verdict.ts';
import { gitFields, gitLine, runGit } from '../../workspace/git/git.ts';
import { pickRemote } from '../../workspace/git/network.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Scratch, SealedObjects } from '../../workspace/git/scratch.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import type { Attempt } from '../state/open-run.ts';
import { findVerificationInputs } from './second-run/verification-inputs.ts';
import type { ProvidedDirectory } from './workspace-dependencies.ts';

/** What a workspace was made of. */
export interface WorkspaceContent {
  readonly tree: string;
  readonly objects: SealedObjects;
  readonly provided: readonly ProvidedDirectory[];
  /** Files are shown otherwise than git stores them. */
  readonly isConverted: boolean;
}

/** A command, as a check asks for it. */
interface Command {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  readonly content: WorkspaceContent;
  readonly request: Pick<SandboxRequest, 'argv' | 'env' | 'network' | 'timeoutMs' | 'maxOutputBytes'>;
  /** Why it must run here, if it must. */
  readonly bound: string | undefined;
}

/** What a command on a worker left in its workspace. */
export type WrittenElsewhere = Pick<JobResult, 'written' | 'isCut'>;

/** What came of a command: on a worker, or that it has to run here. */
export type RanElsewhere =
  | {
      readonly ranOn: Exclude<RanOn, { readonly here: string }>;
      readonly result: SandboxResult;
      readonly reports: readonly ReportFile[];
      readonly unread: readonly string[];
      readonly findings: readonly Finding[];
      readonly written: WrittenElsewhere;
    }
  | { readonly ranOn: { readonly here: string } };

/** The workers of one epoch of an attempt. */
export interface Workers {
  run(command: Command): Promise<RanElsewhere>;
  /** Results that came twice and differ, and results that were refused, since the last call. */
  findings(): Promise<readonly Finding[]>;
  close(): Promise<void>;
}

/** The workers that the policy commit names; `undefined` if it names none. Nothing is opened before a command. */
export function openWorkers(attempt: Attempt): Workers | undefined {
  const config = attempt.environment.config.workers;
  if (config === undefined) return undefined;
  let opened: ReturnType<typeof openAll> | undefined;
  const turns = new Map<string, number>();
  const reported = new Set<string>();
  const commands = new Map<string, Command>();
  return {
    async run(command) {
      const bound = command.bound ?? boundHere(attempt, command);
      if (bound !== undefined) return { ranOn: { here: bound } };
      opened ??= openAll(attempt, config);
      const { dispatcher, describe } = await opened;
      const job = await describe(command);
      if (typeof job === 'string') return { ranOn: { here: job } };
      const same = JSON.stringify(job);
      const turn = (turns.get(same) ?? 0) + 1;
      turns.set(same, turn);
      const found = await dispatcher.run({ ...job, for: { ...job.for, turn } });
      if (found === undefined) {
        const why = `no worker ran it within ${config.after} seconds`;
        if (config.fallback === 'local') return { ranOn: { here: why } };
        throw new WritError('WORKERS_ABSENT', {
          message: `check \`${command.check.id}\`: ${why}, and \`[workers] fallback\` is "fail"`,
          detail: {
            check: command.check.id,
            after: config.after,
            refused: dispatcher.refusals().slice(0, 10),
          },
          hints: ['start a worker: `writ worker`; then go on: `writ resume`'],
        });
      }
      const { action, answer } = found;
      commands.set(action, command);
      await attempt.services.record.put([[`workers/${action}.json`, answer.envelope]]);
      const { worker, fence, result, reports, unread, excess, written, isCut } = answer;
      return {
        ranOn: { worker: worker.name, keyId: worker.keyId, action, fence },
        result,
        reports,
        unread,
        findings: excess === undefined ? [] : [tooMuch(excess)],
        written: { written, isCut },
      };
    },
    async findings() {
      if (opened === undefined) return [];
      const { dispatcher } = await opened;
      const differing: Finding[] = [];
      for (const { action, job, first, second } of await dispatcher.pairs()) {
        const command = commands.get(action);
        const outcomes = command && [
          await outcomeOf(attempt, command, first),
          await outcomeOf(attempt, command, second),
        ];
        if (outcomes === undefined || outcomes[0] === outcomes[1]) continue;
        const keys = [first.worker.keyId, second.worker.keyId];
        const message = `check \`${job.for.check}\`: workers \`${first.worker.name}\` and \`${second.worker.name}\` ran the same job ${action.slice(0, 16)} and came to different results: the check is not reproducible, or one of them is wrong`;
        differing.push(finding('error', 'NOT_REPRODUCIBLE', message, { action, keys }));
      }
      const refused = dispatcher
        .refusals()
        .map((why) => finding('warning', 'JOB_REFUSED', `a result of a worker did not count: ${why}`, {}));
      const fresh = [...differing, ...refused].filter(({ message }) => !reported.has(message));
      for (const { message } of fresh) reported.add(message);
      return fresh;
    },
    close: async () => {
      await (await opened?.catch(() => undefined))?.dispatcher.close();
    },
  };
}

/** Why a command of this run cannot go to a worker at all. */
function boundHere({ environment }: Attempt, { content, request }: Command): string | undefined {
  if (environment.sandbox.unconfined) return 'there is no sandbox here whose back end a worker could use';
  if (request.network !== 'none') return 'it reaches the network';
  if (environment.config.workspace.carry.length > 0)
    return '`[workspace] carry` hands files from check to check';
  if (Object.keys(environment.platform).some((name) => name.endsWith('.toolchain')))
    return 'its runtime comes from a toolchain manager of this machine';
  if (content.isConverted) return 'files of the tree are shown otherwise than git stores them';
  return undefined;
}

/** What two results of one job must have in common: exit, tests by outcome, and artifacts; no times and no log text. */
async function outcomeOf(
  { services: { engine }, identity: { contract, scope }, patch, environment }: Attempt,
  { stage, check }: Command,
  { result, reports, unread }: JobResult,
): Promise<string> {
  const report = environment.config.checks.reports.get(check.id);
  const runner = await engine.slots.check.pick(check.kind);
  const { executed } = await runner.run({
    check,
    ...(report === undefined ? {} : { report }),
    runCommand: async () => ({ result, reports, unread }),
    askRule: async () => undefined,
    ruleInput: {
      ...{ spec: contract.effective, patch, scope, artifacts: [] },
      stage: { name: stage, checks: [] },
    },
  });
  const { counts, names, skipped } = executed ?? {};
  const tests = [counts?.passed, counts?.failed, counts?.skipped, [...(names ?? [])].sort(), skipped];
  const failed = counts?.failedTests?.map(({ name }) => name).sort();
  // A report of tests has times in it, and a log is text.
  const isCompared = ({ name }: ReportFile): boolean =>
    check.artifactsProduced.includes(name.split('.')[0] ?? '') && !/\.(?:xml|tap|log|txt)$/.test(name);
  const artifacts = reports.filter(isCompared).map(({ name, bytes }) => [name, sha256Hex(bytes)]);
  const { exitCode, signal, timedOut } = result;
  return JSON.stringify([exitCode, signal, timedOut, tests, failed, artifacts]);
}

/** Files written outside the scope, of those that a worker lists. */
export function outsideOf({ written, isCut }: WrittenElsewhere, scope: Scope): WrittenOutside | undefined {
  const outside = written.filter(({ path }) => !inScope(scope, path));
  if (outside.length === 0) return undefined;
  const paths = outside.slice(0, 20);
  return { count: outside.length, ...(isCut ? { atLeast: true as const } : {}), paths };
}

async function openAll(attempt: Attempt, config: NonNullable<Attempt['environment']['config']['workers']>) {
  const { environment, services, identity, name } = attempt;
  const { repository, policy, sandbox } = environment;
  const { steps, settings, scratch, privateRoot, signal } = services;
  const [{ openContent }, { openDispatcher, readWorkers, workersPath }, { openQueue }, jobs] =
    await Promise.all([
      import('../../plugins/workers/content.ts'),
      import('../../plugins/workers/dispatch.ts'),
      import('../../plugins/workers/queue.ts'),
      import('../../plugins/workers/job.ts'),
    ]);
  const listed = readWorkers(await readBlob(scratch, policy.tree, workersPath));
  const workers = listed.filter(({ labels }) => config.labels.every((label) => labels.includes(label)));
  if (workers.length === 0)
    throw new WritError('JOB_REFUSED', {
      message: `\`[workers]\` sends checks to workers, and \`${workersPath}\` at the policy commit lists none${config.labels.length > 0 ? ' with its labels' : ''}`,
      hints: [`commit the line that \`writ worker\` prints to \`${workersPath}\``],
    });
  const picked = await pickRemote(repository, config.content, repository.root);
  const address =
    picked.address === config.content && !/[/:]/.test(config.content)
      ? await gitLine(repository, ['remote', 'get-url', config.content])
      : picked.address;
  const directory = await mkdtemp(join(privateRoot, 'workers-'));
  const content = await openContent(
    directory,
    { ...picked, address },
    { over: scratch, network: repository },
  );
  const queue = async (hear: Parameters<typeof openQueue>[1]) => {
    const found = await settings.secrets?.named?.(config.queueAddress);
    if (found !== undefined) return openQueue(found, hear);
    throw new WritError('JOB_QUEUE_UNUSABLE', {
      message: `\`[workers] queue\` needs the address of the queue, and \`${config.queueAddress}\` is neither in the environment nor in the vault`,
      hints: [`set it: \`writ vault set ${config.queueAddress}\``],
    });
  };
  const dispatcher: Dispatcher = openDispatcher({
    content,
    queue,
    workers,
    afterMs: config.after * 1000,
    signal,
    monotonic: () => settings.clock.monotonic(),
    fences: {
      async current(action) {
        for (let number = 1; ; number += 1) {
          if (steps.ended(`job/${action}/${number}/over`)) continue;
          await steps.once(`job/${action}/${number}`, () => undefined);
          await steps.sync();
          return number;
        }
      },
      end: (action, number) => steps.once(`job/${action}/${number}/over`, () => undefined),
    },
  });
  const { enforced } = await sandbox.probe();
  const platform = await jobs.describePlatform();
  const trees = new Map<string, ReturnType<typeof treeOf>>();
  const programs = new Map<string, Promise<readonly string[]>>();
  const programsOf = async (tree: string): Promise<readonly string[]> => {
    const { workspace } = environment.config;
    const { effective } = identity.contract;
    return (await findVerificationInputs(scratch, repository.root, tree, effective, workspace.prepare))
      .programs;
  };

  /** The job, without its turn; or why it cannot be one. */
  const describe = async ({ stage, check, content: made, request }: Command): Promise<Job | string> => {
    const given: Job['given'][number][] = [];
    for (const { directory: path, source, sha256 } of made.provided) {
      const known = trees.get(sha256) ?? treeOf(content, source, join(directory, `index-${sha256}`));
      trees.set(sha256, known);
      const found = await known;
      if (found === undefined) return `\`${path}\` holds a git repository, which no tree of git can`;
      given.push({ directory: path, sha256, ...found });
    }
    const reached = programs.get(made.tree) ?? programsOf(made.tree);
    programs.set(made.tree, reached);
    const words = request.argv.flatMap((word) => word.split(/[^\w.+-]+/));
    const tools: Job['tools'][number][] = [];
    for (const tool of [...new Set(['sh', ...words, ...(await reached)])].sort()) {
      const sha256 = await jobs.digestProgram(tool, process.env.PATH ?? '');
      if (sha256 !== undefined) tools.push({ name: tool, sha256 });
    }
    return {
      schema: 'urn:writ:job:v1',
      for: {
        repository: environment.repositoryUri,
        run: identity.runId,
        attempt: name,
        stage,
        check: check.id,
        turn: 1,
      },
      candidate: made.tree,
      policy: policy.tree,
      history: await historyOf(made.objects, attempt.patch.baseCommit),
      given,
      argv: request.argv,
      env: request.env,
      tools,
      platform,
      sandbox: { name: sandbox.name, enforced },
      limits: {
        timeoutMs: request.timeoutMs,
        maxOutputBytes: request.maxOutputBytes,
        maxMemoryBytes: maxMemoryBytes(environment.config),
      },
    };
  };
  return { dispatcher, describe };
}

/** The commits that `.git` of a workspace holds, from its HEAD on. */
async function historyOf(objects: SealedObjects, head: string | undefined): Promise<Job['history']> {
  if (head === undefined) return [];
  const lines = await gitLine(objects, ['log', '--format=%H %T', head]);
  return lines.split('\n').map((line) => {
    const [commit = '', tree = ''] = line.split(' ');
    return { commit, tree };
  });
}

/** The content of a directory as a git tree, and its empty directories; `undefined` if no tree can hold it. */
async function treeOf(
  { place }: { readonly place: Scratch },
  source: string,
  index: string,
): Promise<{ readonly tree: string; readonly empty: readonly string[] } | undefined> {
  const at = { ...place, cwd: source, env: { ...place.env, GIT_WORK_TREE: source, GIT_INDEX_FILE: index } };
  await runGit(at, ['add', '--all', '--force', '--', '.']);
  const tree = await gitLine(at, ['write-tree']);
  const listed = await gitFields(at, ['ls-tree', '-r', '-z', '--format=%(objectmode)', tree]);
  const empty: string[] = [];
  const pending = [''];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const entries = readdirSync(join(source, path), { withFileTypes: true });
    if (entries.some((entry) => entry.name.toLowerCase() === '.git')) return undefined;
    if (entries.length === 0 && path !== '') empty.push(path);
    for (const entry of entries)
      if (entry.isDirectory()) pending.push(path === '' ? entry.name : `${path}/${entry.name}`);
  }
  return listed.includes('160000') ? undefined : { tree, empty: empty.sort() };
}

function tooMuch({ message, limit, unit }: NonNullable<JobResult['excess']>): Finding {
  return finding('error', 'REPORT_UNREADABLE', message, { reason: 'too-large', limit, unit });
}

function finding(
  severity: Finding['severity'],
  code: string,
  message: string,
  detail: Readonly<Record<string, unknown>>,
): Finding {
  return { rule: 'check-outcome', severity, message, detail: { code, ...detail } };
}
