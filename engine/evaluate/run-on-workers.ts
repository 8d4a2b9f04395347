/* Describes commands of checks as jobs, and runs them on workers (`[workers]`). */
import { readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalDigest, sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { SandboxRequest, SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { RanOn, StageName, WrittenOutside } from '../../core/interfaces/stage.ts';
import type { Content } from '../../plugins/workers/content.ts';
import type { Dispatcher, SecretsOfJob } from '../../plugins/workers/dispatch.ts';
import type { Job } from '../../plugins/workers/job.ts';
import type { JobResult } from '../../plugins/workers/result.ts';
import { inScope } from '../../spec/scope-verdict.ts';
import { gitFields, gitLine, runGit } from '../../workspace/git/git.ts';
import { pickRemote } from '../../workspace/git/network.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Scratch, SealedObjects } from '../../workspace/git/scratch.ts';
import { listTree } from '../../workspace/git/tree.ts';
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
export interface Command {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  readonly content: WorkspaceContent;
  /** Its environment is without the secrets. */
  readonly request: Pick<SandboxRequest, 'argv' | 'env' | 'network' | 'timeoutMs' | 'maxOutputBytes'>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Why it must run here, if it must. */
  readonly bound: string | undefined;
}

/** What a command that did not run in the workspace of its check left in its own. */
export type WrittenElsewhere = Pick<JobResult, 'written' | 'isCut'>;

/** What came of a command. */
export interface RanCommand {
  readonly result: SandboxResult;
  readonly files: readonly ReportFile[];
  readonly unread: readonly string[];
  readonly findings: readonly Finding[];
}

/** What came of a command elsewhere. */
export interface RanElsewhere extends RanCommand {
  readonly ranOn: RanOn;
  /** Absent if it ran in the workspace of its check. */
  readonly written?: WrittenElsewhere;
}

/** The workers of one epoch of an attempt. */
export interface Workers {
  /** The first valid result; or why the command has to run here. */
  run(command: Command, job: Described): Promise<AnsweredJob | { readonly here: string }>;
  /** Results that came twice and differ, and results that were refused, since the last call. */
  findings(): Promise<readonly Finding[]>;
  /** Where jobs travel, and the keys that count. */
  place(): Promise<Pick<OpenWorkers, 'content' | 'listed'>>;
  close(): Promise<void>;
}

type AnsweredJob = NonNullable<Awaited<ReturnType<Dispatcher['run']>>>;
type OpenWorkers = Awaited<ReturnType<typeof openAll>>;
type WorkersConfig = NonNullable<Attempt['environment']['config']['workers']>;

/** The workers that the policy commit names. Nothing is opened before a command. */
export function openWorkers(attempt: Attempt, config: WorkersConfig): Workers {
  let opened: Promise<OpenWorkers> | undefined;
  const open = (): Promise<OpenWorkers> => {
    opened ??= openAll(attempt, config);
    return opened;
  };
  const reported = new Set<string>();
  const commands = new Map<string, Command>();
  return {
    place: open,
    async run(command, job) {
      const { dispatcher, content, directory, listed } = await open();
      const given = await withTrees(content, directory, command.content, job);
      if (typeof given === 'string') return { here: given };
      const secrets = secretsFor(command, config, listed);
      if (secrets?.workers.length === 0)
        return { here: `no listed worker with label \`${secrets.label}\` has a recipient for its secrets` };
      const found = await dispatcher.run(given, secrets);
      if (found === undefined) {
        const why = `no worker ran it within ${config.after} seconds`;
        if (config.fallback === 'local') return { here: why };
        throw new WritError('WORKERS_ABSENT', {
          message: `check \`${command.check.id}\`: ${why}, and \`[workers] fallback\` is "fail"`,
          detail: {
            check: command.check.id,
            after: config.after,
            refused: dispatcher.refusals().slice(0, 10),
          },
          hints: ['start a worker with `writ worker`, then go on with `writ resume RUN`'],
        });
      }
      commands.set(found.action, command);
      return found;
    },
    async findings() {
      if (opened === undefined) return [];
      const { dispatcher } = await opened;
      const differing: Finding[] = [];
      for (const { action, job, first, second } of await dispatcher.pairs()) {
        const command = commands.get(action);
        if (command === undefined || (await isSameOutcome(attempt, command, first, second))) continue;
        const keys = [first.worker.keyId, second.worker.keyId];
        const message = `check \`${job.for.check}\`: workers \`${first.worker.name}\` and \`${second.worker.name}\` ran the same job ${action.slice(0, 16)} and came to different results: the check is not reproducible, or one of them is wrong`;
        differing.push(resultFinding('error', 'NOT_REPRODUCIBLE', message, { action, keys }));
      }
      const refused = dispatcher
        .refusals()
        .map((why) =>
          resultFinding('warning', 'JOB_REFUSED', `a result of a worker did not count: ${why}`, {}),
        );
      const fresh = [...differing, ...refused].filter(({ message }) => !reported.has(message));
      for (const { message } of fresh) reported.add(message);
      return fresh;
    },
    async close() {
      // A process that was killed leaves its jobs at the remote.
      const { steps } = attempt.services;
      const dispatched = steps.endedUnder('job/').map((step) => step.split('/')[1] ?? '');
      const before = [...new Set(dispatched)];
      const removed = `jobs-removed/${before.length}`;
      if (opened === undefined && (before.length === 0 || steps.ended(removed))) return;
      const { dispatcher } = (await open().catch(() => undefined)) ?? {};
      if (await dispatcher?.close(before)) await steps.once(removed, () => undefined).catch(() => undefined);
    },
  };
}

/** The secrets of a command with the workers that may have them, by the policy commit. */
function secretsFor(
  { secrets: env }: Command,
  { secrets: label }: WorkersConfig,
  listed: OpenWorkers['listed'],
): SecretsOfJob | undefined {
  if (label === undefined || Object.keys(env).length === 0) return undefined;
  const workers = listed.filter(({ labels, recipient }) => labels.includes(label) && recipient !== undefined);
  return { env, label, workers };
}

/** The outcome of a signed result, as that of a command here. */
export function ranAs({
  result,
  reports,
  unread,
  excess,
  written,
  isCut,
}: JobResult): Omit<RanElsewhere, 'ranOn'> {
  const findings = excess === undefined ? [] : [tooMuch(excess)];
  return { result, files: reports, unread, findings, written: { written, isCut } };
}

/** Why a command of this run cannot be described by content at all. */
export function boundHere({ environment }: Attempt, { content, request }: Command): string | undefined {
  if (environment.sandbox.unconfined) return 'there is no sandbox here whose back end a worker could use';
  if (request.network !== 'none') return 'it reaches the network';
  if (environment.config.workspace.carry.length > 0)
    return '`[workspace] carry` hands files from check to check';
  if (Object.keys(environment.platform).some((name) => name.endsWith('.toolchain')))
    return 'its runtime comes from a toolchain manager of this machine';
  if (content.isConverted) return 'files of the tree are shown otherwise than git stores them';
  return undefined;
}

type Outcome = Pick<JobResult, 'result' | 'reports' | 'unread'>;

/** Whether two results of a command have exit, tests by outcome, and artifacts in common: no times and no log text. */
export async function isSameOutcome(
  attempt: Attempt,
  command: Command,
  one: Outcome,
  other: Outcome,
): Promise<boolean> {
  return (await outcomeOf(attempt, command, one)) === (await outcomeOf(attempt, command, other));
}

async function outcomeOf(
  { services: { engine }, identity: { contract, scope }, patch, environment }: Attempt,
  { stage, check }: Command,
  { result, reports, unread }: Outcome,
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

async function openAll(attempt: Attempt, config: WorkersConfig) {
  const { environment, services } = attempt;
  const { repository, policy } = environment;
  const { steps, settings, scratch, privateRoot, signal } = services;
  const [{ openContent }, { openDispatcher, readWorkers, workersPath }, { openQueue }] = await Promise.all([
    import('../../plugins/workers/content.ts'),
    import('../../plugins/workers/dispatch.ts'),
    import('../../plugins/workers/queue.ts'),
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
  return { dispatcher, content, directory, listed: workers };
}

/** A described command: a job whose directories are named by digest, and not yet by git tree. */
type Described = Omit<Job, 'given'> & {
  readonly given: readonly Pick<Job['given'][number], 'directory' | 'sha256'>[];
};

/** Describes commands of an attempt as jobs. */
export async function openDescriber(attempt: Attempt): Promise<(command: Command) => Promise<Described>> {
  const { environment, services, identity, name } = attempt;
  const { repository, policy, sandbox } = environment;
  const { scratch } = services;
  const jobs = await import('../../plugins/workers/job.ts');
  const { enforced } = await sandbox.probe();
  const platform = await jobs.describePlatform();
  const governing = (await listTree(scratch, policy.tree)).filter(({ path }) => path.startsWith('.writ/'));
  const rules = canonicalDigest(governing.map(({ path, mode, object }) => [path, mode, object]));
  const programs = new Map<string, Promise<readonly string[]>>();
  const programsOf = async (tree: string): Promise<readonly string[]> => {
    const { workspace } = environment.config;
    const { effective } = identity.contract;
    return (await findVerificationInputs(scratch, repository.root, tree, effective, workspace.prepare))
      .programs;
  };
  const histories = new Map<SealedObjects, ReturnType<typeof historyOf>>();
  const turns = new Map<string, number>();

  return async ({ stage, check, content: made, request, secrets }) => {
    const reached = programs.get(made.tree) ?? programsOf(made.tree);
    programs.set(made.tree, reached);
    const history = histories.get(made.objects) ?? historyOf(made.objects, attempt.patch.baseCommit);
    histories.set(made.objects, history);
    const words = request.argv.flatMap((word) => word.split(/[^\w.+-]+/));
    const tools: Job['tools'][number][] = [];
    for (const tool of [...new Set(['sh', ...words, ...(await reached)])].sort()) {
      const sha256 = await jobs.digestProgram(tool, process.env.PATH ?? '');
      if (sha256 !== undefined) tools.push({ name: tool, sha256 });
    }
    const described: Described = {
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
      rules,
      history: await history,
      given: made.provided.map(({ directory, sha256 }) => ({ directory, sha256 })),
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
      ...(Object.keys(secrets).length === 0 ? {} : { secrets: Object.keys(secrets).sort() }),
    };
    const same = JSON.stringify(described);
    const turn = (turns.get(same) ?? 0) + 1;
    turns.set(same, turn);
    return { ...described, for: { ...described.for, turn } };
  };
}

const trees = new WeakMap<object, Map<string, ReturnType<typeof treeOf>>>();

/** The job with the git trees of its directories in `content`; or why one of them is none. */
async function withTrees(
  content: Content,
  directory: string,
  { provided }: WorkspaceContent,
  job: Described,
): Promise<Job | string> {
  const known = trees.get(content) ?? new Map<string, ReturnType<typeof treeOf>>();
  trees.set(content, known);
  const given: Job['given'][number][] = [];
  for (const { directory: path, source, sha256 } of provided) {
    const tree = known.get(sha256) ?? treeOf(content, source, join(directory, `index-${sha256}`));
    known.set(sha256, tree);
    const found = await tree;
    if (found === undefined) return `\`${path}\` holds a git repository, which no tree of git can`;
    given.push({ directory: path, sha256, ...found });
  }
  return { ...job, given };
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
  return resultFinding('error', 'REPORT_UNREADABLE', message, { reason: 'too-large', limit, unit });
}

export function resultFinding(
  severity: Finding['severity'],
  code: string,
  message: string,
  detail: Readonly<Record<string, unknown>>,
): Finding {
  return { rule: 'check-outcome', severity, message, detail: { code, ...detail } };
}
