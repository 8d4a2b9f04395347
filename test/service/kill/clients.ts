import { Client } from 'undici';
import { readEventStream } from '../../../core/base/event-stream.ts';
import { instant } from '../../waiting/instant.ts';
import type { KnownMarks } from './known-marks.ts';

/** What clients do to one instance until it is gone. */
export interface ClientPlan {
  readonly url: string;
  readonly token: string;
  readonly writers: number;
  /** Rows in all: the database stays smaller than a page. */
  readonly rows: number;
  /** `pages`: clears of what was there before, in parts; `all`: whatever is there. */
  readonly clears: 'none' | 'pages' | 'all';
  readonly random: () => number;
}

export interface RunningClients {
  readonly acknowledged: () => number;
  readonly cleared: () => number;
  /** Whether every row is sent and every clear asked for; who listens still does. */
  readonly asksNoMore: () => boolean;
  /** Complaints, once every connection is gone. */
  readonly done: Promise<readonly string[]>;
  /** No request is begun after it. */
  stop(): void;
}

const maxBatch = 200;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Starts writers, a listener and perhaps one who clears; what they learn goes into `known`. */
export function runClients(plan: ClientPlan, known: KnownMarks): RunningClients {
  const { url, token, random } = plan;
  const complaints: string[] = [];
  let acknowledged = 0;
  let cleared = 0;
  let rowsLeft = plan.rows;
  let stopped = false;
  const listening = new Client(url, { bodyTimeout: 0 });

  /** `undefined` where the service did not answer to the end. */
  const ask = async (client: Client, path: string, body: unknown): Promise<Answer | undefined> => {
    try {
      const answer = await client.request({
        method: 'POST',
        path,
        headers: { 'x-svc-service-token': token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] };
    } catch {
      return undefined;
    }
  };

  const write = async (): Promise<void> => {
    const client = new Client(url);
    while (!stopped && rowsLeft > 0) {
      const { number, paths } = known.nextBatch(1 + Math.floor(maxBatch * random() ** 2));
      rowsLeft -= paths.length;
      const answer = await ask(client, '/api/service/dirty/mark', { paths: paths.toReversed() });
      if (answer === undefined) break;
      if (answer.status !== 200 || JSON.stringify(answer.body.marked) !== JSON.stringify(paths))
        complaints.push(
          `batch ${number} was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 200)}`,
        );
      else known.batchCommitted(number);
      acknowledged += 1;
    }
    await client.destroy();
  };

  const clear = async (): Promise<void> => {
    const client = new Client(url);
    for (let left = known.settled.length; !stopped; ) {
      await instant(random() * 15);
      const limit = plan.clears === 'all' ? undefined : 1 + Math.floor(random() * 300);
      if (limit !== undefined && limit > left) break;
      left -= limit ?? 0;
      known.clearSent(limit);
      const answer = await ask(client, '/api/service/dirty/clear', limit === undefined ? {} : { limit });
      if (answer === undefined) break;
      const removed = answer.body.cleared as readonly { readonly path: string }[] | undefined;
      if (answer.status !== 200 || removed === undefined)
        complaints.push(
          `a clear was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 200)}`,
        );
      else complaints.push(...known.clearAnswered(removed.map(({ path }) => path)));
      cleared += 1;
    }
    await client.destroy();
  };

  const listen = async (opened: () => void): Promise<void> => {
    let last = 0;
    try {
      const path = '/api/service/events';
      const { statusCode, body } = await listening.request({
        method: 'GET',
        path,
        headers: { 'x-svc-service-token': token },
      });
      opened();
      if (statusCode !== 200) complaints.push(`the event stream was answered ${statusCode}`);
      for await (const { type, data } of readEventStream(body)) {
        const event = JSON.parse(data) as {
          readonly seq: number;
          readonly data: { readonly paths?: readonly string[] };
        };
        if (event.seq !== last + 1) complaints.push(`event ${event.seq} came after event ${last}`);
        last = event.seq;
        // Told means durable.
        if (type === 'dirty_marked')
          known.batchCommitted(Number(/^b(\d+)\//.exec(event.data.paths?.[0] ?? '')?.[1]));
      }
    } catch {
      // It was killed.
    } finally {
      opened();
      await listening.destroy();
    }
  };

  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const all = [listen(open)];
  let asksNoMore = false;
  all.push(
    opened.then(async () => {
      const busy = Array.from({ length: plan.writers }, write);
      if (plan.clears !== 'none') busy.push(clear());
      await Promise.all(busy);
      asksNoMore = true;
    }),
  );
  return {
    acknowledged: () => acknowledged,
    cleared: () => cleared,
    asksNoMore: () => asksNoMore,
    done: Promise.all(all).then(() => complaints),
    stop() {
      stopped = true;
    },
  };
}
