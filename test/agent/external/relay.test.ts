import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { recipeOf } from '../../../agent/external/recipes.ts';
import { type AgentRelay, openHiding, openRelay, placeholderKey } from '../../../agent/external/relay.ts';
import { canonicalDigest } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { ModelWork } from '../../../core/interfaces/model-work.ts';
import { openai } from '../../../providers/openai/source.ts';
import { type AskedModel, canary, chatAnswer, modelHost, openModelHost } from './fake-agent.ts';

const about = { name: 'agent', sha256: '0'.repeat(64), recipe: 'codex' };

/** A relay to the model of the tests, for a provider with this base. */
async function open(
  t: Test,
  world: Pick<Awaited<ReturnType<typeof openModelHost>>, 'outside'>,
  {
    provider = 'openai',
    base = `https://${modelHost}/v1`,
    hosts = [modelHost],
    refusal = () => undefined,
    ...more
  }: Record<string, unknown> & {
    readonly provider?: string;
    readonly base?: string;
    readonly hosts?: readonly string[];
    readonly refusal?: (model: string) => string | undefined;
  } = {},
): Promise<AgentRelay> {
  // The path of a socket is short.
  const privateRoot = mkdtempSync(join(tmpdir(), 'writ-relay-'));
  const opened = await openai.open({ flags: {} } as Parameters<typeof openai.open>[0]);
  const relay = await openRelay(
    {
      services: {
        signal: new AbortController().signal,
        settings: { clock: systemClock, ...world },
        privateRoot,
      },
    } as unknown as Parameters<typeof openRelay>[0],
    {
      provider: opened,
      model: 'scripted',
      origin: { provider, model: 'scripted', endpoint: modelHost, agent: 'external-agent' },
      secrets: [canary, 'another-secret-0123456789'],
      external: {
        recipe: recipeOf({ argv: ['codex'], recipe: 'auto' }),
        base,
        key: canary,
        refusal,
        priced: () => opened,
      },
    },
    { openings: [[{ hosts, reason: 'it asks its model' }]], program: about, ...more },
  );
  t.teardown(async () => {
    await relay.close();
    rmSync(privateRoot, { recursive: true });
  });
  return relay;
}

const question = { model: 'scripted', messages: [{ role: 'user', content: 'hello' }] };

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

/** Asks as a program in the sandbox would. */
function ask(
  { network }: Pick<AgentRelay, 'network'>,
  { method = 'POST', path = '/v1/chat/completions', headers = {}, body = question }: Sent = {},
): Promise<{ readonly status: number; readonly headers: object; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: `${network.way}/proxy`, method, path, headers }, (response) => {
      let said = '';
      response.on('data', (part: Buffer) => {
        said += part.toString();
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: said }),
      );
    });
    asking.on('error', reject);
    asking.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

t.test('the relay replaces every key of the agent with the key of the user', async (t) => {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi'));
  const own = {
    authorization: `Bearer ${placeholderKey}`,
    'x-api-key': placeholderKey,
    'x-goog-api-key': placeholderKey,
    'api-key': placeholderKey,
    cookie: 'a=b',
    'openai-beta': 'kept',
  };
  const keyOf = ({ headers }: AskedModel) => [
    headers.authorization,
    headers['x-api-key'],
    headers['x-goog-api-key'],
  ];
  const cases = [
    { provider: 'openai', path: '/v1/responses', keys: [`Bearer ${canary}`, undefined, undefined] },
    {
      provider: 'anthropic',
      base: `https://${modelHost}`,
      path: '/v1/messages',
      keys: [undefined, canary, undefined],
    },
    {
      provider: 'gemini',
      base: `https://${modelHost}/v1beta`,
      path: `/v1beta/models/gemini-4:streamGenerateContent?alt=sse&key=${placeholderKey}`,
      keys: [undefined, undefined, canary],
    },
  ];
  for (const { path, keys, ...provider } of cases) {
    const relay = await open(t, world, provider);
    const { status } = await ask(relay, { path, headers: own });
    t.equal(status, 200);
    const asked = world.asked.at(-1) as AskedModel;
    t.same(keyOf(asked), keys);
    t.match(asked.headers, {
      host: modelHost,
      'openai-beta': 'kept',
      cookie: undefined,
      'api-key': undefined,
    });
    t.equal(asked.path, path.replace(/&key=.*/, ''));
    t.notMatch(JSON.stringify(asked), placeholderKey);
  }
});

t.test('the relay refuses every request that is none for the model', async (t) => {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi'));
  const relay = await open(t, world);
  const cases: Record<string, Sent & { readonly status: number }> = {
    'another method': { method: 'GET', body: '', status: 403 },
    'another path': { path: '/v1/files', status: 403 },
    'a path that leaves the base': { path: '/v1/../admin/chat/completions', status: 403 },
    'another host': { path: 'https://evil.example/v1/chat/completions', status: 403 },
    'a host without a scheme': { path: '//evil.example/v1/chat/completions', status: 403 },
    'a compressed body': { headers: { 'content-encoding': 'gzip' }, status: 415 },
    'no JSON': { body: 'model', status: 400 },
    'no model': { body: {}, status: 400 },
    'a model that is no line': { body: { model: 'a\nb' }, status: 400 },
  };
  for (const [name, { status, ...sent }] of Object.entries(cases))
    t.equal((await ask(relay, sent)).status, status, name);
  t.equal(world.asked.length, 0);
  t.equal(relay.taken().turns, 0);
});

