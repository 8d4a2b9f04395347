import t from 'tap';
import { requestHttp } from '../../../core/base/net.ts';
import { serve } from '../../attest/public/log-servers.ts';
import { instant } from '../../waiting/instant.ts';

const limits = { method: 'GET', withinMs: 60_000, maxBytes: 1000 } as const;

t.test('a response is returned whole, whatever its status', async (t) => {
  const { url, asked } = await serve(t, () => ({ status: 404, body: 'no', headers: { 'X-One': '1' } }));
  const answer = await requestHttp({ ...limits, method: 'POST', url: `${url}/a?b=c`, body: 'hello' });
  t.match(answer, { status: 404, headers: { 'x-one': '1' } });
  t.equal(answer.body.toString(), 'no');
  t.match(asked, [{ method: 'POST', path: '/a?b=c', body: 'hello' }]);
});

t.test('a redirect is returned and not followed', async (t) => {
  const { url, asked } = await serve(t, () => ({ status: 302, headers: { location: '/elsewhere' } }));
  t.match(await requestHttp({ ...limits, url }), { status: 302, headers: { location: '/elsewhere' } });
  t.equal(asked.length, 1);
});

t.test('time and size are bounded, and errors never contain the request secrets', async (t) => {
  const headers = { authorization: 'Bearer SECRET' };
  const silent = await serve(t, () => undefined);
  const large = await serve(t, () => ({ status: 200, body: 'x'.repeat(1001) }));
  const fitting = await serve(t, () => ({ status: 200, body: 'x'.repeat(1000) }));
  t.equal((await requestHttp({ ...limits, url: fitting.url })).body.length, 1000);
  for (const [url, withinMs] of [
    [silent.url, 100],
    [large.url, 60_000],
    ['http://127.0.0.1:1/', 60_000],
  ] as const) {
    const fault = await requestHttp({ ...limits, url: `${url}/p?token=SECRET`, withinMs, headers }).catch(
      (thrown) => thrown,
    );
    t.match(fault, { code: 'NETWORK_FAILED' }, url);
    t.notMatch(JSON.stringify([fault, fault.message, String(fault.cause)]), /SECRET/);
  }
});

t.test('plain HTTP is allowed to loopback only, and other schemes are refused', async (t) => {
  for (const url of [
    'http://service.example/',
    'http://10.0.0.1/',
    'http://127.0.0.1.example/',
    'https://u:p@127.0.0.1:1/',
    'file:///etc/passwd',
  ])
    await t.rejects(requestHttp({ ...limits, url }), { code: 'NETWORK_FAILED', message: /expected/ }, url);
});

t.test('the caller can abort a request', async (t) => {
  const { url } = await serve(t, () => undefined);
  const stop = new AbortController();
  void instant(50).then(() => stop.abort(new Error('stopped')));
  await t.rejects(requestHttp({ ...limits, url, signal: stop.signal }), { message: 'stopped' });
});
