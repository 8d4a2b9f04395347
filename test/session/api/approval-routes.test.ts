import { request } from 'node:http';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import { sessionRoutes } from '../../../session/api/session-routes.ts';
import { grantFrom, keepGrants } from '../../../session/approvals/grants.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { Command } from '../../../session/state/command.ts';
import { commandUse } from '../approvals/use-of.ts';
import { newWorld } from '../state/walk.ts';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of a server under test
  readonly body: any;
}

/** A server before a session in memory in which `npm test` is pre-approved for five minutes. */
async function scene(t: Test, isOpen = true) {
  let nowMs = 1_000_000;
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `i${ids}`;
  };
  const clock = {
    ...systemClock,
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: () => new Promise<void>(() => {}),
  };
  const audited: Command[] = [];
  const channel = openChannel({
    state: newWorld({ local: 'none' }).state,
    thread: { append: async () => {} },
    audit: { accepted: async (command) => void audited.push(command), failed: async () => {} },
    clock,
    newId,
    perform: async () => {},
  });
  const ledger = keepGrants(clock);
  const use = commandUse('npm test');
  const ground = { now: ledger.now(), ttlSeconds: 300, newId, mask: (text: string) => text };
  ledger.add(grantFrom({ option: 'approve_ttl' }, use, { ...ground, by: { kind: 'tui' } }));
  ledger.take(use);
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: sessionRoutes({
      channel: () => (isOpen ? channel : undefined),
      grants: () => (isOpen ? ledger : undefined),
      clock,
    }),
    body: { maxBytes: 256 * 1024, withinMs: 5000, maxDepth: 16 },
    headersWithinMs: 5000,
    report: (fault) => t.fail(String(fault)),
  });
  t.teardown(() => server.close(0));
  const ask = (method: string, path: string, body?: unknown, token?: string) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = {
        origin: server.baseUrl,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'x-code-controller-token': token }),
      };
      const sent = request(`${server.baseUrl}/api/code/${path}`, { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) }),
        );
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const attach = async (): Promise<string> =>
    (await ask('POST', 'controller/attach', { clientId: 'page' })).body.controllerToken;
  return {
    ask,
    attach,
    audited,
    channel,
    ledger,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

t.test('lists grants with their remaining time and lets the controller revoke them', async (t) => {
  const { ask, attach, audited, channel, ledger, pass } = await scene(t);
  pass(60_000);
  const { body } = await ask('GET', 'approvals');
  t.match(body.items, [
    { kind: 'ttl', what: 'npm test', cwd: '/w', secondsLeft: 240, grantedBy: { kind: 'tui' } },
  ]);
  t.equal(body.items.length, 1);
  const { id } = body.items[0];
  const token = await attach();
  const until = channel.state.lease?.expiresAtMs ?? 0;
  pass(1000);
  t.strictSame((await ask('POST', 'approvals/revoke', { id }, token)).body, { revoked: true });
  t.match(audited.at(-1), { type: 'revoke', grant: id });
  t.equal(channel.state.lease?.expiresAtMs, until + 1000, 'an accepted write renews the lease');
  t.strictSame((await ask('GET', 'approvals')).body, { items: [] });
  t.equal(ledger.take(commandUse('npm test')), undefined);
  const again = await ask('POST', 'approvals/revoke', { id }, token);
  t.match([again.status, again.body.error.code], [404, 'NOT_FOUND']);
});

t.test('refuses an invalid revocation and leaves the list unchanged', async (t) => {
  const { ask, attach, audited, ledger, pass } = await scene(t);
  const [{ id } = { id: '' }] = ledger.list();
  const refusals: [token: string | undefined, body: unknown, status: number, code: string][] = [
    [undefined, { id }, 403, 'MISSING_CONTROLLER_TOKEN'],
    ['x'.repeat(43), { id }, 403, 'INVALID_CONTROLLER_TOKEN'],
  ];
  const token = await attach();
  for (const body of [
    {},
    { id: '' },
    { id: 1 },
    { id: 'x'.repeat(201) },
    { id, all: true },
    [id],
    { id: [id] },
  ])
    refusals.push([token, body, 400, 'INVALID_BODY']);
  refusals.push([token, { id: 'other' }, 404, 'NOT_FOUND'], [token, { id: '__proto__' }, 404, 'NOT_FOUND']);
  for (const [held, body, status, code] of refusals) {
    const answer = await ask('POST', 'approvals/revoke', body, held);
    t.match([answer.status, answer.body.error.code], [status, code], JSON.stringify(body).slice(0, 40));
  }
  pass(120_000);
  const late = await ask('POST', 'approvals/revoke', { id }, token);
  t.equal(late.body.error.code, 'INVALID_CONTROLLER_TOKEN', 'a lease that is over');
  t.equal(ledger.list().length, 1);
  t.notOk(audited.some(({ type }) => type === 'revoke'));
});

t.test('a revocation counts as a write of the lease', async (t) => {
  const { ask, attach } = await scene(t);
  const token = await attach();
  for (let n = 0; n < 120; n += 1)
    await ask('POST', n % 2 ? 'control/cancel' : 'approvals/revoke', { id: 'x' }, token);
  const answer = await ask('POST', 'approvals/revoke', { id: 'x' }, token);
  t.match([answer.status, answer.body.error.code], [429, 'RATE_LIMITED']);
});

t.test('the approval routes are unavailable without a session', async (t) => {
  const { ask } = await scene(t, false);
  t.equal((await ask('GET', 'approvals')).body.error.code, 'CODE_UI_UNAVAILABLE');
  t.equal((await ask('POST', 'approvals/revoke', { id: 'x' })).body.error.code, 'CODE_UI_UNAVAILABLE');
});
