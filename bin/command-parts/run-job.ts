/* Runs a job of another machine in a workspace of its own, and publishes the signed result. */
import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type {
  CapturedOutput,
  SandboxBackend,
  SandboxBind,
  SandboxRequest,
  SandboxResult,
} from '../../core/interfaces/sandbox.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { type ReadTrace, tracedIn } from '../../engine/evaluate/observe/under-tracer.ts';
import { isAsExported, makeLater } from '../../engine/evaluate/open-workspace.ts';
import { readReports } from '../../engine/evaluate/read-reports.ts';
import { allWritten } from '../../engine/evaluate/written-outside.ts';
import {
  type Content,
  commitTree,
  type Dispatch,
  jobRef,
  openContent,
  readDispatch,
  resultRef,
} from '../../plugins/workers/content.ts';
import {
  describePlatform,
  digestProgram,
  type Job,
  type JobSecrets,
  openSecrets,
  refused,
} from '../../plugins/workers/job.ts';
import { endsWithin } from '../../plugins/workers/queue.ts';
import { commitResult, type JobResult } from '../../plugins/workers/result.ts';
import { conditionsOf, observe } from '../../plugins/workers/verdict.ts';
import { readLinks } from '../../readers/judges/tree.ts';
import { redact, redactTexts } from '../../readers/sensitive/redact.ts';
import { showsWrites } from '../../workspace/git/copy-work-tree.ts';
import { digestDirectory } from '../../workspace/git/directory-digest.ts';
import { rememberExport } from '../../workspace/git/exported-files.ts';
import { gitLine, runGit } from '../../workspace/git/git.ts';
import { namesIn } from '../../workspace/git/hash-tree.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { type Scratch, sealObjects } from '../../workspace/git/scratch.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { listTree, type TreeEntry } from '../../workspace/git/tree.ts';
import { exportTree, readSmallTree } from '../../workspace/git/workspace.ts';
import { isFreePid } from '../../workspace/process/process-lock.ts';

interface RunnerPlace {
  /** The worker's own directory: objects, prepared directories and workspaces. */
  readonly home: string;
  /** Address of the git remote of jobs. */
  readonly content: string;
  readonly sandbox: SandboxBackend;
  readonly signer: Signer;
  /** The age identity that decrypts secrets of jobs. */
  readonly identity: string;
  /** Commands that run at once; default 1. Other jobs are fetched and published meanwhile. */
  readonly atOnce?: number;
}

/**
 * What became of a job. `declined`: this machine is not what the job names; `superseded`: it was answered, withdrawn
 * or dispatched again meanwhile.
 */
export interface JobOutcome {
  readonly outcome: 'published' | 'declined' | 'superseded';
  readonly why?: string;
}

export interface JobRunner {
  /** Rejects for a fault of this machine, the remote or the content. */
  run(action: string, signal: AbortSignal): Promise<JobOutcome>;
  close(): Promise<void>;
}

const maxEntries = 1_000_000;
const maxBytes = 16 * 1024 ** 3;
const maxPublishTries = 10;
const keptJobs = 200;
/** A job that waits longer goes back to the queue: another worker may be free. */
const placeWithinMs = 3000;

