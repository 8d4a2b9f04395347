import { connect } from 'node:net';
import type { HostilePlace, HostileRow } from './hostile-row.ts';
import { type RawAnswer, readAnswers } from './read-answers.ts';
import { soundRequest } from './sound-request.ts';

/** Asks the service how it is. */
export function healthProbe(place: HostilePlace): Probe {
  return {
    octets: soundRequest(place, { headers: { connection: 'close' } }),
    answer: '{"status":"ok"}\n',
  };
}

/** What came of a row on its connection. */
export interface Exchanged {
  readonly answers: readonly RawAnswer[];
  /**
   * How the connection was left. `ended`: the server said that it would close, and did, without another octet. `in
   * step`: the next request on it got the next answer. Anything else is a fault.
   */
  readonly left: string;
}

const patienceMs = 240_000;
const dripMs = 50;

/** A request behind a row's on the same connection, and how its answer begins: whether both sides are in step. */
export interface Probe {
  readonly octets: Uint8Array;
  readonly answer: string;
}

/**
 * Sends a row's octets, reads its answers, and looks that neither side has taken anything for another message than it
 * was.
 */
export function exchange<Place extends { readonly port: number }>(
  place: Place,
  row: HostileRow<Place>,
  probe: Probe,
): Promise<Exchanged> {
  const octets = row.send(place);
  const bodiless = Buffer.from(octets.subarray(0, 5)).toString('latin1') === 'HEAD ';
  const wanted = row.answers.length;
  return new Promise((resolve) => {
    const socket = connect({ port: place.port, host: '127.0.0.1', allowHalfOpen: true });
    let received: Buffer = Buffer.alloc(0);
    let state: 'waiting' | 'ending' | 'probing' = row.halfCloses ? 'ending' : 'waiting';
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      socket.destroy();
    }, patienceMs);
    const drip = setInterval(() => row.drips && state === 'waiting' && socket.write(row.drips), dripMs);
    const look = (): void => {
      if (state !== 'waiting') return;
      const { answers } = readAnswers(received, bodiless);
      const last = answers[wanted - 1];
      if (last === undefined) return;
      if (last.headers.connection?.toLowerCase() === 'close') {
        state = 'ending';
        socket.end();
      } else {
        state = 'probing';
        socket.write(probe.octets);
      }
    };
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      look();
    });
    // A reset is a fault only where an answer is missing for it.
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(timer);
      clearInterval(drip);
      const sound = readAnswers(received, bodiless && state !== 'probing');
      const { answers, rest } = bodiless && state === 'probing' ? afterHead(received) : sound;
      const more = answers.slice(wanted);
      const left = describe(late, state, more, rest, probe.answer);
      resolve({ answers: answers.slice(0, wanted), left });
    });
    socket.write(octets);
    if (row.halfCloses) socket.end();
  });
}

/** The answer to a HEAD, and those to the requests behind it. */
function afterHead(received: Buffer): ReturnType<typeof readAnswers> {
  const end = received.indexOf('\r\n\r\n') + 4;
  const head = readAnswers(received.subarray(0, end), true);
  const { answers, rest } = readAnswers(received.subarray(end), false);
  return { answers: [...head.answers, ...answers], rest };
}

function describe(
  late: boolean,
  state: string,
  more: readonly RawAnswer[],
  rest: Buffer,
  probed: string,
): string {
  if (rest.length > 0) return `octets that are no answer: ${rest.toString('latin1').slice(0, 200)}`;
  if (late) return 'still open';
  if (state === 'probing' && more.length === 1 && more[0]?.body.startsWith(probed)) return 'in step';
  if (state === 'ending' && more.length === 0) return 'ended';
  return `${state}, with ${more.length} more answers`;
}
