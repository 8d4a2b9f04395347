import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { runWrit } from '../start-writ.ts';

const lister = pathToFileURL(join(import.meta.dirname, '..', 'list-loaded.ts')).href;

interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A collector; `answer` says with which status the request of this number is answered, with 0 never. */
async function collector(t: Test, answer: (index: number) => number = () => 200) {
  const bodies: string[] = [];
  const headers: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      bodies.push(body);
      headers.push(request.headers['x-token']);
      const status = answer(bodies.length - 1);
      if (status > 0) response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const spans = (): readonly SentSpan[] =>
    bodies.flatMap((body) =>
      (JSON.parse(body).resourceSpans as { scopeSpans: { spans: SentSpan[] }[] }[]).flatMap(
        ({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans),
      ),
    );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, headers, spans };
}

const plan: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};
const secret = 'key-of-nobody-1234567890';

/** `writ code --print` that changes a file, with these variables. */
async function session(t: Test, more: Readonly<Record<string, string>>, replies: readonly ScriptedReply[]) {
  const sample = makeSample();
  const model = await scriptModel(replies);
  t.teardown(async () => {
    await model[Symbol.asyncDispose]();
    sample.remove();
  });
  const env = { ...sample.env, OPENAI_API_KEY: secret, ...more };
  const words = ['code', '--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
  const ended = await runWrit([...words, '--print', 'Make PRICES exact.'], { cwd: sample.root, env });
  return { ...ended, sample };
}

long(
  'a collector gets spans of turn, run, stages, checks, tools and model calls, and no content',
  async (t) => {
    const { url, bodies, headers, spans } = await collector(t);
    const { code, err, sample } = await session(
      t,
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-token=abc',
        OTEL_SERVICE_NAME: 'our-writ',
        OTEL_RESOURCE_ATTRIBUTES: 'team=payments',
      },
      [submits(priceDraft), plan, ...makesFix],
    );
    t.equal(code, 0, err);
    const names = spans().map(({ name }) => name);
    for (const name of ['turn', 'run', 'check', 'chat scripted']) t.ok(names.includes(name), name);
    t.ok(names.some((name) => name.startsWith('stage ')));
    t.ok(names.some((name) => name.startsWith('execute_tool ')));
    const named = (name: string) => spans().filter((one) => one.name === name);
    const [turn] = named('turn');
    const [run] = named('run');
    t.equal(run?.parentSpanId, turn?.spanId, 'the run is part of the turn');
    t.ok(
      spans().every(({ traceId }) => traceId === turn?.traceId),
      'one trace',
    );
    const ofCall = named('chat scripted')[0]?.attributes.map(({ key }) => key) ?? [];
    for (const key of ['gen_ai.request.model', 'gen_ai.provider.name', 'gen_ai.usage.input_tokens'])
      t.ok(ofCall.includes(key), key);
    t.strictSame([...new Set(headers)], ['abc']);
    const all = bodies.join('\n');
    t.match(all, /our-writ/);
    t.match(all, /payments/);
    for (const word of [
      'PRICES',
      'exact',
      'price.',
      'cent',
      secret,
      sample.root,
      sample.home,
      'node --test',
      '127.0.0.1',
    ])
      t.notMatch(all, word, `nothing of \`${word}\``);
  },
);

long('a collector that refuses, hangs or is not there changes neither exit code nor output', async (t) => {
  const answer: ScriptedReply = { text: 'It adds a cent.' };
  const plain = await session(t, {}, [answer]);
  const hanging = await collector(t, () => 0);
  const stuck = await collector(t, (index) => (index === 0 ? 0 : 200));
  const refusing = await collector(t, () => 500);
  for (const endpoint of [hanging.url, stuck.url, refusing.url, 'http://127.0.0.1:1', 'no address']) {
    // An export that begins early and that the user lets wait for an hour is not waited for.
    const waits = { OTEL_EXPORTER_OTLP_TIMEOUT: '3600000', OTEL_BSP_SCHEDULE_DELAY: '1' };
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...waits };
    const { code, out, err } = await session(t, env, [answer]);
    t.strictSame([code, out], [plain.code, plain.out], endpoint);
    t.notMatch(err, /\n\s+at /, 'no stack');
  }
  t.ok(hanging.bodies.length > 0, 'it was asked');
});

t.test('without a collector, or switched off, no module of OpenTelemetry is loaded', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const loaded = join(sample.home, 'loaded');
  const modulesOf = async (more: Readonly<Record<string, string>>): Promise<string> => {
    writeFileSync(loaded, '');
    const env = { ...sample.env, LOADED_INTO: loaded, NODE_OPTIONS: `--import ${lister}`, ...more };
    await runWrit(['doctor'], { cwd: sample.root, env });
    return readFileSync(loaded, 'utf8');
  };
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:1';
  const off = {
    'no collector': {},
    'no address': { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    disabled: { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    'no traces': { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  };
  for (const [name, more] of casesOf(off, ['disabled']))
    t.notMatch(await modulesOf(more), /opentelemetry|telemetry\.ts/, name);
  t.match(await modulesOf({ OTEL_EXPORTER_OTLP_ENDPOINT }), /opentelemetry/, 'what is loaded is seen');
});
