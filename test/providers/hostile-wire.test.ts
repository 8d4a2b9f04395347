import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import type { HttpStreamer } from '../../core/base/http-question.ts';
import type { ModelMessage, ModelRequest, ToolCall } from '../../core/interfaces/model.ts';
import type { Provider } from '../../core/interfaces/provider.ts';
import { caseBody, caseType } from '../../plugins/testers/provider-tester.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { seededRandom } from '../chance/seeded-random.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { long } from '../rooms/long.ts';
import { asBody, asFrame, callsOf, chatCalls, moreCalls, moreChatCalls } from './hostile/floods.ts';
import { countOf, nastyValues, withNasty } from './hostile/nasty-values.ts';
import { type Outcome, outcomeOf } from './hostile/outcome.ts';
import { serveModel } from './model-server.ts';
import { type CaseSetting, caseFolders, readCases, readSetting, type WireCase } from './wire-case.ts';

const key = 'sk-canary-0123456789';
const megabyte = 1024 * 1024;

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** A provider whose vendor says one thing, at once. */
async function openWith({ provider, isOtherBase, flags = {} }: CaseSetting, answer: Answer) {
  const asked: string[] = [];
  const stream: HttpStreamer = async ({ body }) => {
    asked.push(String(body));
    return {
      status: answer.status ?? 200,
      headers: answer.headers ?? {},
      body: (async function* () {
        yield Buffer.from(answer.body);
      })(),
      async [Symbol.asyncDispose]() {},
    };
  };
  const source = await (builtInProviders[provider] as (typeof builtInProviders)[string])();
  const base = 'http://127.0.0.1:1';
  return {
    asked,
    opened: await source.open({ key, base, isOtherBase, flags, stream, clock: systemClock }),
  };
}

const requestFor = ({ model }: CaseSetting, messages: readonly ModelMessage[] = []): ModelRequest => ({
  model,
  system: ['You change code.'],
  messages: [{ role: 'user', text: 'Go.' }, ...messages],
  tools: [],
});

/** The reply goes back as a session would send it; whatever it holds, that is a question. */
async function askNext(provider: Provider, setting: CaseSetting, outcome: Outcome): Promise<Outcome> {
  if (outcome.is !== 'reply') return outcome;
  const end = outcome.events.at(-1);
  const calls = outcome.events.flatMap((event): ToolCall[] => (event.type === 'call' ? [event.call] : []));
  const value: unknown = end?.type === 'end' ? end.state : undefined;
  return outcomeOf(
    provider,
    requestFor(setting, [
      {
        role: 'assistant',
        text: '',
        calls,
        ...(value === undefined ? {} : { state: { provider: provider.name, model: setting.model, value } }),
      },
      { role: 'tool', results: calls.map(({ id, name }) => ({ callId: id, name, text: '', isError: true })) },
    ]),
  );
}

/** A case with a part of one of its frames swapped. */
function nastyBody(one: WireCase, nasty: string, next: (below: number) => number): string {
  const frames = one.events?.map(({ data }) => data) ?? one.lines ?? [one.json ?? null];
  const swapped = next(frames.length);
  const asText = (frame: unknown, place: number): string => {
    if (place === swapped) return withNasty(frame, next(countOf(frame)), nasty);
    return typeof frame === 'string' ? frame : JSON.stringify(frame);
  };
  const texts = frames.map(asText);
  if (one.events === undefined && one.lines === undefined) return texts.join('');
  return texts.map((text) => asFrame(one, text)).join('');
}

for (const folder of caseFolders) {
  const all = readCases(folder);
  const text = all.find(({ name }) => name === 'text') as WireCase;
  const given = readSetting(folder);
  // As its text is asked for: a vendor that does not stream unless it is told to has that in the case.
  const setting = { ...given, flags: { ...given.flags, ...text.flags } };
  const cases = all.filter((one) => one.model === undefined && one.flags === undefined);

  t.test(`${folder} turns malformed vendor data into a sound reply or a failure`, async (t) => {
    const random = seededRandom(toldSeed(t));
    const next = (below: number): number => Math.floor(random() * below);
    let replies = 0;
    for (const one of cases)
      for (let round = 0; round < 8; round += 1) {
        const nasty = nastyValues[next(nastyValues.length)] as string;
        const body = nastyBody(one, nasty, next);
        const { opened } = await openWith(setting, {
          ...(one.status === undefined ? {} : { status: one.status }),
          headers: { 'content-type': caseType(one), 'retry-after': nasty.slice(0, 99) },
          body,
        });
        const outcome = await outcomeOf(opened, requestFor(setting));
        const after = await askNext(opened, setting, outcome);
        replies += outcome.is === 'reply' ? 1 : 0;
        for (const { is, ...rest } of [outcome, after])
          if (is === 'unsound') t.fail(`${one.name}: ${JSON.stringify(rest)}\n${body.slice(0, 2000)}`);
      }
    t.ok(replies > 10, `${replies} of them were replies`);
  });

  t.test(`${folder} accepts stored state that no reply left behind`, async (t) => {
    const { opened, asked } = await openWith(setting, { body: caseBody(text) });
    for (const nasty of nastyValues) {
      const state = { provider: opened.name, model: setting.model, value: JSON.parse(nasty) as unknown };
      const messages: ModelMessage[] = [
        { role: 'assistant', text: '', calls: [{ id: 'a', name: 'b', arguments: nasty }], state },
        { role: 'tool', results: [{ callId: 'x', name: '__proto__', text: '\ud800', isError: false }] },
      ];
      const outcome = await outcomeOf(opened, requestFor(setting, messages));
      t.match(outcome, { is: 'reply' }, nasty.slice(0, 40));
      const halves: string[] = [];
      JSON.parse(asked.at(-1) ?? '', (_name, part) => {
        if (typeof part === 'string' && !part.isWellFormed()) halves.push(part);
      });
      t.strictSame(halves, [], 'half a character stays here');
    }
  });

  t.test(`${folder} does not repeat a key that the vendor echoes`, async (t) => {
    const said = { error: { message: `no such key: ${key}`, type: 'x' }, message: key };
    const answers: readonly Answer[] = [
      { status: 401, body: JSON.stringify(said) },
      { status: 500, body: `<html>${'-'.repeat(275)}${key}` },
      { body: asFrame(text, JSON.stringify({ type: 'error', ...said })) },
      { body: asFrame(text, `${'-'.repeat(68)}${key}`) },
    ];
    for (const answer of answers) {
      const { opened } = await openWith(setting, answer);
      const outcome = await outcomeOf(opened, requestFor(setting));
      t.match(outcome, { is: 'failed' });
      t.notMatch(outcome, { text: key.slice(0, 8) });
    }
  });
}

