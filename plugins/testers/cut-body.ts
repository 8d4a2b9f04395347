import { setTimeout as wait } from 'node:timers/promises';

/** Pieces of one play at most: what is beyond comes as one. */
const maxPieces = 48;
/** Lengths of the pieces that an answer comes in, whatever it holds. */
const lengths = [1, 7, 2, 60, 3, 200];

/** Something that takes the octets of an answer. */
interface Taker {
  write(bytes: Buffer): unknown;
}

/** The ways that a body is played, by name, each in its pieces. */
export function playsOf(body: Buffer): ReadonlyMap<string, readonly Buffer[]> {
  const places = (holds: (at: number) => boolean) => [...body.keys()].filter((at) => at > 0 && holds(at));
  const plays = new Map([
    [
      'in pieces',
      piecesOf(
        body,
        places((at) => unevenly(at)),
      ),
    ],
  ]);
  // What continues a character of UTF-8 is 10xxxxxx.
  const within = places((at) => ((body[at] ?? 0) & 0xc0) === 0x80);
  if (within.length > 0) plays.set('cut within characters', piecesOf(body, within));
  const frames = places((at) => body[at - 1] === 10);
  if (frames.length > 0) plays.set('cut after each line', piecesOf(body, frames));
  return plays;
}

/** The body line by line. */
export function linesOf(body: Buffer): readonly Buffer[] {
  return piecesOf(
    body,
    [...body.keys()].filter((at) => at > 0 && body[at - 1] === 10),
  );
}

/** Sends pieces so long apart, in milliseconds, that they arrive apart. */
export async function sendApart(taker: Taker, pieces: readonly Buffer[], apartMs: number): Promise<void> {
  for (const piece of pieces) {
    taker.write(piece);
    await pause(apartMs);
  }
}

export async function pause(ms: number): Promise<void> {
  if (ms > 0) await wait(ms);
  else await new Promise((sent) => setImmediate(sent));
}

function piecesOf(body: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const taken = cuts.slice(0, maxPieces - 1);
  return [0, ...taken].map((at, index) => body.subarray(at, taken[index] ?? body.length));
}

const period = lengths.reduce((sum, length) => sum + length, 0);

function unevenly(at: number): boolean {
  let rest = at % period;
  for (const length of lengths) {
    if (rest === 0) return true;
    rest -= length;
    if (rest < 0) return false;
  }
  return false;
}
