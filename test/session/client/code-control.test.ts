import { systemClock } from '../../../core/base/clock.ts';
import { findControlPlace, openControl } from '../../../session/client/open-control.ts';
import { startWrit } from '../../bin/start-writ.ts';
import { long } from '../../rooms/long.ts';
import { makeServed } from '../../service/started-service.ts';
import { type Said, serveSession } from './serve-session.ts';

long('`writ code-control` finds the session of its working tree and exits when its input ends', async (t) => {
  const place = makeServed(t);
  const control = await openControl({
    mode: 'write',
    place: await findControlPlace(place.cwd, {}),
    workingDir: place.cwd,
    clock: systemClock,
  });
  t.teardown(() => control[Symbol.asyncDispose]());
  const { server, channel } = await serveSession(t, {}, undefined, control.token);
  await control.publish({ baseUrl: server.baseUrl });
  const talk = async (argv: readonly string[], ...lines: readonly string[]) => {
    const started = startWrit(['code-control', ...argv], place, lines.map((line) => `${line}\n`).join(''));
    const code = await started.ended;
    const said = started.out().split('\n').filter(Boolean);
    return { code, err: started.err(), said: said.map((line) => JSON.parse(line) as Said) };
  };
  const call = (id: number, method: string, params = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const told = await talk(
    ['--stdio'],
    call(1, 'events.subscribe'),
    call(2, 'controller.attach', { clientId: 'bot' }),
    call(3, 'message.submit', { text: 'hello' }),
  );
  t.equal(told.code, 0, told.err);
  t.equal(told.err, '');
  t.match(told.said.find(({ id }) => id === 3)?.result, { accepted: true });
  t.ok(channel.state.transcript.some(({ content }) => content === 'hello'));
  const many = Array.from({ length: 24 }, (_, id) => call(id, 'session.get'));
  const answered = await talk(['--stdio'], ...many);
  t.equal(answered.said.length, many.length);
  t.equal(answered.err, '', 'nothing is said beside the answers, however many there are');
  const json = await talk(['--stdio', '--json'], 'x');
  t.match(json, { code: 0, said: [{ error: { code: -32700 } }] }, 'nothing but answers');
  t.equal((await talk([])).code, 129, 'without --stdio there is no way to speak');
  t.equal((await talk(['--stdio', '--url', 'http://example.org:80'])).code, 129);
  await control[Symbol.asyncDispose]();
  const gone = await talk(['--stdio'], call(1, 'session.get'));
  t.match(gone, { code: 1, said: [], err: /SESSION_NOT_RUNNING|no session/ });
});