long('stops reading a vendor that sends too much, in bounded memory', async (t) => {
  const thread = new Worker(new URL('./hostile/asking-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 400 },
  });
  t.teardown(() => thread.terminate());
  const seen = new Set<string>();
  for (const folder of caseFolders) {
    const setting = readSetting(folder);
    const text = readCases(folder).find(({ name }) => name === 'text') as WireCase;
    const framing = caseType(text);
    // What no vendor's reader sees is the same for all that frame alike.
    const floods = { ...(seen.has(framing) ? {} : floodsOf(text)), ...readerFloods(folder, text) };
    seen.add(framing);
    for (const [name, flood] of Object.entries(floods)) {
      await using server = await serveModel((_asked, response) => pour(response, framing, flood()));
      thread.postMessage({ ...setting, base: server.base, request: requestFor(setting) });
      const [outcome] = (await once(thread, 'message')) as [Outcome];
      t.match(
        outcome,
        { is: 'failed', kind: 'broken-reply', text: saidOf[name] ?? /./ },
        `${folder}: ${name}`,
      );
    }
  }
});

/** What is refused before it costs anything says so: the rest is refused in one way or another. */
const saidOf: Readonly<Record<string, RegExp>> = {
  'too many values': /at most \d+ values/,
  'too many levels': /at most \d+ levels/,
  'a thousand calls': /more than 128 calls/,
};

type Floods = Readonly<Record<string, () => Iterable<string>>>;

function floodsOf(text: WireCase): Floods {
  return {
    'a frame of 100 MB': () => [text.lines ? '"' : 'data: "', ...endless('x'.repeat(megabyte), 100)],
    'comments without an end': () => endless(`: ${'x'.repeat(megabyte)}\n\n`),
    'an event of lines without an end': () => endless(`data: ${'x'.repeat(megabyte)}\n`),
    'too many values': () => [asFrame(text, `[${'[],'.repeat(2_500_000)}0]`)],
    'too many levels': () => [asFrame(text, '['.repeat(megabyte) + ']'.repeat(megabyte))],
  };
}

function readerFloods(folder: string, text: WireCase): Floods {
  const manyCalls = (callsOf[folder] ?? chatCalls)(1000);
  const more = moreCalls[folder] ?? moreChatCalls;
  // Room between values costs a vendor nothing, and us no memory.
  const wide = (frame: unknown): string => asFrame(text, JSON.stringify(frame) + ' '.repeat(megabyte / 4));
  return {
    'text without an end': () => endless(firstFrames(text).map(wide).join('')),
    'a thousand calls': () => [asBody(text, manyCalls)],
    'calls without an end': () => counted((frame) => asFrame(text, JSON.stringify(more(frame)))),
  };
}

/** The first frame that says something. */
function firstFrames({ events, lines }: WireCase): readonly unknown[] {
  return (events?.map(({ data }) => data) ?? lines ?? []).slice(0, 3);
}

function* endless(piece: string, times = 1_000_000): Iterable<string> {
  for (let count = 0; count < times; count += 1) yield piece;
}

function* counted(pieceOf: (count: number) => string): Iterable<string> {
  for (let count = 0; ; count += 1) yield pieceOf(count);
}

/** Writes as fast as the other side reads, until it is gone. */
async function pour(response: ServerResponse, contentType: string, pieces: Iterable<string>): Promise<void> {
  response.on('error', () => {});
  response.writeHead(200, { 'content-type': contentType });
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece))
      await new Promise<void>((done) => {
        const settle = (): void => {
          response.off('drain', settle).off('close', settle);
          done();
        };
        response.on('drain', settle).on('close', settle);
      });
  }
  response.end();
}
