import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { long } from '../../rooms/long.ts';
import { makeServed, type StartedService, startService } from '../../service/started-service.ts';
import { instant } from '../../waiting/instant.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';
import { runWrit, startWrit } from '../start-writ.ts';

const withoutIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)
  ? false
  : 'IPv6 is off';

/** A reader of its events that never goes away by itself. */
async function holdStream({ ask }: StartedService): Promise<() => Promise<string>> {
  const { body, status } = await ask('/api/service/events');
  const read = new Response(body).text().catch((fault: unknown) => `cut off: ${fault}`);
  t.equal(status, 200);
  return () => read;
}

/** A short line, without a process of its own; where it should be refused and is not, it is ended. */
function ask(argv: readonly string[], cwd: string) {
  return runLine(['--json', 'service', ...argv], commands, { cwd, signal: AbortSignal.timeout(3_000) });
}

t.test('`service run` serves until SIGINT or SIGTERM and leaves only its marks', async (t) => {
  const place = makeServed(t);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const service = await startService(t, place);
    t.match(service.out(), /^serving .+ on http:\/\/127\.0\.0\.1:\d+, Ctrl\+C ends it\n$/);
    const published = JSON.parse(readFileSync(join(place.directory, 'service.json'), 'utf8'));
    t.match(published, {
      version: 1,
      mode: 'service',
      pid: service.pid,
      baseUrl: service.url,
      workingDir: place.cwd,
    });
    t.equal(statSync(join(place.directory, 'service-token')).mode & 0o777, 0o600);
    t.equal(statSync(place.directory).mode & 0o777, 0o700);
    t.equal(place.git('status', '--porcelain'), '', 'git sees nothing new');
    const events = await holdStream(service);
    service.child.kill(signal);
    t.match(
      await events(),
      /"event":"stopping"\}\}\n\n$/,
      'whoever listens is told, and the stream ends whole',
    );
    t.equal(await service.ended, 0, signal);
    t.equal(service.err(), 'stopped\n');
    const left = readdirSync(place.directory).filter((name) => !/^(?:\.gitignore|service\.db)$/.test(name));
    t.same(left, [], 'lock, token and address are gone, so the next one starts at once');
  }
});

long('a second SIGINT shortly after the first still shuts the service down cleanly', async (t) => {
  const place = makeServed(t);
  const service = await startService(t, place);
  // An answer under way keeps it from ending before the second one.
  const slow = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {});
  t.teardown(() => slow.destroy());
  slow.write(
    `POST /api/service/notify HTTP/1.1\r\nhost: localhost\r\nx-svc-service-token: ${service.token}\r\n` +
      'content-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n',
  );
  await once(slow, 'data');
  service.child.kill('SIGINT');
  await instant(50);
  service.child.kill('SIGINT');
  t.equal(await service.ended, 0);
  t.notOk(existsSync(join(place.directory, 'service.json')), 'nothing is left');
});

t.test('a host other than a loopback address, or an invalid port, is refused', async (t) => {
  const place = makeServed(t);
  const addresses = ['0.0.0.0', 'localhost', '::', '192.168.0.1', '127.0.0.256', '[::1]', '127.1', ''];
  const ports = ['65536', '-1', '80x', '0x50', ''];
  const lines = [
    ...addresses.map((address) => `--host=${address}`),
    ...ports.map((port) => `--port=${port}`),
  ];
  for (const option of lines) {
    const { code, out } = await ask(['run', option], place.cwd);
    t.match({ code, ...JSON.parse(out) }, { code: 129, ok: false, error: { code: 'USAGE' } }, option);
  }
  t.equal((await runWrit(['service', 'run', '--host', '0.0.0.0'], place)).code, 129);
  t.notOk(existsSync(join(place.cwd, '.writ')), 'and nothing was made');
});

t.test('the service can listen on the IPv6 loopback address', { skip: withoutIpv6 }, async (t) => {
  const place = makeServed(t);
  const service = await startService(t, place, '--host', '0:0:0:0:0:0:0:1');
  t.match(service.url, /^http:\/\/\[::1\]:\d+$/);
  t.same(await (await service.ask('/api/health')).json(), { status: 'ok' });
  t.equal((await ask(['status'], place.cwd)).code, 0);
});

