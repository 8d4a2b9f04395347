import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openClient } from '../../http/broadcast/start-stream-server.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { exchange, type Probe } from '../../service/hostile/exchange.ts';
import type { HostileRow } from '../../service/hostile/hostile-row.ts';
import { judgeAnswer } from '../../service/hostile/judge-answer.ts';
import { soundRequest } from '../../service/hostile/sound-request.ts';
import { serveSession } from '../api/serve-session.ts';
import { addressMutations } from './address-mutations.ts';
import { bodyMutations } from './body-mutations.ts';
import { controlMutations } from './control-mutations.ts';
import type { Mutation } from './mutation.ts';
import {
  allRoutes,
  openSessionPlace,
  type Scene,
  type ServedPlace,
  type SessionPlace,
} from './open-session-place.ts';
import { type RouteLine, routeLines } from './route-lines.ts';
import { routeMutations } from './route-mutations.ts';

const themes: Readonly<Record<string, readonly Mutation[]>> = {
  ...addressMutations,
  ...bodyMutations,
  ...controlMutations,
  ...routeMutations,
};
const root = join(import.meta.dirname, '../../..');

function rowOf(
  place: SessionPlace,
  line: RouteLine,
  { says, send, comes }: Mutation,
): HostileRow<SessionPlace> {
  const { comes: told = { status: 200 } } = line;
  const sound = typeof told === 'function' ? told(place) : told;
  const refused = comes === 'sound' ? sound : typeof comes === 'function' ? comes(line) : comes;
  const isSooner = line.isForAutomation && place.kind === 'browser' && refused.code === 'INVALID_BODY';
  const expected = isSooner ? sound : refused;
  return {
    says: `${line.method} ${line.path}: ${says}`,
    send: (place) => send(place, line),
    answers: [expected],
  };
}

/** The next request on the same connection; without a session it has the answer of all others. */
function probeOf(place: SessionPlace): Probe {
  const headers = { 'x-svc-service-token': undefined, connection: 'close' };
  const octets = soundRequest(place, { target: '/api/code/session', headers });
  return { octets, answer: place.scene === 'without a session' ? '{"error"' : '{"sessionId":"s"' };
}

/** What is wrong with what came of a row; nothing where it is as expected, and has changed nothing it may not. */
async function judge(
  place: ServedPlace,
  line: RouteLine,
  row: HostileRow<SessionPlace>,
): Promise<readonly string[]> {
  await place.settle(line.needsQuestion === true);
  const before = place.served.channel.state;
  const [expected] = row.answers;
  if (expected === undefined) return ['no answer is expected'];
  if (line.streams && expected.status === 200) return judgeStream(place, row);
  const sent = row.send(place);
  const { answers, left } = await exchange(place, row, probeOf(place));
  const [answer] = answers;
  if (answer === undefined) return [`expected ${expected.status}, found no answer`];
  const isChanged = expected.status !== 200 && place.served.channel.state !== before;
  return [
    ...judgeAnswer(place, sent, expected, answer),
    ...(left === 'in step' || left === 'ended' ? [] : [left]),
    ...(isChanged ? ['what was refused has changed the session'] : []),
    ...(answer.body.includes(place.lease) && !line.path.endsWith('/attach')
      ? ['it gives away the lease token']
      : []),
  ];
}

async function judgeStream(place: ServedPlace, row: HostileRow<SessionPlace>): Promise<readonly string[]> {
  const client = openClient(place.port, Buffer.from(row.send(place)).toString('latin1'));
  const text = await client.sees('event: session_updated\n').catch(String);
  client.socket.destroy();
  return text.startsWith('HTTP/1.1 200 ') ? [] : [text];
}

const scenes: readonly Scene[] = [
  'held by a browser',
  'held by an automation',
  'closed to all',
  'without a session',
];

/** Judges every route that a mutation is for; answers what was said of each row. */
async function judgeAll(
  t: Test,
  chosen: readonly Mutation[],
  places: Readonly<Record<string, ServedPlace>>,
): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const mutation of chosen) {
    const place = places[mutation.scene];
    for (const line of routeLines) {
      if (place === undefined || !mutation.on(line)) continue;
      const row = rowOf(place, line, mutation);
      t.strictSame(await judge(place, line, row), [], row.says);
      rows.push(`${mutation.scene}: ${row.says}`);
    }
  }
  return rows;
}

long('hostile requests to a session get the expected answer and change nothing', async (t) => {
  const places = Object.fromEntries(
    await Promise.all(scenes.map(async (scene) => [scene, await openSessionPlace(t, scene)] as const)),
  );
  const rows: string[] = [];
  for (const [theme, all] of Object.entries(themes)) {
    await t.test(theme, async (t) => {
      const table = Object.fromEntries(all.map((one, at) => [`${at}: ${one.scene}, ${one.says}`, one]));
      const kept = Object.keys(table).filter((_, at) => at % 9 === 0);
      const chosen = casesOf(table, kept).map(([, one]) => one);
      rows.push(...(await judgeAll(t, chosen, places)).map((says) => `${theme}: ${says}`));
    });
  }
  for (const { served } of Object.values(places))
    t.strictSame(served.faults, [], 'no row is a fault of ours');
  t.equal(new Set(rows).size, rows.length, 'every row is there once');
  t.comment(`${rows.length} rows`);
});

t.test('the table of hostile requests lists every route of the session', async (t) => {
  const named = routeLines.map(({ method, path }) => `${method} ${path}`).sort();
  const { channel, clock } = await serveSession(t);
  const served = allRoutes({ channel: () => channel, clock }).map(({ method, path }) => `${method} ${path}`);
  t.strictSame(served.sort(), named);
  const sources = globSync('session/**/*.ts', { cwd: root }).map((path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  const written = sources.flatMap((text) =>
    [...text.matchAll(/['"`](\/api\/code\/[^'"`?$]*)['"`]/g)].map(([, path]) => path),
  );
  t.ok(written.length >= named.length);
  const paths: readonly string[] = routeLines.map(({ path }) => path);
  t.strictSame(
    [...new Set(written)].filter((path = '') => !paths.includes(path)),
    [],
  );
});