export function openJobRunner({
  home,
  content: address,
  sandbox,
  signer,
  identity,
  atOnce = 1,
}: RunnerPlace): JobRunner {
  removeLeft(home);
  const opened = new Map<string, Promise<Content>>();
  const contentOf = (objectFormat: 'sha1' | 'sha256'): Promise<Content> => {
    const directory = join(home, `${objectFormat}.git`);
    const over = { objectFormat, objectsDir: join(directory, 'objects') };
    const found = opened.get(objectFormat) ?? openContent(directory, { address, shown: 'content' }, { over });
    opened.set(objectFormat, found);
    return found;
  };
  let known: 'sha1' | 'sha256' | undefined;
  /** The newest dispatch of a job; `undefined` if there is none any more. */
  const fetchDispatch = async (action: string, signal: AbortSignal) => {
    const ref = jobRef(action);
    if (known === undefined) {
      const id = (await (await contentOf('sha1')).list([ref], signal)).get(ref);
      if (id === undefined) return undefined;
      known = id.length === 40 ? 'sha1' : 'sha256';
    }
    const content = await contentOf(known);
    if (!(await content.bring([ref], signal))) return undefined;
    return { content, dispatch: await readDispatch(content.place, ref, action) };
  };
  const exports = openExports(home);
  let free = atOnce;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  /** False: no place was free in time. */
  const enter = async (): Promise<boolean> => {
    if (free > 0) {
      free -= 1;
      return true;
    }
    const turn = Promise.withResolvers<void>();
    waiting.push(turn.resolve);
    if (await endsWithin(placeWithinMs, turn.promise)) return true;
    const at = waiting.indexOf(turn.resolve);
    if (at < 0) return true;
    waiting.splice(at, 1);
    return false;
  };
  /** Own results at the remote, as far as this process knows. */
  const published = new Map<string, string>();
  let recent: string[] | undefined;
  /** Keeps the objects of the last jobs, which the next ones mostly share, and none for ever. */
  const tidy = async ({ place }: Content, action: string): Promise<void> => {
    const refsHere = async (): Promise<readonly string[]> =>
      (await gitLine(place, ['for-each-ref', '--format=%(refname)', 'refs/writ/'])).split('\n');
    const actionOf = (ref: string): string => ref.split('/')[3] ?? '';
    recent ??= (await refsHere()).map(actionOf);
    if (recent.push(action) < 2 * keptJobs) return;
    recent = recent.slice(-keptJobs);
    const kept = new Set(recent);
    const old = (await refsHere()).filter((ref) => ref !== '' && !kept.has(actionOf(ref)));
    await runGit(place, ['update-ref', '--stdin'], { input: old.map((ref) => `delete ${ref}\n`).join('') });
    published.clear();
    // Objects of jobs that run now are younger.
    await runGit(place, ['gc', '--quiet', '--prune=1.day.ago']);
  };

  return {
    async run(action, signal) {
      const found = await fetchDispatch(action, signal);
      if (found === undefined) return { outcome: 'superseded', why: 'there is no such job any more' };
      const { content, dispatch } = found;
      await tidy(content, action);
      const why = await lackOf(dispatch.job, sandbox);
      if (why !== undefined) return { outcome: 'declined', why };
      const { job, fence } = dispatch;
      const isOpen = (job.secrets ?? []).length === 0;
      const secrets = isOpen ? undefined : await openSecrets({ ...dispatch, action }, identity);
      if (!isOpen && secrets === undefined)
        return { outcome: 'declined', why: 'its secrets are for other workers' };
      const turn = { enter, leave };
      const at = { home, sandbox, place: content.place, exports, turn };
      const ran = await runJob(at, job, secrets?.env ?? {}, signal);
      if (ran === undefined) return { outcome: 'declined', why: 'it runs as many jobs as it may' };
      const clean = secrets === undefined ? ran : withoutSecrets(ran, secrets, job.limits.maxOutputBytes);
      const result = await commitResult(content.place, { action, fence }, clean, signer);
      return publish(content, action, dispatch, result, signal);
    },
    async close() {
      await exports.close();
      for (const content of opened.values()) await (await content.catch(() => undefined))?.close();
    },
  };

  /** Publishes only while the job is at the dispatch that was worked on: the ref of the job moves with the result. */
  async function publish(
    content: Content,
    action: string,
    first: Dispatch,
    result: string,
    signal: AbortSignal,
  ): Promise<JobOutcome> {
    const [job, own] = [jobRef(action), resultRef(action, signer.keyId)];
    let { commit } = first;
    for (let tries = 1; tries <= maxPublishTries; tries += 1) {
      const answered = await commitTree(content.place, first.tree, `answered by ${signer.keyId}\n`, [commit]);
      const before = published.get(own) ?? null;
      const orders = [
        { ref: job, from: commit, to: answered },
        { ref: own, from: before, to: result },
      ];
      const isThere = before === result || (await content.push(orders, signal));
      if (isThere) {
        published.set(own, result);
        return { outcome: 'published' };
      }
      const there = (await content.list([own], signal)).get(own);
      if (there === undefined) published.delete(own);
      else published.set(own, there);
      const now = await fetchDispatch(action, signal);
      if (now === undefined) return { outcome: 'superseded', why: 'the job was withdrawn' };
      // The same tree has the same number of its dispatch: another worker has answered, which is no reason to stop.
      if (now.dispatch.tree !== first.tree)
        return { outcome: 'superseded', why: `the job is at dispatch ${now.dispatch.fence}` };
      commit = now.dispatch.commit;
    }
    return { outcome: 'superseded', why: 'others move the job at the remote' };
  }
}

/** Workspaces of processes that were killed; another worker may use the same home. */
function removeLeft(home: string): void {
  for (const name of namesIn(join(home, 'jobs'))) {
    const pid = Number(/^job-(\d+)-/.exec(name)?.[1]);
    if (isFreePid(pid)) removeTree(join(home, 'jobs', name)).catch(() => undefined);
  }
}

/** Directories that jobs are given, by where they are. */
const given = new Map<string, Promise<string>>();

