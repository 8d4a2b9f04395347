/* The faults of a round: each happens once, and is over when its promise resolves. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnKey } from '../../../attest/keys/key-signer.ts';
import { type Content, openContent, readFiles, resultRef } from '../../../plugins/workers/content.ts';
import { endsWithin } from '../../../plugins/workers/queue.ts';
import { commitResult, type JobResult } from '../../../plugins/workers/result.ts';
import { startWorker } from '../../engine/workers/local-queue.ts';
import type { Fault } from '../../plugins/store/fault-proxy.ts';
import { instant } from '../../waiting/instant.ts';
import type { Engine, Parts, Service } from './scene.ts';

export interface FaultPlace {
  readonly parts: Parts;
  readonly random: () => number;
  /** The engine that runs now. */
  readonly engine: () => Engine;
  /** Exit code that a lying worker claims. */
  readonly lie: number;
}

type FaultOf = (place: FaultPlace) => Promise<unknown>;

const between = (random: () => number, from: number, to: number): number =>
  Math.round(from + (to - from) * random());

const turns = new WeakMap<Service, Promise<unknown>>();

/** Faults of one service come one after the other. */
function inTurn(service: Service, act: () => Promise<void>): Promise<void> {
  const turn = (turns.get(service) ?? Promise.resolve()).then(act);
  turns.set(
    service,
    turn.catch(() => undefined),
  );
  return turn;
}

function away(service: Service, random: () => number): Promise<void> {
  return inTurn(service, async () => {
    await service.kill();
    await instant(between(random, 0, 2000));
    await service.start();
  });
}

function anyOf<T>(all: readonly T[], random: () => number): T {
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) throw new Error('an empty list');
  return one;
}

/** A process stops, and goes on later: what it held may be another's by then. */
function pause(service: Service, ms: number): Promise<void> {
  return inTurn(service, async () => {
    const child = service.child();
    child?.kill('SIGSTOP');
    await instant(ms);
    child?.kill('SIGCONT');
  });
}