t.test('the relay refuses a model that the policy does not allow', async (t) => {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi'));
  const refusal = (model: string) => (model === 'scripted' ? undefined : 'not that one');
  const relay = await open(t, world, { refusal });
  t.match(await ask(relay, { body: { ...question, model: 'dear' } }), { status: 403, body: /not that one/ });
  t.equal((await ask(relay)).status, 200);
  t.equal(world.asked.length, 1);
});

t.test('the relay reaches only the host that the tool rule opens', async (t) => {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi'));
  const relay = await open(t, world, { hosts: ['docs.example.com'] });
  t.equal((await ask(relay)).status, 502);
  t.equal(world.asked.length, 0);
  t.match(relay.connections(), {
    opened: [{ hosts: ['docs.example.com'] }],
    uses: [{ host: modelHost, outcome: 'refused', why: 'not-listed' }],
  });
  const inside = await open(t, world, { base: 'https://inside.example/v1', hosts: ['inside.example'] });
  t.equal((await ask(inside)).status, 502);
  t.match(inside.connections(), { uses: [{ outcome: 'refused', why: 'address' }] });
});

t.test('a key that the host repeats does not reach the agent', async (t) => {
  const world = await openModelHost(t, (_asked, response) => {
    response.writeHead(401, { 'content-type': 'application/json', 'x-seen': canary, 'set-cookie': 'a=b' });
    const text = JSON.stringify({ error: `wrong key ${canary}, ${canary}; sk-can` });
    for (const letter of text) response.write(letter);
    response.end();
  });
  const relay = await open(t, world);
  const { status, headers, body } = await ask(relay);
  t.equal(status, 401);
  t.notMatch(JSON.stringify(headers) + body, canary);
  t.notMatch(headers, { 'set-cookie': /./ });
  t.match(body, /^\{"error":"wrong key \*+, \*+; sk-can"\}$/, 'what only begins like it stays');
  t.match(relay.failure(), { message: /HTTP 401/ });
});

t.test('a key is hidden wherever an answer is cut', async (t) => {
  const text = `${canary} sk-sk-can ${canary}${canary} sk-canary`;
  const hidden = text.replaceAll(canary, '*'.repeat(canary.length));
  for (let size = 1; size <= text.length; size += 1) {
    const hiding = openHiding(canary);
    const pieces: Buffer[] = [];
    for (let at = 0; at < text.length; at += size)
      pieces.push(hiding.add(Buffer.from(text.slice(at, at + size))));
    t.equal(Buffer.concat([...pieces, hiding.rest()]).toString(), hidden, `pieces of ${size}`);
  }
});

t.test('a secret in a request does not reach the model', async (t) => {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi'));
  const relay = await open(t, world);
  await ask(relay, { body: { ...question, user: `a ${canary} b another-secret-0123456789` } });
  t.notMatch(world.asked[0]?.text, /canary|another-secret/);
});

t.test('requests are counted and recorded by digest, with their usage', async (t) => {
  const called: ModelWork[] = [];
  const answers = [{ prompt_tokens: 700, completion_tokens: 300 }, null];
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi', answers.shift()));
  const relay = await open(t, world, { called: (one: ModelWork) => called.push(one) });
  await ask(relay, { body: { ...question, tools: [{ type: 'function', name: 'exec' }] } });
  t.match(relay.taken(), { turns: 1, tokensUsed: 1000 });
  await ask(relay, { body: { ...question, model: 'small' } });
  const { tokensUsed, turns } = relay.taken();
  t.equal(turns, 2);
  t.ok(tokensUsed > 1000 && tokensUsed < 2000, 'usage that is not reported is estimated');
  relay.addLog('1'.repeat(64));
  const models = relay.taken().models;
  t.match(called, [
    { model: 'scripted', tools: ['exec'], program: about, endpoint: modelHost },
    { model: 'small', program: about },
    { model: 'scripted', logs: ['1'.repeat(64)] },
    { model: 'small', logs: ['1'.repeat(64)] },
  ]);
  t.equal(called[1]?.exchanges[0]?.question, canonicalDigest({ ...question, model: 'small' }));
  t.equal(models.length, 4);
});

t.test('one attempt is bounded in its models and its cost', async (t) => {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, 'hi'));
  const relay = await open(t, world);
  for (const model of ['a', 'b', 'c', 'd'])
    t.equal((await ask(relay, { body: { ...question, model } })).status, 200);
  t.equal((await ask(relay, { body: { ...question, model: 'e' } })).status, 400);
  const spent = await open(t, world, { unitsLeft: 1 });
  t.equal((await ask(spent)).status, 200);
  t.equal((await ask(spent)).status, 402);
  t.match(spent.failure(), { message: /cost limit/ });
});

t.test('answers pass unchanged, and a host that sends another form is not trusted', async (t) => {
  const world = await openModelHost(t, ({ body }, response) => {
    if (body.model === 'json') {
      response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r1' });
      response.end(JSON.stringify({ usage: { input_tokens: 3, output_tokens: 4 }, id: 'é' }));
    } else if (body.model === 'moved')
      response.writeHead(307, { location: 'https://evil.example/' }).end('there');
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
  });
  const relay = await open(t, world);
  const plain = await ask(relay, { body: { model: 'json' } });
  t.match(plain, { status: 200, headers: { 'x-request-id': 'r1' }, body: /"id":"é"/ });
  t.equal(relay.taken().tokensUsed, 7);
  const moved = await ask(relay, { body: { model: 'moved' } });
  t.equal(moved.status, 307);
  t.notOk('location' in moved.headers);
  t.equal((await ask(relay, { body: { model: 'packed' } })).status, 502);
  t.equal(world.asked.length, 3, 'no redirect is followed');
});