/** Why this machine cannot run the job as it is described. */
async function lackOf(job: Job, sandbox: SandboxBackend): Promise<string | undefined> {
  const { enforced } = await sandbox.probe();
  if (sandbox.name !== job.sandbox.name || enforced.join() !== job.sandbox.enforced.join())
    return `its sandbox is \`${job.sandbox.name}\`, and the one here is \`${sandbox.name}\``;
  if ((await describePlatform()).join() !== job.platform.join()) return 'its operating system is another one';
  for (const { name, sha256 } of job.tools)
    if ((await digestProgram(name, process.env.PATH ?? '')) !== sha256)
      return `its \`${name}\` is another program`;
  return undefined;
}

/** Runs the command of a job in a fresh workspace, as the machine of the run would; `undefined`: no place was free. */
async function runJob(
  {
    home,
    sandbox,
    place,
    exports,
    turn,
  }: Pick<RunnerPlace, 'home' | 'sandbox'> & {
    readonly place: Scratch;
    readonly exports: Exports;
    readonly turn: { enter(): Promise<boolean>; leave(): void };
  },
  job: Job,
  secrets: JobSecrets['env'],
  signal: AbortSignal,
): Promise<JobResult | undefined> {
  const root = await ownDirectory(home);
  const [head] = job.history;
  const { objects, entries, small } = await exports.take(place, job);
  try {
    const directory = join(root, 'workspace');
    await exportTree(objects, job.candidate, directory, head?.commit, small);
    const reports = join(root, 'reports');
    const inside = sandbox.pathsInside({ workspace: directory, reports });
    const binds: SandboxBind[] = [
      { source: objects.objectsDir, target: `${inside.workspace}/.git/objects`, writable: false },
    ];
    for (const one of job.given) {
      const source = await provide(home, place, one);
      mkdirSync(join(directory, one.directory), { recursive: true });
      binds.push({ source, target: `${inside.workspace}/${one.directory}`, writable: false, scratch: true });
    }
    const { changed } = await rememberExport(objects, directory, join(root, 'index'), small, new Map());
    const marker = join(root, 'laid');
    const since = await makeLater(reports, marker);
    const { mtimeNs: emptySince } = statSync(reports, { bigint: true });
    const run = (more: Partial<SandboxRequest>) =>
      sandbox.run({
        argv: job.argv,
        workspace: directory,
        reports,
        binds,
        env: { ...job.env, ...secrets },
        network: 'none',
        ...job.limits,
        signal,
        ...more,
      });
    const isTraced = job.expects !== undefined && (await sandbox.probeTracer?.())?.works === true;
    // The place is for the command alone: making and reading workspaces goes on beside the commands of others.
    if (!(await turn.enter())) return undefined;
    const { ran: result, read: trace } = await (isTraced
      ? tracedIn({ privateRoot: root, signal }, inside.workspace, undefined, run)
      : run({}).then((ran) => ({ ran, read: { reason: 'its worker cannot trace' } }))
    ).finally(turn.leave);
    signal.throwIfAborted();
    const read = readReports(reports, emptySince);
    const laid = job.given.map((one) => one.directory);
    const tracked = new Set(entries.map(({ path }) => path));
    const isUntouched =
      since !== undefined &&
      sandbox.unconfined !== true &&
      (await showsWrites(directory)) &&
      (await isAsExported(directory, [...tracked, ...laid], marker, since));
    const written = isUntouched
      ? { written: [], isCut: false }
      : await allWritten({ directory, tracked, laid }, await changed());
    const [excess] = read.findings;
    return {
      result,
      reports: read.files,
      unread: read.unread,
      ...written,
      ...(await verdictOf(job, result, trace, inside.workspace, objects, entries)),
      ...(excess === undefined
        ? {}
        : {
            excess: {
              message: excess.message,
              limit: Number(excess.detail?.limit),
              unit: String(excess.detail?.unit),
            },
          }),
    };
  } finally {
    exports.giveBack(job);
    await removeTree(root);
  }
}

/** A result without the values of secrets, by the redaction that the record of a run uses. */
function withoutSecrets(
  { result, reports, unread, written, excess, ...ran }: JobResult,
  { env, sha256 }: JobSecrets,
  maxOutputBytes: number,
): JobResult {
  const words = { secrets: Object.values(env) };
  const search = { key: randomOctets(32), words, classes: new Set(['secrets'] as const) };
  const output = (of: CapturedOutput): CapturedOutput => {
    const bytes = Buffer.from(redact(of.bytes, search).bytes);
    const isCut = bytes.length > 2 * maxOutputBytes + 1024;
    // Marks may be longer than what they replace.
    return isCut
      ? { ...of, bytes: bytes.subarray(0, 2 * maxOutputBytes), truncated: true }
      : { ...of, bytes };
  };
  const texts = { unread, written, ...(excess === undefined ? {} : { excess }) };
  return {
    ...ran,
    result: {
      ...result,
      stdout: output(result.stdout),
      stderr: output(result.stderr),
      combined: output(result.combined),
    },
    reports: reports.map((one) => ({
      ...one,
      name: redactTexts(one.name, { remove: ['secrets'], words }),
      bytes: Buffer.from(redact(one.bytes, search).bytes),
    })),
    ...redactTexts(texts, { remove: ['secrets'], words }),
    secrets: sha256,
  };
}