long('the service listens on a chosen loopback address and port, and `--json` prints it once', async (t) => {
  const place = makeServed(t);
  // Elsewhere only 127.0.0.1 of them is set up.
  const host = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
  const taken = createServer().listen(0, host);
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { readonly port: number };
  const line = ['run', '--host', host, '--port', String(port)];
  const { code, out } = await ask(line, place.cwd);
  t.match(
    { code, ...JSON.parse(out) },
    { code: 128, error: { code: 'PORT_UNAVAILABLE', details: { host, port } } },
  );
  await new Promise((resolve) => taken.close(resolve));

  const started = startWrit(['--json', 'service', ...line], place);
  t.teardown(() => started.child.kill('SIGKILL'));
  await started.until(() => started.out().endsWith('}\n'));
  const document = JSON.parse(started.out());
  t.match(document, {
    ok: true,
    command: 'service run',
    data: { pid: started.pid, base_url: `http://${host}:${port}` },
  });
  t.strictSame(faultsOf('service run', document.data), []);
  t.equal((await fetch(`${document.data.base_url}/api/health`)).status, 200);
  t.ok([document.data.discovery_file, document.data.token_file].every(existsSync));
  started.child.kill('SIGTERM');
  t.equal(await started.ended, 0);
  t.same(JSON.parse(started.out()), document, 'and no second document follows');
});

long('linked working trees share one service per repository', async (t) => {
  const place = makeServed(t);
  const linked = join(place.box, 'linked');
  place.git('worktree', 'add', '-q', linked);
  // A kill in the middle of writing leaves a draft, which may hold a token.
  mkdirSync(join(linked, '.writ', 'service'), { recursive: true });
  writeFileSync(join(linked, '.writ', 'service', 'tmp_writ_left'), 'token');
  const both = [place, place].map((one) => startWrit(['service', 'run'], one));
  t.teardown(() => {
    for (const { child } of both) child.kill('SIGKILL');
  });
  t.equal(await Promise.race(both.map(({ ended }) => ended)), 128, 'of two that start at once, one serves');
  const [loser, winner] = both.toSorted((one) => (one.child.exitCode === 128 ? -1 : 1));
  const url = /on (http:\S+), /.exec(winner?.out() ?? '')?.[1];
  t.match(
    loser?.err(),
    `SERVICE_ALREADY_RUNNING: process ${winner?.pid} serves this repository already on ${url}`,
  );
  for (const cwd of [place.cwd, linked]) {
    const { code, out } = await ask(['run'], cwd);
    const { error } = JSON.parse(out);
    t.match(
      { code, error },
      {
        code: 128,
        error: { code: 'SERVICE_ALREADY_RUNNING', details: { pid: winner?.pid, base_url: url } },
      },
      cwd,
    );
  }
  const { out } = await ask(['status', '--repo', linked], place.cwd);
  t.match(JSON.parse(out).data, { base_url: url, working_dir: place.cwd });
  const copies = join(linked, '.writ', 'service');
  for (const name of ['service.json', 'service-token']) {
    const [copy, original] = [copies, place.directory].map((at) => readFileSync(join(at, name), 'utf8'));
    t.equal(copy, original, `a script in a linked work tree finds ${name}`);
    t.equal(statSync(join(copies, name)).mode & 0o777, 0o600);
  }
  t.equal(place.git('-C', linked, 'status', '--porcelain'), '', 'git sees nothing new there');
  winner?.child.kill('SIGTERM');
  t.equal(await winner?.ended, 0);
  t.same(readdirSync(copies), ['.gitignore'], 'and they go with the service');
});

long('a service ends if its files are removed', async (t) => {
  const place = makeServed(t);
  const service = await startService(t, place);
  rmSync(join(place.cwd, '.writ'), { recursive: true });
  t.equal(await service.ended, 128);
  t.match(service.err(), 'STATE_UNUSABLE: ');
  t.match(service.err(), 'was removed or replaced while the service ran');
});

t.test('a service requires a repository with a working tree', async (t) => {
  const place = makeServed(t);
  const bare = join(place.box, 'bare.git');
  place.git('clone', '-q', '--bare', place.cwd, bare);
  for (const [cwd, code] of [
    [place.box, 'NOT_A_REPOSITORY'],
    [bare, 'BARE_REPOSITORY'],
  ] as const) {
    for (const name of ['run', 'status', 'events', 'dirty']) {
      const { code: found, out } = await ask([name], cwd);
      t.match({ found, ...JSON.parse(out) }, { found: 128, error: { code } }, `${name} ${code}`);
    }
  }

  const tree = join(place.box, 'tree');
  place.git('--git-dir', bare, 'worktree', 'add', '-q', tree, 'main');
  const directory = join(bare, 'writ', 'service');
  const service = await startService(t, { ...place, cwd: tree, directory });
  t.ok(
    existsSync(join(directory, 'service.json')),
    'the work trees of a bare one share it in the git directory',
  );
  t.ok(existsSync(join(tree, '.writ', 'service', 'service.json')), 'where a script looks, there is a copy');
  t.same(await (await service.ask('/api/service/dirty/mark', { paths: ['a'] })).json(), { marked: ['a'] });
});
