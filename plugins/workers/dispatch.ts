/* Dispatches the jobs of a run to workers, waits for their signed results, and finds results that come twice. */
import type { ListedWorker } from '../../attest/statement/job-result.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { broughtIds, type Content, commitJob, jobRef, resultRef } from './content.ts';
import { type Job, type JobSecrets, sealSecrets, writeJob } from './job.ts';
import { endsWithin, type JobQueue, type QueueNews } from './queue.ts';
import { readResult, type SignedResult } from './result.ts';

/** The engine reads the list of workers by what uses it. */
export { readWorkers, workersPath } from '../../attest/statement/job-result.ts';

/** A job whose workers were lost so often is given up. */
const mostDispatches = 3;
/** Workers that decline a dispatch again and again put off its time limit so often. */
const mostTakes = 5;
const noAnswer = 'the queue did not answer';
/** Others move the same ref at the remote only by answering. */
const mostTries = 5;

export interface DispatchOptions {
  readonly content: Content;
  /** Opens the queue; absent: workers look at the remote by themselves. */
  readonly queue: (hear: QueueNews) => Promise<JobQueue>;
  readonly workers: readonly ListedWorker[];
  /** Milliseconds without a worker that takes a job, and beyond the job's own time limit for one that took it. */
  readonly afterMs: number;
  readonly signal: AbortSignal;
  readonly fences: Fences;
  readonly monotonic: () => number;
  /** How often the remote is looked at where the queue says nothing; default two seconds. */
  readonly lookEachMs?: number;
}

/** The numbers of dispatches, as the run's journal keeps them. */
export interface Fences {
  /** That of the last dispatch unless it is over, else the next one; written down before it is used. */
  current(action: string): Promise<number>;
  /** Results of this dispatch do not count any more. */
  end(action: string, fence: number): Promise<void>;
}

/** A second valid result, and the one that counted. */
export interface ResultPair {
  readonly job: Job;
  readonly action: string;
  readonly first: SignedResult;
  readonly second: SignedResult;
}

/** Secrets of a job, and the only workers that get them and whose results count. */
export interface SecretsOfJob {
  readonly env: JobSecrets['env'];
  readonly label: string;
  readonly workers: readonly ListedWorker[];
}

/** Jobs of one run. */
export interface Dispatcher {
  /** The first valid result; `undefined` if no worker gave one in time: the job is withdrawn then. */
  run(
    job: Job,
    secrets?: SecretsOfJob,
  ): Promise<{ readonly action: string; readonly answer: SignedResult } | undefined>;
  /** Why results were refused, in words. */
  refusals(): readonly string[];
  /** Looks for valid results that came after the first. */
  pairs(): Promise<readonly ResultPair[]>;
  /**
   * Removes the refs of all jobs of this process from the remote, and of these jobs of earlier ones, and closes the
   * queue. False: some may be left.
   */
  close(before?: readonly string[]): Promise<boolean>;
}

interface Waiting {
  readonly action: string;
  readonly job: Job;
  readonly given: SecretsOfJob | undefined;
  /** Digest of the secrets of this dispatch. */
  secrets?: string;
  fence: number;
  commit: string;
  /** When it was last dispatched or taken, by a clock that never steps back. */
  since: number;
  takes: number;
  /** The ref of the job is at the remote. */
  isThere: boolean;
  answer?: SignedResult;
  /** Results by ref that were read or refused, by object id. */
  readonly seen: Map<string, string>;
  readonly others: SignedResult[];
}

