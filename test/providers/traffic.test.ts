import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { HttpStreamer } from '../../core/base/http-question.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ModelEvent, ModelRequest } from '../../core/interfaces/model.ts';
import type { Provider, ProviderSource } from '../../core/interfaces/provider.ts';
import { caseBody, caseType } from '../../plugins/testers/provider-tester.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { replaySource, replayTraffic } from '../../providers/replay/source.ts';
import { recordTraffic } from '../../providers/wire/record-traffic.ts';
import { seededRandom } from '../chance/seeded-random.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { type ModelServer, sendInPieces, serveModel } from './model-server.ts';
import {
  type CaseSetting,
  caseFolders,
  neededCases,
  readCases,
  readSetting,
  type WireCase,
} from './wire-case.ts';

const canary = 'sk-canary-0123456789';
const streamer = createStreamer({});
t.teardown(() => streamer.close());

const plain: Omit<ModelRequest, 'model'> = {
  system: ['You change code.'],
  messages: [{ role: 'user', text: 'Say “héllo” 🌍.' }],
  tools: [
    { name: 'read_file', description: 'Reads a file.', parameters: { type: 'object', properties: {} } },
  ],
};

/** What came of a question: its events, or what it failed with. */
async function outcomeOf(
  provider: Provider,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<{ readonly events: readonly ModelEvent[]; readonly fault?: unknown }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of provider.ask(request, signal)) events.push(unnamed(event));
  } catch (fault) {
    if (!isWritError(fault)) return { events, fault };
    return { events, fault: unnamed([fault.code, fault.message, fault.detail]) };
  }
  return { events };
}

/** What a question is called by us is another name each time it is asked. */
function unnamed<T>(told: T): T {
  const own = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g;
  return JSON.parse(JSON.stringify(told).replace(own, 'own'));
}

async function sourceOf({ provider }: CaseSetting): Promise<ProviderSource> {
  return (builtInProviders[provider] as () => Promise<ProviderSource>)();
}

/** Opens a provider whose exchanges are written down in a directory. */
async function record(
  setting: CaseSetting,
  one: WireCase,
  base: string,
  directory: string,
  stream = streamer.stream,
) {
  const { provider, model, isOtherBase, key = canary } = setting;
  const flags = { ...setting.flags, ...one.flags };
  const opened = { provider, model, base, isOtherBase, flags };
  const recording = await recordTraffic(stream, { directory, opened, secrets: [key] });
  const source = await sourceOf(setting);
  const open = source.open({ key, base, isOtherBase, flags, stream: recording.stream, clock: systemClock });
  return { recording, provider: await open };
}

async function replay(directory: string): Promise<Provider> {
  const source = await replaySource(directory);
  // Whoever opens it knows nothing of what was then.
  const none: HttpStreamer = () => Promise.reject(new Error('asked the network'));
  return source.open({ base: '', isOtherBase: false, flags: {}, stream: none, clock: systemClock });
}

function holdsNoCanary(t: Test, directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    t.equal(lstatSync(path).mode & 0o777, 0o600, `${name} is the user's alone`);
    const text = readFileSync(path, 'utf8');
    const { answer } = JSON.parse(text);
    const pieces = (answer.pieces ?? []).map((piece: string | { base64: string }) =>
      typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.base64, 'base64'),
    );
    for (const found of [text, Buffer.concat(pieces).toString('latin1')])
      for (const form of [
        canary,
        Buffer.from(canary).toString('base64').slice(0, -3),
        encodeURIComponent(canary),
      ])
        t.notOk(found.includes(form), `${name} holds no key`);
  }
}

