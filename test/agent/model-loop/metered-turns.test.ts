import t from 'tap';
import { openTurns } from '../../../agent/model-loop/model-turns.ts';
import type { MeteredQuestion, MeteredReply, ModelMeter } from '../../../agent/model-loop/open-model.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import type { ModelEvent, ModelRequest } from '../../../core/interfaces/model.ts';
import { type Provider, providerFailure } from '../../../core/interfaces/provider.ts';
import { guardingProfile } from '../../../spec/facts.ts';

const question = { system: ['s'.repeat(40)], messages: [{ role: 'user', text: 'x' }], tools: [] } as const;

/** Answers with these, one after the other; prices what it is asked at a unit a token, less what is cached. */
function answers(...replies: readonly (readonly ModelEvent[] | Error)[]) {
  let asked = 0;
  const requests: ModelRequest[] = [];
  const provider: Provider = {
    name: 'p',
    async *ask(request) {
      requests.push(request);
      const reply = replies[asked] ?? [];
      asked += 1;
      if (reply instanceof Error) throw reply;
      yield* reply;
      if (!reply.some(({ type }) => type === 'end'))
        throw providerFailure({ provider: 'p', kind: 'bad-request', found: 'cut' });
    },
    costUnits: (_model, { input, output, cachedInput = 0 }) => input + output - cachedInput,
    contextTokens: () => 5000,
  };
  return { provider, requests, asked: () => asked };
}

function turnsOf(provider: Provider, meter: ModelMeter) {
  const effective = guardingProfile(0);
  return openTurns(
    {
      identity: { contract: { effective } },
      services: { signal: new AbortController().signal, settings: { clock: systemClock, meter } },
    },
    {
      provider,
      model: 'm',
      origin: { provider: 'p', model: 'm', endpoint: 'p.example', agent: 'coder' },
      secrets: [],
    },
    { task: 'task-1' },
  );
}

const usage = (input: number, output: number, cachedInput: number): ModelEvent => ({
  type: 'usage',
  usage: { input, output, cachedInput },
});
const end: ModelEvent = { type: 'end', end: 'stop' };

t.test('a meter is notified of every request before it is sent and once of its end', async (t) => {
  const heard: (MeteredQuestion | MeteredReply | undefined)[] = [];
  const meter: ModelMeter = {
    begin(asked) {
      heard.push(asked);
      return (reply) => void heard.push(reply);
    },
  };
  const overloaded = providerFailure({
    provider: 'p',
    kind: 'overloaded',
    found: 'later',
    retryAfterSeconds: 0,
  });
  const { provider } = answers(
    [usage(90, 10, 20), end],
    overloaded,
    [usage(95, 5, 0), end],
    [usage(40, 2, 0)],
  );
  const turns = turnsOf(provider, meter);
  await turns.take(question);
  await turns.take(question);
  await t.rejects(turns.take(question), { code: 'PROVIDER_FAILED' });
  const [asked] = heard as readonly MeteredQuestion[];
  const inputTokens = asked?.inputTokens ?? 0;
  t.ok(inputTokens > 10 && inputTokens < 200, `about ${inputTokens} tokens`);
  const next = { provider: 'p', model: 'm', inputTokens, task: 'task-1' };
  t.strictSame(heard, [
    { ...next, costUnits: inputTokens },
    { usage: { input: 90, output: 10, cachedInput: 20 }, costUnits: 80, contextTokens: 5000 },
    { ...next, costUnits: inputTokens - 20 },
    undefined,
    { ...next, costUnits: inputTokens - 20 },
    { usage: { input: 95, output: 5, cachedInput: 0 }, costUnits: 100, contextTokens: 5000 },
    { ...next, costUnits: inputTokens },
    { usage: { input: 40, output: 2, cachedInput: 0 }, costUnits: 42, contextTokens: 5000 },
  ]);
  t.match(turns.taken(), { costUnits: 222, tokensUsed: 242 }, 'a reply that broke off was paid for');
});

t.test('a reply that the vendor pauses goes back as it came, and goes on', async (t) => {
  const text = (said: string): ModelEvent => ({ type: 'text', text: said });
  const paused = (...state: unknown[]): ModelEvent => ({ type: 'end', end: 'paused', state });
  const { provider, requests } = answers(
    [text('So far'), paused('a', 'b')],
    [text(' and on'), { type: 'end', end: 'stop', state: ['c'] }],
  );
  const turns = turnsOf(provider, { begin: () => () => {} });
  const { message, end: how } = await turns.take(question);
  t.equal(how, 'stop');
  const state = { provider: 'p', model: 'm', value: ['a', 'b', 'c'] };
  t.strictSame(message, { role: 'assistant', text: 'So far and on', calls: [], state });
  t.strictSame(requests[1]?.messages, [
    ...question.messages,
    { role: 'assistant', text: 'So far', calls: [], state: { ...state, value: ['a', 'b'] } },
  ]);
  t.equal(turns.taken().turns, 2);

  const endless = answers(...Array.from({ length: 20 }, () => [text('x'), paused('x')]));
  const cut = await turnsOf(endless.provider, { begin: () => () => {} }).take(question);
  t.match(cut, { end: 'length', message: { text: 'x'.repeat(9) } });
  t.equal(endless.asked(), 9);
});

t.test('a request that a meter refuses is not sent', async (t) => {
  const { provider, asked } = answers([usage(1, 1, 0), end]);
  const refused = new WritError('TURN_LIMIT');
  const turns = turnsOf(provider, {
    begin() {
      throw refused;
    },
  });
  await t.rejects(turns.take(question), { code: 'TURN_LIMIT' });
  t.equal(asked(), 0);
});

t.test('a reply that reports no usage, or breaks off, is charged by an estimate', async (t) => {
  const text: ModelEvent = { type: 'text', text: 'a'.repeat(400) };
  const used = async (...reply: readonly ModelEvent[]): Promise<number> => {
    const turns = turnsOf(answers(reply).provider, { begin: () => () => {} });
    await turns.take(question).catch((fault) => t.match(fault, { code: 'PROVIDER_FAILED' }));
    return turns.taken().tokensUsed;
  };
  const guessed = await used(text, end);
  t.ok(guessed > 100 && guessed < 200, `${guessed} tokens`);
  t.equal(await used(text, usage(0, 0, 0), end), guessed);
  t.equal(await used(text), guessed, 'one that breaks off untold');
  t.equal(await used(text, usage(1, 0, 0), end), 1, 'what is told is believed');
  t.equal(await used(), 0, 'one that never began');
});
