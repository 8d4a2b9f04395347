import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { WritError } from '../../../core/base/errors.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { long } from '../../rooms/long.ts';
import { makeServed, startService } from '../../service/started-service.ts';
import { faultsOf } from '../faults-of.ts';
import { type Ran, runLine } from '../host.ts';
import { runWrit, type WritPlace } from '../start-writ.ts';

/** What `status` answers to a person and to a script, whose shape is checked. */
async function askStatus({
  cwd,
}: WritPlace): Promise<{ readonly human: Ran; readonly script: Record<string, unknown> }> {
  const human = await runLine(['service', 'status'], commands, { cwd });
  const { code, out } = await runLine(['service', 'status', '--json'], commands, { cwd });
  const document = JSON.parse(out);
  t.strictSame(faultsOf('service status', document.data), []);
  t.equal(document.ok, code === 0);
  return { human, script: { code, ...document } };
}

long('`service status` reports running, killed and unresponsive services', async (t) => {
  const place = makeServed(t);
  const none = await askStatus(place);
  t.strictSame(
    [none.human.code, none.human.out],
    [1, 'state  stopped\n'],
    'nothing runs: the answer is no, with and without --json',
  );
  t.match(none.script, { code: 1, error: { code: 'SERVICE_NOT_RUNNING' } });
  t.strictSame(none.script.data, { running: false, state: 'stopped', health: 'unreachable' });
  t.notOk(existsSync(join(place.cwd, '.writ')), 'and to ask makes nothing');
  t.match(await runWrit(['service', 'status'], place), none.human);

  const service = await startService(t, place);
  const running = await askStatus(place);
  t.equal(running.human.code, 0);
  for (const shown of [/^state +running$/m, /^health +ok$/m, new RegExp(`^process +${service.pid}$`, 'm')])
    t.match(running.human.out, shown);
  t.ok(running.human.out.includes(service.url));
  t.match(running.script, {
    code: 0,
    data: {
      running: true,
      state: 'running',
      health: 'ok',
      pid: service.pid,
      base_url: service.url,
      working_dir: place.cwd,
    },
  });

  service.child.kill('SIGSTOP');
  const stuck = await askStatus(place);
  t.match(stuck.script, { code: 0, data: { running: true, health: 'unreachable', pid: service.pid } });
  t.match(stuck.human.out, /^health +unreachable$/m);
  service.child.kill('SIGCONT');

  service.child.kill('SIGKILL');
  await service.ended;
  const killed = await askStatus(place);
  t.match(killed.script, {
    code: 1,
    data: { running: false, state: 'stale', health: 'stale', pid: service.pid, base_url: service.url },
    error: { code: 'SERVICE_NOT_RUNNING', details: { state: 'stale' } },
  });
  t.strictSame([killed.human.code, /^state +stale$/m.test(killed.human.out)], [1, true]);
  t.match(killed.human.err, new RegExp(`process ${service.pid} .*is gone`));

  // Its port may be anybody's by now, and whoever lists the marks holds its lock.
  const lock = await acquireProcessLock(join(place.directory, 'service.lock'), {
    busy: () => new WritError('SERVICE_ALREADY_RUNNING'),
  });
  const asked: (string | undefined)[] = [];
  const stranger = createServer(({ url }, response) => {
    asked.push(url);
    response.end('{"status":"ok"}');
  }).listen(Number(new URL(service.url).port), '127.0.0.1');
  await once(stranger, 'listening');
  t.match((await askStatus(place)).script, { code: 1, data: { state: 'stale', health: 'stale' } });
  t.equal((await runWrit(['service', 'events'], place)).code, 1);
  t.strictSame(asked, [], 'the token of a dead service goes to nobody');
  stranger.close();
  await lock.release();

  const next = await startService(t, place);
  t.match((await askStatus(place)).script, { data: { state: 'running', health: 'ok', pid: next.pid } });
  t.equal((await next.ask('/api/service/dirty')).status, 200, 'with a token of its own');
  t.not(next.token, service.token);
});