for (const folder of caseFolders) {
  const setting = readSetting(folder);
  t.test(`${folder} replays a recording exactly and stores no key`, async (t) => {
    const random = seededRandom(toldSeed(t));
    for (const one of readCases(folder).filter(({ name }) => neededCases.includes(name))) {
      const directory = join(t.testdir(), one.name);
      const request = { ...plain, model: one.model ?? setting.model, ...one.request };
      await using server = await serveModel(async (_asked, response) => {
        response.writeHead(one.status ?? 200, { 'content-type': caseType(one), ...one.headers });
        const inPieces = ['text', 'parallel-calls', 'reasoning'].includes(one.name);
        if (inPieces) await sendInPieces(response, caseBody(one), (below) => Math.floor(random() * below));
        response.end(inPieces ? '' : caseBody(one));
      });
      const { provider, recording } = await record(setting, one, server.base, directory);
      const then = await outcomeOf(provider, request);
      recording.close();
      const again = await replay(directory);
      t.strictSame(await outcomeOf(again, request), then, one.name);
      t.match(
        (await outcomeOf(again, request)).fault,
        server.asked.length === 0 ? then.fault : ['RECORDING_ENDED'],
        `${one.name}: and no further`,
      );
      holdsNoCanary(t, directory);
    }
  });
}

const setting: CaseSetting = { provider: 'openai', model: 'm', isOtherBase: true };
const text = readCases('openai-chat').find(({ name }) => name === 'text') as WireCase;
const request: ModelRequest = { ...plain, model: 'm' };

async function withText(ask: (server: ModelServer) => Promise<void>): Promise<void> {
  await using server = await serveModel((_asked, response) => {
    response.writeHead(200, { 'content-type': caseType(text) });
    response.end(caseBody(text));
  });
  await ask(server);
}

t.test('writes no key into a recording wherever the vendor repeats it', async (t) => {
  const directory = join(t.testdir(), 'recording');
  const basic = Buffer.from(`user:${canary}`).toString('base64');
  const said = JSON.stringify({
    error: { message: `no ${canary}, ${basic}, ${encodeURIComponent(canary)}` },
  });
  await using server = await serveModel(async (_asked, response) => {
    response.writeHead(400, {
      'content-type': `application/json; x=${canary}`,
      'set-cookie': canary,
      'x-ratelimit-note': basic,
    });
    for (const octet of Buffer.from(said)) {
      response.write(Buffer.of(octet));
      await new Promise((done) => setImmediate(done));
    }
    response.end();
  });
  const { provider } = await record(setting, text, server.base, directory);
  const messages = [{ role: 'user' as const, text: `the key is ${canary}` }];
  t.match((await outcomeOf(provider, { ...request, messages })).fault, ['PROVIDER_FAILED']);
  t.match(server.asked[0]?.headers, { authorization: `Bearer ${canary}` }, 'it was sent');
  holdsNoCanary(t, directory);
  const { request: asked, answer } = JSON.parse(readFileSync(join(directory, '0001.json'), 'utf8'));
  t.strictSame(Object.keys(asked.headers).sort(), ['accept', 'content-type']);
  t.strictSame(Object.keys(answer.headers).sort(), ['content-type', 'x-ratelimit-note']);
  t.equal(answer.pieces.join('').length, said.length, 'lengths and cuts are as they were');
  t.ok(answer.pieces.length > 5);
  const stream = replayTraffic(directory, [canary]).stream;
  const source = await sourceOf(setting);
  const again = await source.open({
    key: canary,
    base: server.base,
    isOtherBase: true,
    flags: {},
    stream,
    clock: systemClock,
  });
  t.match((await outcomeOf(again, { ...request, messages })).fault, ['PROVIDER_FAILED', /\*{20}/]);
});