export const faults = {
  'the engine is killed': async ({ engine }) => engine().kill(false),
  'the engine is killed with its children': async ({ engine }) => engine().kill(true),
  'a worker is killed': ({ parts, random }) => away(anyOf(parts.workers, random), random),
  'both workers are killed': ({ parts, random }) =>
    Promise.all(parts.workers.map((one) => away(one, random))),
  'a worker is paused': ({ parts, random }) =>
    pause(anyOf(parts.workers, random), between(random, 500, random() < 0.2 ? 20_000 : 5000)),
  'Redis is killed': ({ parts, random }) => away(parts.redis, random),
  'Redis forgets everything': async ({ parts, random }) => {
    const { Redis } = await import('ioredis');
    const client = new Redis({ path: parts.redis.socket, maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    for (let count = between(random, 1, 4); count > 0; count -= 1) {
      await client.flushall().catch(() => undefined);
      await instant(between(random, 10, 800));
    }
    client.disconnect();
  },
  'messages are repeated and reordered': repeatMessages,
  'the bucket is away': ({ parts, random }) =>
    bucketFaults(parts, between(random, 300, 3000), () => 'cut-request'),
  'the bucket fails at random': ({ parts, random }) =>
    bucketFaults(parts, between(random, 1000, 5000), (method) => {
      if (random() < 0.6) return undefined;
      const isRead = method === 'GET';
      const all: readonly Fault[] = [
        ...([500, 502, 503, 429, 409] as const).map((answer) => ({ answer })),
        ...(['cut-request', 'lost-answer', 'cut-answer'] as const),
        ...(isRead ? (['wrong-bytes', 'longer'] as const) : []),
      ];
      return anyOf(all, random);
    }),
  'the ledger is killed': ({ parts, random }) => away(parts.ledger, random),
  'the ledger is paused': ({ parts, random }) => pause(parts.ledger, between(random, 300, 3000)),
  'the witness refuses': async ({ parts, random }) => {
    parts.ledger.witness.mood = () => (random() < 0.5 ? { status: 503 } : undefined);
    await instant(between(random, 500, 3000));
    parts.ledger.witness.mood = () => undefined;
  },
  'a worker lies': lie,
  'a worker that is not listed takes jobs': async ({ parts, random }) => {
    const { content, redis, root, plain } = parts;
    const worker = await startWorker('stranger', {
      ...{ content, queue: redis.socket, home: join(root, 'stranger'), env: plain },
    });
    await instant(between(random, 500, 3000));
    await worker.stop('SIGKILL');
  },
  'the git remote of jobs is away': async ({ parts: { content }, random }) => {
    if (!existsSync(content)) return;
    renameSync(content, `${content}.away`);
    await instant(between(random, 300, 4000));
    renameSync(`${content}.away`, content);
  },
} as const satisfies Readonly<Record<string, FaultOf>>;

async function bucketFaults(
  { s3 }: Parts,
  ms: number,
  faultOf: (method: string) => Fault | undefined,
): Promise<void> {
  s3.fault = ({ method }) => faultOf(method);
  await instant(ms);
  s3.fault = undefined;
}

const jobsOf = ({ gitIn, content }: Parts): readonly (readonly [action: string, commit: string])[] =>
  existsSync(content)
    ? gitIn(content, 'for-each-ref', '--format=%(refname:lstrip=3) %(objectname)', 'refs/writ/jobs')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split(' ') as [string, string])
    : [];

/** Messages of jobs that exist, of dispatches that do not, and of jobs that never were, the newest first. */
async function repeatMessages({ parts, random }: FaultPlace): Promise<void> {
  const [{ Queue }, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
  const connection = new Redis({ path: parts.redis.socket, maxRetriesPerRequest: 1 });
  connection.on('error', () => undefined);
  const queue = new Queue('writ-jobs', { connection });
  queue.on('error', () => undefined);
  for (let count = between(random, 3, 15); count > 0; count -= 1) {
    const known = jobsOf(parts).map(([action]) => action);
    const none = createHash('sha256').update(`${random()}`).digest('hex');
    const action = random() < 0.8 && known.length > 0 ? anyOf(known, random) : none;
    const message = { action, fence: between(random, 1, 3) };
    const how = { lifo: random() < 0.5, removeOnComplete: true, removeOnFail: true };
    // Redis may be killed meanwhile, and BullMQ would wait for ever.
    await endsWithin(1000, queue.add('job', message, how));
    await instant(between(random, 20, 300));
  }
  connection.disconnect();
}

/** For every job, a result that claims the opposite: under the key of a listed worker, replayed, or altered. */
async function lie({ parts, random, lie: exitCode }: FaultPlace): Promise<void> {
  const directory = join(parts.root, 'liar.git');
  mkdirSync(directory, { recursive: true });
  const over = { objectFormat: 'sha1', objectsDir: join(directory, 'objects') } as const;
  const content = await openContent(directory, { address: parts.content, shown: 'content' }, { over });
  const stranger = await openOwnKey(join(parts.root, 'liar'), 'worker', 'ed25519');
  const listed = parts.workers.map(({ line }) => keyIdOf(line));
  const output = { bytes: Buffer.from('lies\n'), totalBytes: 5, truncated: false };
  const result = { timedOut: false, aborted: false, durationMs: 1, stdout: output, stderr: output };
  const claim: JobResult = {
    result: { ...result, exitCode, combined: output },
    ...{ reports: [], unread: [], written: [], isCut: false },
  };
  const done = new Set<string>();
  const until = Date.now() + between(random, 1000, 5000);
  while (Date.now() < until) {
    for (const [action, commit] of jobsOf(parts)) {
      if (done.has(commit)) continue;
      done.add(commit);
      const keyId = anyOf(listed, random);
      await tell(content, action, keyId, async () =>
        random() < 0.5
          ? commitResult(content.place, { action, fence: await fenceOf(content, action) }, claim, stranger)
          : replayOf(parts, content),
      ).catch(() => undefined);
    }
    await instant(100);
  }
  await content.close();
}

/** Key ids are SHA-256 of the key in DER. */
function keyIdOf(line: string): string {
  const der = Buffer.from(line.split(' ').at(-1) ?? '', 'base64');
  return createHash('sha256').update(der).digest('hex');
}

async function fenceOf(content: Content, action: string): Promise<number> {
  const ref = `refs/writ/jobs/${action}`;
  await content.bring([ref]);
  return Number((await readFiles(content.place, ref, ['fence'], 100)).get('fence'));
}

/** Any honest result that is there: it is about another job, or about another dispatch. */
async function replayOf({ gitIn, content: address }: Parts, content: Content): Promise<string> {
  await content.bring(['refs/writ/results/*']);
  const [commit] = gitIn(address, 'for-each-ref', '--format=%(objectname)', 'refs/writ/results').split('\n');
  if (commit === undefined || commit === '') throw new Error('nothing to replay');
  return commit;
}

async function tell(
  content: Content,
  action: string,
  keyId: string,
  make: () => Promise<string>,
): Promise<void> {
  const ref = resultRef(action, keyId);
  const commit = await make();
  await content.push([{ ref, from: (await content.list([ref])).get(ref) ?? null, to: commit }]);
}
