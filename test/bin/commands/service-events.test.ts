import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { toFrame } from '../../../http/broadcast.ts';
import { formatDiscovery, openPrivateDirectory } from '../../../http/private-files.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { long } from '../../rooms/long.ts';
import {
  makeServed,
  type ServedRepository,
  type StartedService,
  startService,
} from '../../service/started-service.ts';
import { runWrit, type StartedWrit, startWrit, type WritPlace } from '../start-writ.ts';

interface Event {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A `writ service events` whose stream stands. */
async function follow(t: Test, place: WritPlace, ...more: readonly string[]): Promise<StartedWrit> {
  const events = startWrit(['service', 'events', ...more], place);
  t.teardown(() => events.child.kill('SIGKILL'));
  await events.until(() => events.err().includes('following '));
  return events;
}

/** Each line a whole JSON document. */
function parseLines(text: string): readonly Event[] {
  t.match(text, /\n$/);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
}

async function notify(service: StartedService, type: string, data: Event['data']): Promise<void> {
  t.equal((await service.ask('/api/service/notify', { type, data })).status, 200);
}

long('`service events` streams every event to people and scripts until the service ends', async (t) => {
  const place = makeServed(t);
  const service = await startService(t, place);
  const script = await follow(t, place, '--json');
  const human = await follow(t, place);
  await service.ask('/api/service/dirty/mark', { paths: ['b', 'a'] });
  const emoji = '👩🏽🚀'.repeat(4_000);
  await notify(service, 'build done', { emoji });
  // What could move a cursor, reorder or hide text; `\x9b` alone starts a sequence on some terminals.
  const evil = '\u001b[31mred\u202e\u0007\u009b2J\u2028end';
  await notify(service, `evil\u202e`, { evil });
  service.child.kill('SIGTERM');
  t.strictSame([await script.ended, await human.ended, await service.ended], [0, 0, 0]);

  const events = parseLines(script.out());
  t.match(events, [
    { seq: 1, type: 'service_lifecycle', data: { event: 'started', base_url: service.url } },
    { seq: 2, type: 'dirty_marked', data: { paths: ['a', 'b'] } },
    { seq: 3, type: 'build done', data: { emoji } },
    { seq: 4, type: 'evil\u202e', data: { evil } },
    { seq: 5, type: 'service_lifecycle', data: { event: 'stopping' } },
  ]);
  t.equal(events.length, 5);
  for (const { at, ...rest } of events) {
    t.match(at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    t.strictSame(Object.keys(rest), ['seq', 'type', 'data']);
  }

  const lines = human.out().split('\n');
  t.match(
    lines,
    [
      '[2] dirty_marked {"paths":["a","b"]}',
      `[3] build done ${JSON.stringify({ emoji })}`,
      /^\[4\] evil\\u\{202e\} \{"evil":/,
      '[5] service_lifecycle {"event":"stopping"}',
      '',
    ],
    'whoever comes later sees what comes later',
  );
  const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/;
  t.notMatch(human.out() + human.err(), raw, 'nothing of it reaches the terminal');
  t.notMatch(script.out(), raw, 'nor a script that prints what it reads');
  t.match(human.err(), /^following http:.*\nthe service ended after 4 events\n$/);
});

long('each way a stream ends has its exit code', async (t) => {
  const place = makeServed(t);
  const none = await runWrit(['service', 'events'], place);
  t.match(none, { code: 1, out: '', err: /SERVICE_NOT_RUNNING/ });

  const service = await startService(t, place);
  const [first, second, third, killed] = await Promise.all(
    [['--json'], ['--json'], [], []].map((more) => follow(t, place, ...more)),
  );
  first?.child.kill('SIGINT');
  t.equal(await first?.ended, 130, 'interrupted');
  t.match(JSON.parse(first?.out().trimEnd().split('\n').at(-1) ?? ''), {
    ok: false,
    error: { code: 'RUN_INTERRUPTED' },
  });
  third?.child.kill('SIGTERM');
  t.equal(await third?.ended, 130);

  second?.child.stdout.destroy();
  for (let count = 0; count < 200 && second?.child.exitCode === null; count += 1)
    await notify(service, 'tick', { count });
  t.equal(await second?.ended, 0, 'a reader that goes away ends it');
  t.notMatch(second?.err(), /EPIPE|INTERNAL/);

  service.child.kill('SIGKILL');
  t.equal(await killed?.ended, 0, 'the service is gone');
});

/** A service that is ours, and sends one octet at a time. */
async function serveSlowly(t: Test, place: ServedRepository, stream: Uint8Array): Promise<void> {
  const server = createServer(async (_, response) => {
    response.socket?.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const octet of stream) {
      response.write(Uint8Array.of(octet));
      await setImmediate();
    }
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await openPrivateDirectory(place.cwd, ['.writ', 'service']);
  const lock = await acquireProcessLock(join(place.directory, 'service.lock'), {
    busy: () => new WritError('SERVICE_ALREADY_RUNNING'),
  });
  t.teardown(async () => {
    server.close();
    await lock.release();
  });
  const put = (name: string, text: string): void =>
    writeFileSync(join(place.directory, name), text, { mode: 0o600 });
  put('service-token', 'x'.repeat(43));
  put(
    'service.json',
    formatDiscovery({
      version: 1,
      mode: 'service',
      pid: process.pid,
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      workingDir: place.cwd,
      startedAt: '2026-01-01T00:00:00Z',
    }),
  );
}

t.test('multi-byte characters split across chunks arrive intact', async (t) => {
  const place = makeServed(t);
  const data = { text: 'ä€😀 \u2028 日本' };
  const events = [1, 2].map((seq) => ({ seq, type: 'tick', at: '2026-01-01T00:00:00Z', data }));
  const frames = events.map((event) =>
    toFrame({ type: event.type, id: event.seq, data: JSON.stringify(event) }),
  );
  await serveSlowly(t, place, Buffer.concat([Buffer.from(':\n\n'), ...frames]));
  const { code, out } = await runWrit(['service', 'events', '--json'], place);
  t.equal(code, 0);
  t.strictSame(parseLines(out), events);
});
