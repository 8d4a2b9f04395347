import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../core/base/clock.ts';
import { createStreamer } from '../../../../core/base/net.ts';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { openParts } from '../../../../plugins/third-party/open-parts.ts';
import { readManifest } from '../../../../plugins/third-party/plugin-manifest.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { realOutside } from '../../../../workspace/egress/outside.ts';
import { casesOf } from '../../../rooms/long.ts';
import { handing } from './handing.ts';

t.setTimeout(120_000);

const key = 'sk-canary-0123456789';
const hosts = ['model.example'];

/** A provider whose `ask` is this, opened as a run opens it; whatever it connects to is the server at `port`. */
async function open(t: Test, body: string, port = 1) {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-provider-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, 'plugin');
  mkdirSync(directory);
  const part = {
    name: 'sly',
    module: './ask.js',
    base: 'https://model.example',
    defaultModel: 'm',
    keys: ['SLY_KEY'],
  };
  const writ = { api: 1, hosts, secrets: ['SLY_KEY', 'SLY_OTHER'], files: ['~/sly.txt'], providers: [part] };
  const manifest = { name: 'sly', version: '1.0.0', type: 'module', writ };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'ask.js'), `export async function* ask(request, context) { ${body} }`);
  const pluginPackage = await readDirectory(directory);
  const parts = await openParts(
    readManifest(pluginPackage, directory),
    pluginPackage,
    {},
    {
      cacheDir: join(root, 'cache'),
      sandbox: async () => bubblewrapSandbox(),
      access: {
        secret: handing({ SLY_KEY: key, SLY_OTHER: 'other-secret-1', HOME: '/root' }),
        file: async () => 'told',
      },
      outside: {
        resolve: async () => ['1.1.1.1'],
        connect: () => realOutside.connect('127.0.0.1', port),
        ownAddresses: () => [],
      },
    },
  );
  t.teardown(() => parts.close());
  return parts;
}

async function ask(t: Test, body: string, port?: number, signal = AbortSignal.timeout(60_000)) {
  const parts = await open(t, body, port);
  const streamer = createStreamer({});
  t.teardown(() => streamer.close());
  const source = parts.providers.get('sly');
  if (source === undefined) throw new Error('no provider');
  const setting = { key, base: 'http://model.example', isOtherBase: false, flags: {}, clock: systemClock };
  const provider = await source.open({ ...setting, stream: streamer.stream });
  const events: unknown[] = [];
  const request = { model: 'm', system: [], messages: [], tools: [] };
  for await (const event of provider.ask(request, signal)) events.push(event);
  return events;
}

const end = "yield { type: 'end', end: 'stop' };";
const lies: Readonly<Record<string, string>> = {
  'ends without an end': "yield { type: 'text', text: 'x' };",
  'goes on after its end': `${end} yield { type: 'text', text: 'x' };`,
  'ends in a way that there is not': "yield { type: 'end', end: 'sealed' };",
  'makes events up': `yield { type: 'approved' }; ${end}`,
  'adds fields': `yield { type: 'text', text: 'x', trusted: true }; ${end}`,
  'tells text that is none': `yield { type: 'text', text: 5 }; ${end}`,
  'calls twice under one id': `const call = { id: 'a', name: 'b', arguments: '{}' }; yield { type: 'call', call }; yield { type: 'call', call }; ${end}`,
  'calls without end': `for (let n = 0; n < 200; n += 1) yield { type: 'call', call: { id: String(n), name: 'b', arguments: '{}' } }; ${end}`,
  'counts below nothing': `yield { type: 'usage', usage: { input: -1, output: 0 } }; ${end}`,
  'counts what cannot be counted': `yield { type: 'usage', usage: { input: 1e300, output: 0 } }; ${end}`,
  'sends a prototype': `yield JSON.parse('{"type":"text","text":"x","__proto__":{"polluted":1}}'); ${end}`,
  'hides a prototype in its state': `yield { type: 'end', end: 'stop', state: JSON.parse('{"__proto__":{"polluted":1}}') };`,
  'answers in one piece': 'return { type: "text", text: "x" };',
  crashes: 'process.exit(1);',
  'throws nonsense': 'throw null;',
  'names a kind of failure that there is not': "throw Object.assign(new Error('x'), { kind: '__proto__' });",
};

for (const [what, body] of casesOf(lies, [
  'ends without an end',
  'goes on after its end',
  'calls twice under one id',
  'crashes',
]))
  t.test(`a provider that ${what} fails with a broken reply`, async (t) => {
    const fault = await ask(t, body).catch((thrown: unknown) => thrown);
    t.match(
      fault,
      { code: 'PROVIDER_FAILED', detail: { provider: 'sly', kind: 'broken-reply' } },
      String(fault),
    );
    t.match(String(fault), /sly/);
    t.notOk('polluted' in {});
  });

t.test('the error of a provider never contains its key', async (t) => {
  const body =
    "throw Object.assign(new Error(context.key), { kind: 'key-refused', status: 401, why: context.key });";
  const fault = await ask(t, body).catch((thrown: unknown) => thrown);
  t.match(fault, { detail: { kind: 'key-refused', status: 401 } });
  const { message, detail, cause } = fault as { message: string; detail: object; cause: { detail: object } };
  t.notMatch(JSON.stringify([message, detail, String(cause), cause.detail]), key);
});

t.test('aborting a request ends a provider that hangs', async (t) => {
  const stop = new AbortController();
  const asked = ask(t, 'for (;;);', undefined, stop.signal);
  setImmediate(() => stop.abort(new Error('stopped')));
  await t.rejects(asked, { message: 'stopped' });
});

t.test('a provider receives only what it declares', async (t) => {
  const [event] = await ask(
    t,
    `const { signal, ...told } = context; yield { type: 'text', text: JSON.stringify([told, process.env]) }; ${end}`,
  );
  const [told, environment] = JSON.parse((event as { text: string }).text);
  t.strictSame(told, {
    base: 'http://model.example',
    key,
    options: {},
    secrets: { SLY_OTHER: 'other-secret-1' },
    files: { '~/sly.txt': 'told' },
  });
  t.notMatch(JSON.stringify(environment), /SLY|sk-canary|other-secret/);
});

t.test('a provider reaches only its declared hosts', async (t) => {
  await using server = await serveModel((response) => {
    response.end('here');
  });
  const tried = (url: string) =>
    `await fetch('${url}').then(async (r) => r.status + ' ' + (await r.text()).trim()).catch((fault) => 'refused')`;
  const urls = [
    'http://model.example/',
    'http://other.example/',
    'http://model.example:8080/',
    'http://sub.model.example/',
    'http://127.0.0.1/',
    'http://169.254.169.254/',
  ];
  const [event] = await ask(
    t,
    `yield { type: 'text', text: JSON.stringify([${urls.map(tried).join(', ')}]) }; ${end}`,
    server.port,
  );
  const [own, ...others] = JSON.parse((event as { text: string }).text);
  t.equal(own, '200 here');
  for (const [index, other] of others.entries()) t.notMatch(other, /here/, `${urls[index + 1]}: ${other}`);
  t.equal(server.asked.length, 1);
});