/** A directory of this process; `removeLeft` deletes it where the process was killed. */
async function ownDirectory(home: string): Promise<string> {
  await mkdir(join(home, 'jobs'), { recursive: true, mode: 0o700 });
  return mkdtempSync(join(home, 'jobs', `job-${process.pid}-`));
}

const keptExports = 4;

/** Candidates as jobs of them share them: read-only objects, and what is exported. */
type Exports = ReturnType<typeof openExports>;

function openExports(home: string) {
  const kept = new Map<string, { readonly made: ReturnType<typeof make>; users: number }>();
  const keyOf = ({ candidate, history }: Job): string => sha256Hex(JSON.stringify([candidate, history]));
  const make = async (place: Scratch, { candidate, history }: Job) => {
    const root = await ownDirectory(home);
    const objects = await sealObjects(place, join(root, 'objects'), {
      commit: history[0]?.commit,
      history: Math.max(1, history.length),
      trees: [candidate],
    });
    const entries = await listTree(objects, candidate);
    return { root, objects, entries, small: await readSmallTree(objects, entries) };
  };
  const remove = async (key: string): Promise<void> => {
    const found = await kept.get(key)?.made.catch(() => undefined);
    kept.delete(key);
    if (found !== undefined) await removeTree(found.root).catch(() => undefined);
  };
  return {
    async take(place: Scratch, job: Job) {
      const key = keyOf(job);
      const found = kept.get(key) ?? { made: make(place, job), users: 0 };
      found.users += 1;
      // The newest are at the end.
      kept.delete(key);
      kept.set(key, found);
      for (const [old, { users }] of kept) if (users === 0 && kept.size > keptExports) void remove(old);
      try {
        return await found.made;
      } catch (fault) {
        kept.delete(key);
        throw fault;
      }
    },
    giveBack(job: Job): void {
      const found = kept.get(keyOf(job));
      if (found !== undefined) found.users -= 1;
    },
    async close(): Promise<void> {
      for (const key of [...kept.keys()]) await remove(key);
    },
  };
}

/** What later runs may reuse of a job that was traced, if it ended well. */
async function verdictOf(
  job: Job,
  { exitCode, timedOut }: SandboxResult,
  trace: ReadTrace,
  root: string,
  objects: Scratch,
  entries: readonly TreeEntry[],
): Promise<Pick<JobResult, 'verdict' | 'observed' | 'unverifiable'>> {
  if (job.expects === undefined || timedOut || exitCode !== job.expects) return {};
  const links = await readLinks(entries, (paths) => readBlobs(objects, job.candidate, paths));
  const seen = 'reason' in trace ? trace : await observe(trace.footprint, root, { entries, links });
  if ('reason' in seen) return { unverifiable: seen.reason.slice(0, 1000) };
  const about = { conditions: conditionsOf(job), observed: seen.digest, run: job.for.run };
  return { verdict: { ...about, signedAtMs: systemClock.now() }, observed: seen.bytes };
}

/** A directory that jobs are given, made once for all of them and shown to be the one that the job names. */
function provide(home: string, place: Scratch, one: Job['given'][number]): Promise<string> {
  const base = join(home, 'given', `${one.sha256}-${sha256Hex(one.directory).slice(0, 16)}`);
  const known = given.get(base);
  if (known !== undefined) return known;
  const made = materialise(base, place, one);
  given.set(base, made);
  made.catch(() => given.delete(base));
  return made;
}

async function materialise(base: string, place: Scratch, one: Job['given'][number]): Promise<string> {
  const target = join(base, one.directory);
  const isThere = async (root: string): Promise<boolean> => {
    const limits = { within: root, maxEntries, maxBytes };
    const found = await digestDirectory(join(root, one.directory), limits).catch(() => undefined);
    return found !== undefined && 'sha256' in found && found.sha256 === one.sha256;
  };
  if (await isThere(base)) return target;
  await removeTree(base);
  await mkdir(dirname(base), { recursive: true, mode: 0o700 });
  const draft = mkdtempSync(join(dirname(base), 'draft-'));
  try {
    const directory = join(draft, one.directory);
    await exportTree(place, one.tree, directory);
    await rm(join(directory, '.git'), { recursive: true });
    for (const path of one.empty) await mkdir(join(directory, path), { recursive: true });
    if (!(await isThere(draft)))
      throw refused(
        'job',
        `\`${one.directory}\` is not what it names, or this machine lacks a program that it links to`,
      );
    await rename(draft, base);
    return target;
  } catch (fault) {
    await removeTree(draft);
    throw fault;
  }
}