t.test('an answer is written down before whoever leaves it goes on', async (t) => {
  const directory = join(t.testdir(), 'recording');
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{}');
  };
  const answered: HttpStreamer = async () => ({
    status: 200,
    headers: {},
    body: body(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const opened = { provider: 'openai', model: 'm', base: 'http://127.0.0.1', isOtherBase: true, flags: {} };
  const { stream } = await recordTraffic(answered, { directory, opened, secrets: [] });
  const answer = await stream({
    url: 'http://127.0.0.1/v1',
    method: 'POST',
    withinMs: 1000,
    idleMs: 1000,
    maxBytes: 100,
  });
  const pieces = answer.body[Symbol.asyncIterator]();
  await pieces.next();
  // A reader that knows the reply as whole does not wait for the end of the body, whose writing has begun by now.
  const end = pieces.next();
  for (let turn = 0; turn < 100; turn += 1) await null;
  await answer[Symbol.asyncDispose]();
  t.match(JSON.parse(readFileSync(join(directory, '0001.json'), 'utf8')), { answer: { end: 'whole' } });
  t.equal((await end).done, true);
});

t.test('replays a broken connection at the same place', async (t) => {
  for (const share of [0, 0.5]) {
    const directory = join(t.testdir(), String(share));
    const whole = caseBody(text);
    await using server = await serveModel((_asked, response) => {
      response.writeHead(200, { 'content-type': caseType(text) });
      response.write(whole.subarray(0, whole.length * share), () => response.destroy());
    });
    const { provider } = await record(setting, text, server.base, directory);
    const then = await outcomeOf(provider, request);
    t.match(then.fault, ['PROVIDER_FAILED', String, { kind: share === 0 ? String : 'broken-reply' }]);
    t.strictSame(await outcomeOf(await replay(directory), request), then);
  }
  const directory = join(t.testdir(), 'nobody');
  const gone = await serveModel(() => {});
  await gone[Symbol.asyncDispose]();
  const { provider } = await record(setting, text, gone.base, directory);
  const then = await outcomeOf(provider, request);
  t.match(then.fault, ['PROVIDER_FAILED', String, { kind: 'unreachable' }]);
  t.strictSame(await outcomeOf(await replay(directory), request), then);
});

t.test('replays an aborted reply as a broken reply', async (t) => {
  const directory = join(t.testdir(), 'recording');
  const stop = new AbortController();
  const whole = caseBody(text);
  await using server = await serveModel((_asked, response) => {
    response.writeHead(200, { 'content-type': caseType(text) });
    response.write(whole.subarray(0, whole.length / 2));
  });
  const { provider } = await record(setting, text, server.base, directory);
  const said: string[] = [];
  await t.rejects(async () => {
    for await (const event of provider.ask(request, stop.signal)) {
      if (event.type === 'text') said.push(event.text);
      stop.abort(new Error('stopped'));
    }
  }, /stopped/);
  const { events, fault } = await outcomeOf(await replay(directory), request);
  t.match(fault, ['PROVIDER_FAILED', /went away|ends here/, { kind: 'broken-reply' }]);
  t.match(events[0], { type: 'text', text: said[0] });
});

t.test('refuses a different request and reports the first difference', async (t) => {
  const directory = join(t.testdir(), 'recording');
  await withText(async (server) => {
    const { provider } = await record(setting, text, server.base, directory);
    await outcomeOf(provider, request);
    await outcomeOf(provider, { ...request, model: 'n' });
  });
  const messages = [{ role: 'user' as const, text: 'Say “hello”.' }];
  const { fault } = await outcomeOf(await replay(directory), { ...request, messages });
  t.match(fault, [
    'RECORDING_DIFFERS',
    /question 1 /,
    { number: 1, pointer: '/request/body/messages/1/content', expected: /héllo/, found: /hello/ },
  ]);
  const again = await replay(directory);
  t.notOk((await outcomeOf(again, request)).fault);
  t.match(
    (await outcomeOf(again, request)).fault,
    [
      'RECORDING_DIFFERS',
      String,
      { number: 2, pointer: '/request/body/model', expected: '"n"', found: '"m"' },
    ],
    'the second question is compared with the second',
  );
  const { stream, opened } = replayTraffic(directory);
  const ask = (url: string, body: string | Uint8Array) =>
    stream({ url, method: 'POST', body, withinMs: 1, idleMs: 1, maxBytes: 1 });
  const recorded = JSON.parse(readFileSync(join(directory, '0001.json'), 'utf8')).request.body;
  await t.rejects(ask(`${opened.base}/elsewhere`, JSON.stringify(recorded)), {
    code: 'RECORDING_DIFFERS',
    detail: { pointer: '/request/path', expected: '"/chat/completions"', found: '"/elsewhere"' },
  });
  await t.rejects(ask(`${opened.base}/chat/completions`, Buffer.of(0xff)), {
    code: 'RECORDING_DIFFERS',
    detail: { number: 1, pointer: '/request/base64', expected: 'nothing' },
  });
});

t.test('replays parallel requests in any order and equal requests in recorded order', async (t) => {
  const directory = join(t.testdir(), 'recording');
  let count = 0;
  const ask = (stream: HttpStreamer, body: object) =>
    stream({
      url: 'http://127.0.0.1:1/ask',
      method: 'POST',
      body: JSON.stringify(body),
      withinMs: 1,
      idleMs: 1,
      maxBytes: 999,
    });
  const read = async (answer: Awaited<ReturnType<HttpStreamer>>): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of answer.body) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  const opened = { provider: 'openai', model: 'm', base: 'http://127.0.0.1:1', isOtherBase: true, flags: {} };
  const recording = await recordTraffic(
    async () => {
      count += 1;
      const words = Buffer.from(`answer ${count}`);
      return {
        status: 200,
        headers: {},
        body: (async function* () {
          yield words;
        })(),
        async [Symbol.asyncDispose]() {},
      };
    },
    { directory, opened, secrets: [] },
  );
  const took = (ms: string) => ({
    said: `# duration_ms ${ms}, (${ms}ms), pass 2 in 5 s\noutput of check unit:\nat node:${ms}\n</untrusted>`,
  });
  for (const body of [took('0.75'), { task: 1 }, { task: 2 }, { task: 1 }])
    await read(await ask(recording.stream, body));
  const { stream } = replayTraffic(directory);
  t.equal(await read(await ask(stream, { task: 2 })), 'answer 3');
  t.equal(await read(await ask(stream, { task: 1 })), 'answer 2');
  t.equal(
    await read(await ask(stream, took('1234.5'))),
    'answer 1',
    'how long a command took, and what a check printed',
  );
  await t.rejects(ask(stream, { task: 2 }), { code: 'RECORDING_DIFFERS', detail: { number: 4 } });
  t.equal(await read(await ask(stream, { task: 1 })), 'answer 4');
  await t.rejects(ask(stream, { task: 1 }), { code: 'RECORDING_ENDED' });
  const again = replayTraffic(directory);
  await t.rejects(
    ask(again.stream, { said: '# duration_ms 1, (1.5ms), pass 2 in 6 s\noutput of check unit:\n' }),
    {
      code: 'RECORDING_DIFFERS',
      detail: { pointer: '/request/body/said' },
    },
  );
});

t.test('a recording needs an empty directory of its own and overwrites nothing', async (t) => {
  const root = t.testdir({ full: { file: 'x' }, 'a-file': 'x', empty: {} });
  symlinkSync(join(root, 'empty'), join(root, 'link'));
  const opened = { provider: 'openai', model: 'm', base: 'http://127.0.0.1:1', isOtherBase: true, flags: {} };
  const start = (name: string) =>
    recordTraffic(streamer.stream, { directory: join(root, name), opened, secrets: [] });
  await t.rejects(start('full'), { code: 'OUTPUT_EXISTS' });
  for (const name of ['a-file', 'link', 'link/', 'a-file/below'])
    await t.rejects(start(name), { code: 'OUTPUT_FAILED' }, name);
  const directory = join(root, 'new/deep');
  await withText(async (server) => {
    const { provider, recording } = await record(setting, text, server.base, directory);
    writeFileSync(join(root, 'victim'), 'as it was');
    symlinkSync(join(root, 'victim'), join(directory, '0001.json'));
    t.match((await outcomeOf(provider, request)).fault, ['OUTPUT_FAILED'], 'a planted link is not followed');
    t.equal(readFileSync(join(root, 'victim'), 'utf8'), 'as it was');
    t.match(
      (await outcomeOf(provider, request)).fault,
      ['OUTPUT_FAILED'],
      'a recording with a gap goes no further',
    );
    t.equal(server.asked.length, 1);
    t.throws(() => recording.close(), { code: 'OUTPUT_FAILED' });
    const taken = join(root, 'taken');
    const second = await record(setting, text, server.base, taken);
    writeFileSync(join(taken, '0001.json'), 'of another');
    t.match((await outcomeOf(second.provider, request)).fault, ['OUTPUT_FAILED']);
    t.equal(readFileSync(join(taken, '0001.json'), 'utf8'), 'of another');
  });
});

t.test('a recording is limited in exchanges and bytes', async (t) => {
  const root = t.testdir();
  await withText(async (server) => {
    const source = await sourceOf(setting);
    const opened = { provider: 'openai', model: 'm', base: server.base, isOtherBase: true, flags: {} };
    const ask = async (name: string, exchanges: number, bytes: number) => {
      const { stream } = await recordTraffic(streamer.stream, {
        directory: join(root, name),
        opened,
        secrets: [],
        most: { exchanges, bytes },
      });
      const provider = await source.open({ ...opened, stream, clock: systemClock });
      return [await outcomeOf(provider, request), await outcomeOf(provider, request)].map(
        ({ fault }) => fault,
      );
    };
    t.match(await ask('few', 1, 100_000), [undefined, ['OUTPUT_FAILED', /more than 1 exchanges/]]);
    t.strictSame(readdirSync(join(root, 'few')), ['0001.json']);
    for (const bytes of [100, caseBody(text).length])
      t.match(await ask(`small-${bytes}`, 9, bytes), [['OUTPUT_FAILED'], ['OUTPUT_FAILED']]);
    t.strictSame(readdirSync(join(root, 'small-100')), []);
  });
});

t.test('refuses a directory that is not a valid recording', async (t) => {
  const root = t.testdir();
  const exchange = {
    format: 'urn:writ:model-traffic:v1',
    number: 1,
    opened: { provider: 'openai', model: 'm', base: 'http://127.0.0.1:1', isOtherBase: true, flags: {} },
    request: { method: 'POST', path: '/chat/completions', headers: {}, body: {} },
    answer: { status: 200, headers: {}, pieces: ['a', { base64: '/w==' }], end: 'whole' },
  };
  let count = 0;
  const directory = (files: Readonly<Record<string, string>>): string => {
    count += 1;
    const path = join(root, String(count));
    mkdirSync(path);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
    return path;
  };
  const one = (changed: object) => directory({ '0001.json': JSON.stringify({ ...exchange, ...changed }) });
  t.match(await replaySource(one({})), { title: 'OpenAI, recorded', keys: [], defaultModel: 'm', flags: [] });
  const { opened, request: asked, answer } = exchange;
  const proto = (text: string): string => text.replace('"headers":{}', '"headers":{"__proto__":"x"}');
  const linked = directory({});
  symlinkSync(join(root, '1', '0001.json'), join(linked, '0001.json'));
  const huge = directory({ '0001.json': '' });
  // Only its length is large.
  truncateSync(join(huge, '0001.json'), 64 * 1024 * 1024 + 1);
  const link = join(root, 'link');
  symlinkSync(join(root, '1'), link);
  const below = directory({});
  mkdirSync(join(below, '0001.json'));
  for (const [why, path] of Object.entries({
    absent: join(root, 'absent'),
    'a link to one': link,
    'a file': join(root, '1', '0001.json'),
    empty: directory({}),
    'another file': directory({ '0001.json': JSON.stringify(exchange), 'notes.txt': '' }),
    'a gap': directory({ '0001.json': JSON.stringify(exchange), '0003.json': '' }),
    'no first': directory({ '0002.json': '' }),
    'a linked file': linked,
    'a huge file': huge,
    'a directory as file': below,
    'no JSON': directory({ '0001.json': 'x' }),
    'cut short': directory({ '0001.json': JSON.stringify(exchange).slice(0, -9) }),
    'a name twice': directory({ '0001.json': JSON.stringify(exchange).replace('{', '{"number":1,') }),
    deep: directory({ '0001.json': '['.repeat(100_000) }),
    'a prototype among headers': directory({ '0001.json': proto(JSON.stringify(exchange)) }),
    'a prototype': directory({ '0001.json': JSON.stringify(exchange).replace('{', '{"__proto__":{},') }),
    'another format': one({ format: 'urn:writ:model-traffic:v2' }),
    'another number': one({ number: 2 }),
    'an unknown field': one({ key: 'x' }),
    'no provider': one({ opened: { ...opened, provider: 'nobody' } }),
    'a provider by prototype': one({ opened: { ...opened, provider: 'constructor' } }),
    'flags of nobody': one({ opened: { ...opened, flags: { 'ollama-thinking': 'on' } } }),
    'a setting of nobody': one({ opened: { ...opened, flags: { constructor: 'x' } } }),
    'a setting that is none': one({ opened: { ...opened, flags: { dialect: 'x' } } }),
    'a base that is none': one({ opened: { ...opened, base: 'file:///etc/passwd' } }),
    'a base with a password': one({ opened: { ...opened, base: 'https://a:b@x.example' } }),
    'a header that may be a key': one({ request: { ...asked, headers: { authorization: 'x' } } }),
    'a method': one({ request: { ...asked, method: 'PUT' } }),
    'a path': one({ request: { ...asked, path: 'x' } }),
    'a status': one({ answer: { ...answer, status: '200' } }),
    'a status of none': one({ answer: { ...answer, status: 999 } }),
    'a piece': one({ answer: { ...answer, pieces: [1] } }),
    'a piece of other base64': one({ answer: { ...answer, pieces: [{ base64: '/x==' }] } }),
    'an end': one({ answer: { ...answer, end: 'soon' } }),
    'both an answer and none': one({ answer: { ...answer, failed: 'left', found: '' } }),
  }))
    await t.rejects(replaySource(path), { code: 'RECORDING_MALFORMED' }, why);
  const second = { ...exchange, number: 2, opened: { ...opened, isOtherBase: false } };
  const mixed = directory({ '0001.json': JSON.stringify(exchange), '0002.json': JSON.stringify(second) });
  const { stream } = replayTraffic(mixed);
  const ask = () =>
    stream({
      url: 'http://127.0.0.1:1/chat/completions',
      method: 'POST',
      body: '{}',
      withinMs: 1,
      idleMs: 1,
      maxBytes: 1,
    });
  await ask();
  await t.rejects(
    ask(),
    { code: 'RECORDING_MALFORMED', detail: { file: '0002.json' } },
    'two providers in one',
  );
});

t.test('a secret hidden during a recording is in none of its later exchanges', async (t) => {
  const directory = join(t.testdir(), 'kept');
  await using server = await serveModel((_asked, response) => void response.end('{"said":"later-secret-1"}'));
  const opened = { provider: 'openai', model: 'm', base: server.base, isOtherBase: true, flags: {} };
  const recording = await recordTraffic(streamer.stream, { directory, opened, secrets: [canary] });
  const ask = async (): Promise<void> => {
    const bounds = { withinMs: 5000, idleMs: 5000, maxBytes: 1000, signal: new AbortController().signal };
    const body = JSON.stringify({ told: ['later-secret-1', canary] });
    await using answer = await recording.stream({ url: `${server.base}/x`, method: 'POST', body, ...bounds });
    for await (const _ of answer.body);
  };
  await ask();
  recording.hide('later-secret-1');
  await ask();
  recording.close();
  const [before = '', after = ''] = readdirSync(directory)
    .sort()
    .map((name) => readFileSync(join(directory, name), 'utf8'));
  t.match(before, /later-secret-1/, 'nobody had said that it is one');
  t.notMatch(after, /later-secret-1/);
  t.match(after, /told/);
  holdsNoCanary(t, directory);
});
