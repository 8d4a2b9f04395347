import t from 'tap';
import { type Answer, type Asking, holdControl } from '../../../session/web/wire/follow-session.ts';

/** A session that answers as told, and the time. */
function scene() {
  const asked: string[] = [];
  let nowMs = 1_000_000;
  const refusals: (string | undefined)[] = [];
  const ask = async (path: string, { token }: Asking = {}): Promise<Answer> => {
    asked.push(`${path}${token === undefined ? '' : ` ${token}`}`);
    const code = refusals.shift();
    if (code !== undefined) return { ok: false, code, message: code };
    const leaseExpiresAt = new Date(nowMs + 120_000).toISOString();
    return { ok: true, value: path === 'controller/attach' ? { controllerToken: 'k', leaseExpiresAt } : {} };
  };
  const control = holdControl('me', { ask, now: () => nowMs, told: () => {} });
  const own = () => ({
    kind: 'browser',
    ownerLabel: 'me',
    leaseExpiresAt: new Date(nowMs + 120_000).toISOString(),
  });
  return {
    control,
    asked,
    own,
    refuse: (...codes: (string | undefined)[]) => refusals.push(...codes),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

t.test('the first write attaches to a free session, and later writes reuse its token', async (t) => {
  const { control, asked, own, pass } = scene();
  t.match(await control.write('messages', {}, true), { ok: true });
  control.hear(own());
  pass(100_000);
  await control.write('messages', {}, true);
  control.hear(own());
  pass(100_000);
  await control.write('messages', {}, true);
  t.strictSame(asked, ['controller/attach', 'messages k', 'messages k', 'messages k']);
});

t.test('a page that only watches writes nothing', async (t) => {
  const { control, asked } = scene();
  t.match(await control.write('messages', {}, false), { code: 'SPECTATOR' });
  t.strictSame(asked, []);
});

t.test('an expired lease is requested again before the next write', async (t) => {
  const { control, asked, own, pass } = scene();
  await control.take();
  control.hear(own());
  pass(120_000);
  control.hear({ kind: 'tui' });
  t.match(control.held(), { isLapsed: true });
  t.match(await control.write('messages', {}, false), { ok: true });
  t.strictSame(asked, ['controller/attach', 'controller/attach', 'messages k']);
});

t.test('a write does not take control of a session that the terminal reclaimed', async (t) => {
  const { control, asked, own } = scene();
  await control.take();
  control.hear(own());
  control.hear({ kind: 'tui' });
  t.match(control.held(), { isLapsed: false });
  t.match(await control.write('messages', {}, false), { code: 'SPECTATOR' });
  t.strictSame(asked, ['controller/attach']);
});

t.test(
  'a write after the terminal reclaimed the session fails with `CONTROL_LOST` and is not repeated',
  async (t) => {
    const { control, asked, refuse } = scene();
    await control.take();
    refuse('INVALID_CONTROLLER_TOKEN');
    t.match(await control.write('messages', {}, true), { code: 'CONTROL_LOST' });
    t.strictSame(asked, ['controller/attach', 'messages k']);
    t.notOk(control.held().token);
  },
);

t.test('a page that closes returns its lease once', async (t) => {
  const { control, asked } = scene();
  await control.take();
  control.leave();
  t.strictSame(asked, ['controller/attach', 'controller/detach k']);
  control.leave();
  t.equal(asked.length, 2);
});

t.test('a page remembers that browser control is disabled', async (t) => {
  const { control, refuse } = scene();
  refuse('BROWSER_CONTROL_DISABLED');
  t.match(await control.take(), { ok: false });
  t.match(control.held(), { isDisabled: true });
});
