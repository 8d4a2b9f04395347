import t from 'tap';
import { isWritError } from '../../../../core/base/errors.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { isPassing } from '../../../../plugins/third-party/process/plugin-fault.ts';
import { type Outside, realOutside } from '../../../../workspace/egress/outside.ts';
import { call, openProcess } from './process-bench.ts';

t.setTimeout(120_000);

const files = {
  'files/main.js': `
export const ask = async (url) => (await fetch(url)).status;
export const facts = (url) => fetch(url).catch(({ message, code, host, port }) => ({ message, code, host, port }));
export const mute = (url) => fetch(url).catch(() => { throw new Error('no answer'); });
export const other = () => fetch('data:text/plain,x').then((one) => one.text());
`,
};

/** A network in which some names lead nowhere, to this machine, or to nobody. */
function outsideOf(port: number): Outside {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    'here.example': ['1.1.1.1'],
    'home.example': ['127.0.0.1'],
    'gone.example': ['2.2.2.2'],
  };
  return {
    resolve: async (host) => addresses[host] ?? [],
    connect: (address) => realOutside.connect('127.0.0.1', address === '1.1.1.1' ? port : 1),
    ownAddresses: () => [],
  };
}

const hosts = ['here.example', 'home.example', 'gone.example', 'nowhere.example'];
const obstacles = [
  ['https://other.example/', 'EGRESS_NOT_LISTED', /does not name that host in `hosts`/],
  ['https://here.example:8443/', 'EGRESS_PORT', /with another port/],
  ['https://nowhere.example/', 'EGRESS_UNRESOLVED', /could not be resolved/],
  ['https://home.example/', 'EGRESS_ADDRESS', /its address 127.0.0.1 is not public/],
  ['https://gone.example/', 'EGRESS_UNREACHABLE', /there is no answer from there/],
  ['http://gone.example/', 'EGRESS_UNREACHABLE', /no connection to gone.example:80: /],
] as const;

t.test('a plugin and its error report give code and reason of a failed connection', async (t) => {
  await using server = await serveModel((response) => {
    response.writeHead(302, { location: 'http://other.example/' });
    response.end();
  });
  const plugin = openProcess(t, files, { hosts, outside: outsideOf(server.port) });
  for (const [url, code, message] of obstacles) {
    const { hostname } = new URL(url);
    t.match(await plugin.ask(call('facts', url)), { code, message, host: hostname }, url);
    const fault = await plugin.ask(call('ask', url)).catch((thrown: unknown) => thrown);
    t.ok(isWritError(fault, 'PLUGIN_PROCESS_FAULT'));
    t.match(fault, { message, detail: { reason: 'threw', said: { code, host: hostname } } }, url);
    t.match(
      await plugin.ask(call('mute', url)).catch((thrown: unknown) => thrown),
      { message },
      'its own words, too',
    );
  }
  const redirected = await plugin.ask(call('facts', 'http://here.example/'));
  t.match(redirected, { code: 'EGRESS_NOT_LISTED', host: 'other.example' }, 'where it was led to');
  const both = ['https://nowhere.example/', 'https://other.example/'].map((url) =>
    plugin.ask(call('facts', url)),
  );
  t.match(await Promise.all(both), [{ code: 'EGRESS_UNRESOLVED' }, { code: 'EGRESS_NOT_LISTED' }]);
  t.equal(await plugin.ask(call('other')), 'x');
  const seen = plugin.network();
  t.strictSame(seen?.opened, [{ hosts, reason: 'plugin sample' }]);
  const outcomes = seen?.uses.map(({ host, outcome, why }) => [host, outcome, why].join(' '));
  t.match(outcomes, [
    'other.example refused not-listed',
    'here.example refused port',
    'nowhere.example failed unresolved',
  ]);
  t.ok(outcomes?.includes('here.example allowed '), String(outcomes));
  await plugin.close();
  t.equal(plugin.network()?.uses.length, seen?.uses.length, 'an ended process is not forgotten');
});

t.test('a request from a plugin without hosts fails with EGRESS_NOT_LISTED', async (t) => {
  const plugin = openProcess(t, files);
  t.match(await plugin.ask(call('facts', 'https://a.example/')), {
    code: 'EGRESS_NOT_LISTED',
    message: /names no `hosts`/,
  });
  t.equal(plugin.network(), undefined);
});

t.test('`isPassing` is true only for temporary network errors', async (t) => {
  const codes = ['EGRESS_UNRESOLVED', 'EGRESS_UNREACHABLE', 'EGRESS_TIME'];
  t.strictSame(codes.map(isPassing), [true, true, true]);
  t.strictSame(['EGRESS_NOT_LISTED', 'EGRESS_ADDRESS', 'EGRESS_PORT'].map(isPassing), [false, false, false]);
  t.strictSame(['ENOENT', undefined].map(isPassing), [undefined, undefined]);
});
