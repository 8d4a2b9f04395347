/*
 * Wakes workers up by BullMQ on Redis or Valkey. Nothing rests on it: a message that is lost, repeated or late costs
 * time, and no verdict.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { WritError } from '../../core/base/errors.ts';

const queueName = 'writ-jobs';
/** Jobs with secrets have a queue for each label: no other worker takes their messages. */
const queueOf = (label?: string): string => (label === undefined ? queueName : `${queueName}.${label}`);
/** A forgotten connection keeps Node alive, and `close` may wait for a server that is gone. */
const closeWithinMs = 2000;
const addWithinMs = 2000;
/** A check runs in a child process, so the lock is renewed while it runs; a killed worker is noticed within these. */
const locks = { lockDuration: 15_000, stalledInterval: 5000, maxStalledCount: 5 };

/** What a message says: which job, and at which dispatch. The content comes from git alone. */
export interface WakeUp {
  readonly action: string;
  readonly fence: number;
}

/** What became of a message, as far as the queue knows. */
export type QueueNews = (action: string, news: 'taken' | 'ended') => void;

/** The queue, as a run uses it. */
export interface JobQueue {
  /**
   * Adds a message if there is none of this dispatch, for workers with a label or for all. False: the queue did not
   * answer in time.
   */
  add(wakeUp: WakeUp, label?: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The queue, as a worker uses it. */
export interface JobListener {
  /** Takes no more messages, and waits for those that it works on. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads the address of a Redis: `redis://`, `rediss://`, or the absolute path of a socket. JOB_QUEUE_UNUSABLE never
 * repeats it, since it may hold a password.
 */
function toOptions(address: string) {
  const common = { maxRetriesPerRequest: null, connectTimeout: 5000 };
  if (address.startsWith('/')) return { ...common, path: address };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const database = /^\/?(\d{0,4})$/.exec(url?.pathname ?? 'none')?.[1];
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || database === undefined)
    throw new WritError('JOB_QUEUE_UNUSABLE', {
      message:
        'the address of the queue is not usable; expected `redis://HOST`, `rediss://HOST` or the absolute path of a socket',
    });
  return {
    ...common,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    db: Number(database || 0),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

function idOf({ action, fence }: WakeUp): string {
  return `${action}.${fence}`;
}

/**
 * `hear` gets the code of a fault, once for each outage: what a server says of it may hold its address. `end` ends the
 * connection and the copies that BullMQ makes of it, which would wait for ever for a server that is away.
 */
async function connect(
  address: string,
  hear: (code: string) => void,
): Promise<{ readonly connection: Redis; end(): void }> {
  const { Redis } = await import('ioredis');
  const connection = new Redis(toOptions(address));
  const all = [connection];
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (...given) => {
    const copy = duplicate(...given);
    all.push(copy);
    return copy;
  };
  let isOut = false;
  connection.on('ready', () => {
    isOut = false;
  });
  connection.on('error', (fault: { readonly code?: unknown; readonly message?: string }) => {
    if (!isOut) hear(String(fault.code ?? /^[A-Z]{4,20}\b/.exec(fault.message ?? '')?.[0] ?? 'no answer'));
    isOut = true;
  });
  const end = (): void => {
    for (const one of all) one.disconnect();
  };
  return { connection, end };
}

/** Opens the queue for a run; `hear` gets what the queue says of messages. Never throws for a server that is away. */
export async function openQueue(address: string, hear: QueueNews): Promise<JobQueue> {
  const { connection, end } = await connect(address, () => undefined);
  const { Queue, QueueEvents } = await import('bullmq');
  const actionOf = (id: string): string => id.split('.')[0] ?? '';
  const open = (name: string) => {
    const queue = new Queue<WakeUp>(name, { connection });
    const events = new QueueEvents(name, { connection });
    // They connect again by themselves.
    queue.on('error', () => undefined);
    events.on('error', () => undefined);
    events.on('active', ({ jobId }) => hear(actionOf(jobId), 'taken'));
    events.on('completed', ({ jobId }) => hear(actionOf(jobId), 'ended'));
    events.on('failed', ({ jobId }) => hear(actionOf(jobId), 'ended'));
    return { queue, events };
  };
  const opened = new Map([[queueName, open(queueName)]]);
  return {
    add(wakeUp, label) {
      const name = queueOf(label);
      const found = opened.get(name) ?? open(name);
      opened.set(name, found);
      const once = { jobId: idOf(wakeUp), removeOnComplete: true, removeOnFail: true };
      return endsWithin(addWithinMs, found.queue.add('job', wakeUp, once));
    },
    async close() {
      const all = [...opened.values()].flatMap(({ queue, events }) => [queue, events]);
      await Promise.all(all.map((one) => endsWithin(closeWithinMs, one.close())));
      end();
    },
  };
}

/**
 * Listens for messages, also those for the labels, and works on `concurrency` of each at once. `work` never rejects;
 * `hear` gets the code of a fault of the queue.
 */
export async function listenToQueue(
  address: string,
  { concurrency, labels }: { readonly concurrency: number; readonly labels: readonly string[] },
  work: (wakeUp: WakeUp) => Promise<void>,
  hear: (code: string) => void,
): Promise<JobListener> {
  const { connection, end } = await connect(address, hear);
  const { Worker } = await import('bullmq');
  const working = new Set<Promise<void>>();
  const workers = [queueOf(), ...labels.map(queueOf)].map((name) => {
    const worker = new Worker<WakeUp>(
      name,
      async ({ data: { action, fence } }) => {
        if (!/^[0-9a-f]{64}$/.test(action) || !Number.isSafeInteger(fence)) return;
        const one = work({ action, fence });
        working.add(one);
        await one.finally(() => working.delete(one));
      },
      { connection, concurrency, ...locks },
    );
    worker.on('error', () => undefined);
    return worker;
  });
  return {
    async drain() {
      const closing = Promise.all(workers.map((worker) => worker.close()));
      do await Promise.all(working);
      while (!(await endsWithin(closeWithinMs, closing)) && working.size > 0);
    },
    async close() {
      await Promise.all(workers.map((worker) => endsWithin(closeWithinMs, worker.close(true))));
      end();
    },
  };
}

/** True if it ends well within so many milliseconds, and before the signal. */
export async function endsWithin(
  ms: number,
  doing: Promise<unknown>,
  signal?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const stop = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const late = sleep(ms, false, { signal: stop }).catch(() => false);
  const done = doing.then(
    () => true,
    () => false,
  );
  const answer = await Promise.race([done, late]);
  over.abort();
  return answer;
}