/** Opens the dispatcher of a run. The queue is opened with the first job. */
export function openDispatcher(options: DispatchOptions): Dispatcher {
  const { content, workers, afterMs, signal, fences, monotonic, lookEachMs = 2000 } = options;
  const jobs = new Map<string, Waiting>();
  const workersOf = ({ given }: Waiting): readonly ListedWorker[] => given?.workers ?? workers;
  const refusals: string[] = [];
  let queue: Promise<JobQueue> | undefined;
  let wake = (): void => undefined;
  let news = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const ring = (): void => {
    const rang = wake;
    news = new Promise((resolve) => {
      wake = resolve;
    });
    rang();
  };
  const hear: QueueNews = (action, what) => {
    const job = jobs.get(action);
    if (job === undefined) return;
    if (what !== 'taken') return ring();
    job.takes += 1;
    if (job.takes <= mostTakes) job.since = monotonic();
  };
  const wakeUp = async ({ action, fence: number, given }: Waiting): Promise<void> => {
    queue ??= options.queue(hear);
    const isAdded = await (await queue).add({ action, fence: number }, given?.label);
    if (!isAdded && !refusals.includes(noAnswer)) refusals.push(noAnswer);
  };

  /** A remote that does not answer is like workers that do not: the time limit decides. */
  const away = (fault: unknown): void => {
    signal.throwIfAborted();
    if (!isWritError(fault, 'REMOTE_FAILED')) throw fault;
    if (!refusals.includes(fault.message)) refusals.push(fault.message);
  };
  let looking: Promise<void> | undefined;
  /** One look at the remote for all jobs; callers that come while it lasts wait for the next. */
  const look = async (isForAll = false): Promise<void> => {
    if (looking !== undefined) await looking.catch(() => undefined);
    looking ??= lookOnce(isForAll)
      .catch(away)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  const lookOnce = async (isForAll: boolean): Promise<void> => {
    const all = [...jobs.values()].filter(({ answer }) => isForAll || answer === undefined);
    if (all.length === 0) return;
    await content.bring(
      all.map(({ action }) => resultRef(action, '*')),
      signal,
    );
    const refs = all.flatMap((job) =>
      workersOf(job).map(({ keyId }) => ({ job, ref: resultRef(job.action, keyId) })),
    );
    const ids = await broughtIds(
      content.place,
      refs.map(({ ref }) => ref),
    );
    const news = refs.flatMap(({ job, ref }, at) => {
      const id = ids[at];
      return id === undefined || job.seen.get(ref) === id ? [] : [{ job, ref, id }];
    });
    for (const { job, ref, id } of news) {
      job.seen.set(ref, id);
      try {
        const result = await readResult(content.place, id, job, workersOf(job));
        if (job.answer === undefined) job.answer = result;
        else job.others.push(result);
      } catch (fault) {
        if (!isWritError(fault)) throw fault;
        refusals.push(`${job.job.for.check}: ${messageOf(fault)}`);
      }
    }
  };

  const dispatch = async (job: Waiting, bytes: Buffer): Promise<void> => {
    const number = await fences.current(job.action);
    const { given } = job;
    const recipients = workersOf(job).flatMap(({ recipient }) => recipient ?? []);
    const { sealed, sha256: secrets } =
      given === undefined
        ? {}
        : await sealSecrets({ action: job.action, fence: number }, given.env, recipients);
    const more = sealed === undefined ? {} : { sealed };
    const commit = await commitJob(content.place, { job: job.job, bytes, fence: number, ...more });
    Object.assign(job, { secrets, fence: number, commit, since: monotonic(), takes: 0, isThere: false });
    await publish(job).catch(away);
  };
  /** Moves the job's ref to the dispatch, and wakes workers up. */
  const publish = async (job: Waiting): Promise<void> => {
    const { action, commit } = job;
    const ref = jobRef(action);
    let from: string | null = null;
    let tries = 0;
    while (!job.isThere && !(await content.push([{ ref, from, to: commit }], signal))) {
      from = (await content.list([ref], signal)).get(ref) ?? null;
      tries += 1;
      if (from === commit || tries >= mostTries) break;
    }
    job.isThere = true;
    await wakeUp(job);
    // An earlier process dispatched it: there may be a result.
    if (tries > 0) await look();
  };
  /** Takes a job back: a worker that still works on it cannot publish any more, unless it has just done so. */
  const withdraw = async ({ action }: Waiting): Promise<void> => {
    const ref = jobRef(action);
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const from = (await content.list([ref])).get(ref);
      if (from === undefined || (await content.push([{ ref, from, to: null }]))) return;
    }
  };
  /** Removes the refs of jobs. A worker that answers just now moves them: then once more. */
  const remove = async (actions: ReadonlySet<string>): Promise<boolean> => {
    const patterns = [...actions].flatMap((action) => [jobRef(action), resultRef(action, '*')]);
    if (patterns.length === 0) return true;
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const left = [...(await content.list(patterns))];
      if (left.length === 0) return true;
      if (await content.push(left.map(([ref, from]) => ({ ref, from, to: null })))) return true;
    }
    return false;
  };

  return {
    async run(job, given) {
      const { bytes, action } = writeJob(job);
      const waiting: Waiting = {
        ...{ action, job, given, fence: 0, commit: '', since: monotonic(), takes: 0, isThere: false },
        seen: new Map(),
        others: [],
      };
      jobs.set(action, waiting);
      let next = news;
      await dispatch(waiting, bytes);
      for (let count = 1; ; ) {
        if (waiting.answer !== undefined) return { action, answer: waiting.answer };
        const limit = afterMs + (waiting.takes > 0 ? job.limits.timeoutMs : 0);
        if (monotonic() - waiting.since > limit) {
          if (count < mostDispatches && waiting.takes > 0) {
            count += 1;
            await fences.end(action, waiting.fence);
            await dispatch(waiting, bytes);
            continue;
          }
          await withdraw(waiting).catch(away);
          await look();
          if (waiting.answer !== undefined) return { action, answer: waiting.answer };
          await fences.end(action, waiting.fence);
          jobs.delete(action);
          return undefined;
        }
        const isNews = await endsWithin(lookEachMs, next, signal);
        signal.throwIfAborted();
        // Before the look: what is said while it lasts leads to another one.
        next = news;
        // A queue that lost everything gets the message again; it ignores a message that it has.
        if (!isNews) await publish(waiting).catch(away);
        await look();
      }
    },
    refusals: () => refusals,
    async pairs() {
      await look(true);
      return [...jobs.values()].flatMap(({ action, job, answer: first, others }) =>
        first === undefined ? [] : others.map((second) => ({ action, job, first, second })),
      );
    },
    async close(before = []) {
      await (await queue?.catch(() => undefined))?.close();
      const isRemoved = await remove(new Set([...jobs.keys(), ...before])).catch(() => false);
      await content.close();
      return isRemoved;
    },
  };
}
