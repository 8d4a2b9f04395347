import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { readEventStream } from '../../../core/base/event-stream.ts';
import type { HostilePlace } from './hostile-row.ts';
import { readAnswers } from './read-answers.ts';
import { markTarget, soundRequest } from './sound-request.ts';

/** What the repository and the subscribers have had since the last look. */
export interface Seen {
  readonly stored: readonly string[];
  readonly published: readonly string[];
}

/** The honest client, which listens to the events all the while. */
export interface Steward {
  /** Asks with the token; a body makes it a POST. Throws where the answer is not 200. */
  ask(target: string, body?: unknown): Promise<Answer>;
  /** Whether health, marks and events work as they should; takes the marks of others away. */
  look(): Promise<Seen>;
}

type Answer = Readonly<Record<string, unknown>>;
type Question = readonly [target: string, body?: unknown];

const alive = 'alive';
const patienceMs = 240_000;

/** A steward with an open event stream. */
export async function openSteward(t: Test, place: HostilePlace): Promise<Steward> {
  /** All on one connection at once, answered in order. */
  const askAll = async (...questions: readonly Question[]): Promise<readonly Answer[]> => {
    const requests = questions.map(([target, body], at) =>
      soundRequest(place, {
        target,
        headers: at === questions.length - 1 ? { connection: 'close' } : {},
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const octets: Buffer[] = [];
    for await (const part of send(place, Buffer.concat(requests))) octets.push(part);
    const { answers } = readAnswers(Buffer.concat(octets), false);
    return questions.map(([target], at) => {
      const answer = answers[at];
      if (answer?.status !== 200) throw new Error(`${target}: ${answer?.status} ${answer?.body}`);
      return JSON.parse(answer.body) as Answer;
    });
  };
  const stream = send(place, soundRequest(place, { target: '/api/service/events' }));
  t.teardown(() => stream.destroy());
  stream.setTimeout(0);
  let types: string[] = [];
  let awaken = (): void => {};
  const opened = Promise.withResolvers<void>();
  stream.once('data', () => opened.resolve());
  void follow(stream, ({ type, data }) => {
    if (type === 'dirty_marked' && data.paths?.join() === alive) awaken();
    else if (type !== 'service_lifecycle') types.push(type);
  });
  await opened.promise;
  return {
    ask: async (target, body) => (await askAll([target, body]))[0] ?? {},
    async look() {
      const back = new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('an event did not come')), patienceMs);
        awaken = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      const [health, list, mark] = await askAll(
        ['/api/health'],
        ['/api/service/dirty'],
        [markTarget, { paths: [alive] }],
      );
      if (health?.status !== 'ok') throw new Error('not healthy');
      if (String(mark?.marked) !== alive) throw new Error(`marked ${String(mark?.marked)}`);
      const stored = ((list?.marks ?? []) as readonly { readonly path: string }[])
        .map(({ path }) => path)
        .filter((path) => path !== alive);
      if (stored.length > 0) await askAll(['/api/service/dirty/clear', {}]);
      await back;
      const published = types;
      types = [];
      return { stored, published };
    },
  };
}

function send({ port }: HostilePlace, request: Uint8Array): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setTimeout(patienceMs, () => socket.destroy(new Error('no answer')));
  socket.write(request);
  return socket;
}

interface BusEvent {
  readonly type: string;
  readonly data: { readonly paths?: readonly string[] };
}

async function follow(stream: AsyncIterable<Uint8Array>, onEvent: (event: BusEvent) => void): Promise<void> {
  try {
    // What stands before the first event is no field that the reader knows.
    for await (const { data } of readEventStream(stream)) onEvent(JSON.parse(data) as BusEvent);
  } catch {
    // The test is over.
  }
}
