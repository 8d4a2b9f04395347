/* Dispatches the jobs of a run to workers, waits for their signed results, and compares results that come twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { type Content, commitJob, jobRef, resultRef } from './content.ts';
import { type Job, writeJob } from './job.ts';
import type { JobQueue, QueueNews } from './queue.ts';
import { type ListedWorker, outcomeOf, readResult, type SignedResult } from './result.ts';

/** How often the remote is looked at where the queue says nothing, and messages are added again. */
const lookEachMs = 2000;
/** A job whose workers were lost so often is given up. */
const mostDispatches = 3;

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
}

/** The numbers of dispatches, as the run's journal keeps them. */
export interface Fences {
  /** That of the last dispatch unless it is over, else the next one; written down before it is used. */
  current(action: string): Promise<number>;
  /** Results of this dispatch do not count any more. */
  end(action: string, fence: number): Promise<void>;
}

/** A second result that differs from the one that counted. */
export interface Disagreement {
  readonly job: Job;
  readonly action: string;
  readonly first: SignedResult;
  readonly second: SignedResult;
}

/** Jobs of one run. */
export interface Dispatcher {
  /** The first valid result; `undefined` if no worker gave one in time: the job is withdrawn then. */
  run(job: Job): Promise<{ readonly action: string; readonly answer: SignedResult } | undefined>;
  /** Why results were refused, in words. */
  refusals(): readonly string[];
  /** Looks for results that came after the first, and returns those that differ. */
  disagreements(): Promise<readonly Disagreement[]>;
  /** Removes the refs of all jobs of this process from the remote, and closes the queue. */
  close(): Promise<void>;
}

interface Waiting {
  readonly action: string;
  readonly job: Job;
  fence: number;
  commit: string;
  /** When it was last dispatched or taken, by a clock that never steps back. */
  since: number;
  taken: boolean;
  answer?: SignedResult;
  /** Results by ref that were read or refused, by object id. */
  readonly seen: Map<string, string>;
  readonly others: SignedResult[];
}

/** Opens the dispatcher of a run. The queue is opened with the first job. */
export function openDispatcher(options: DispatchOptions): Dispatcher {
  const { content, workers, afterMs, signal, fences, monotonic } = options;
  const jobs = new Map<string, Waiting>();
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
    if (what === 'taken') Object.assign(job, { taken: true, since: monotonic() });
    else ring();
  };
  const wakeUp = async ({ action, fence: number }: Waiting): Promise<void> => {
    queue ??= options.queue(hear);
    await (await queue).add({ action, fence: number });
  };

  let looking: Promise<void> | undefined;
  /** One look at the remote for all jobs; callers that come while it lasts wait for the next. */
  const look = async (): Promise<void> => {
    if (looking !== undefined) await looking.catch(() => undefined);
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const lookOnce = async (): Promise<void> => {
    const all = [...jobs.values()];
    if (all.length === 0) return;
    const listed = await content.list(
      all.map(({ action }) => resultRef(action, '*')),
      signal,
    );
    const news = all.flatMap((job) =>
      workers.flatMap(({ keyId }) => {
        const ref = resultRef(job.action, keyId);
        const id = listed.get(ref);
        return id === undefined || job.seen.get(ref) === id ? [] : [{ job, ref, id }];
      }),
    );
    if (news.length === 0) return;
    await content.bring(
      news.map(({ ref }) => ref),
      signal,
    );
    for (const { job, ref, id } of news) {
      job.seen.set(ref, id);
      try {
        const result = await readResult(content.place, id, job, workers);
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
    const commit = await commitJob(content.place, { job: job.job, bytes, fence: number });
    const ref = jobRef(job.action);
    for (let tries = 1; ; tries += 1) {
      const from = (await content.list([ref], signal)).get(ref) ?? null;
      if (from === commit || (await content.push([{ ref, from, to: commit }], signal))) break;
      if (tries >= 5)
        throw new WritError('WORKERS_ABSENT', {
          message: 'another process moves the same job at the remote',
        });
    }
    Object.assign(job, { fence: number, commit, since: monotonic(), taken: false });
    await wakeUp(job);
  };
  /** Takes a job back: a worker that still works on it cannot publish any more, unless it has just done so. */
  const withdraw = async ({ action }: Waiting): Promise<void> => {
    const ref = jobRef(action);
    for (let tries = 1; tries <= 5; tries += 1) {
      const from = (await content.list([ref])).get(ref);
      if (from === undefined || (await content.push([{ ref, from, to: null }]))) return;
    }
  };

  return {
    async run(job) {
      const { bytes, action } = writeJob(job);
      const waiting: Waiting = {
        ...{ action, job, fence: 0, commit: '', since: monotonic(), taken: false },
        seen: new Map(),
        others: [],
      };
      jobs.set(action, waiting);
      await dispatch(waiting, bytes);
      for (let count = 1; ; ) {
        await look();
        if (waiting.answer !== undefined) return { action, answer: waiting.answer };
        const limit = afterMs + (waiting.taken ? job.limits.timeoutMs : 0);
        if (monotonic() - waiting.since > limit) {
          if (count < mostDispatches && waiting.taken) {
            count += 1;
            await fences.end(action, waiting.fence);
            await dispatch(waiting, bytes);
            continue;
          }
          await withdraw(waiting);
          await look();
          if (waiting.answer !== undefined) return { action, answer: waiting.answer };
          await fences.end(action, waiting.fence);
          jobs.delete(action);
          return undefined;
        }
        const stop = new AbortController();
        const rest = sleep(lookEachMs, 'late', { signal: stop.signal }).catch(() => 'late');
        const aborted = new Promise<'late'>((resolve) =>
          signal.addEventListener('abort', () => resolve('late'), { once: true, signal: stop.signal }),
        );
        const came = await Promise.race([news.then(() => 'news'), rest, aborted]);
        stop.abort();
        signal.throwIfAborted();
        // A queue that lost everything is told again; it ignores a message that it has.
        if (came === 'late') await wakeUp(waiting);
      }
    },
    refusals: () => refusals,
    async disagreements() {
      await look();
      return [...jobs.values()].flatMap(({ action, job, answer, others }) =>
        others.flatMap((second) =>
          answer === undefined || JSON.stringify(outcomeOf(answer)) === JSON.stringify(outcomeOf(second))
            ? []
            : [{ action, job, first: answer, second }],
        ),
      );
    },
    async close() {
      await (await queue?.catch(() => undefined))?.close();
      const patterns = [...jobs.keys()].flatMap((action) => [jobRef(action), resultRef(action, '*')]);
      if (patterns.length === 0) return;
      const left = await content.list(patterns).catch(() => new Map<string, string>());
      if (left.size > 0)
        await content.push([...left].map(([ref, from]) => ({ ref, from, to: null }))).catch(() => false);
    },
  };
}
