import t from 'tap';
import { openTurns } from '../../../agent/model-loop/model-turns.ts';
import { type Provider, providerFailure } from '../../../core/interfaces/provider.ts';
import { openSession } from '../../../session/open-session.ts';
import { reduce } from '../../../session/state/reduce.ts';
import { replyPieces } from '../../../session/work/reply-pieces.ts';
import { guardingProfile } from '../../../spec/facts.ts';
import { makeSample } from '../../engine/sample.ts';
import { serveModel } from '../../providers/model-server.ts';
import { quickClock } from '../../waiting/quick-clock.ts';
import { until } from '../../waiting/until.ts';
import { newWorld } from '../state/walk.ts';
import { settingOf } from './scripted-session.ts';

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\ndata: [DONE]\n\n';

t.test(
  'a tool call is a preview while the model streams it, and is then replaced by the executed call',
  async (t) => {
    const sample = makeSample();
    let goesOn: () => void = () => {};
    const model = await serveModel(async (asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (model.asked.length > 1) {
        response.end(`${chunk({ content: 'It adds a cent.' })}${chunk({}, 'stop')}${usage}`);
        return;
      }
      t.ok(asked.path.endsWith('/chat/completions'));
      const call = (given: object): object => ({ tool_calls: [{ index: 0, ...given }] });
      response.write(
        chunk(call({ id: 'c', type: 'function', function: { name: 'read_file', arguments: '' } })),
      );
      await new Promise<void>((resolve) => {
        goesOn = resolve;
      });
      response.write(chunk(call({ function: { arguments: '{"path":"src/price.js"}' } })));
      response.end(`${chunk({}, 'tool_calls')}${usage}`);
    });
    const setting = await settingOf(sample, model);
    const session = await openSession(setting);
    t.teardown(async () => {
      await session[Symbol.asyncDispose]();
      await setting.engine[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      sample.remove();
    });
    const { channel } = session;
    await channel.send({ type: 'submit', text: '/ask What does price do?', proof: { from: 'local' } });
    await until(() => channel.state.toolCalls.length > 0);
    t.match(channel.state.toolCalls, [{ toolName: 'read_file', status: 'preview' }]);
    t.equal(channel.state.status, 'thinking');
    goesOn();
    await until(() => channel.state.turn === undefined);
    t.match(
      channel.state.toolCalls,
      [
        {
          toolName: 'workspace.fs',
          status: 'completed',
          details: /^workspace\.fs read: done, \d+ ms\npaths: src\/price\.js$/,
        },
      ],
      'and the use has its details',
    );
  },
);

t.test('a reply that broke is replaced by the reply to the same question', async (t) => {
  const shownAfter = async (...replies: readonly (readonly [text: string, isWhole?: boolean])[]) => {
    let asked = 0;
    const provider: Provider = {
      name: 'p',
      async *ask() {
        const [text, isWhole = false] = replies[asked++] ?? [''];
        yield { type: 'text', text: text.slice(0, 2) };
        yield { type: 'text', text: text.slice(2) };
        if (text.startsWith('I think')) {
          yield { type: 'reasoned' };
          yield { type: 'text', text: 'It adds.' };
        }
        if (isWhole) yield { type: 'end', end: 'stop' };
        else
          throw providerFailure({ provider: 'p', kind: 'broken-reply', found: 'cut', retryAfterSeconds: 0 });
      },
      costUnits: () => 0,
    };
    const services = { signal: new AbortController().signal, settings: { clock: quickClock([]) } };
    const identity = { contract: { effective: guardingProfile(0) } };
    const turns = openTurns(
      { identity, services },
      {
        provider,
        model: 'm',
        origin: { provider: 'p', model: 'm', endpoint: 'p.example', agent: 'coder' },
        secrets: [],
      },
    );
    let { state } = newWorld();
    const reply = replyPieces(
      (report) => (state = reduce(state, { ...report, atMs: 1 })),
      () => 'r',
    );
    const asking = turns.take({ system: [], messages: [{ role: 'user', text: 'x' }], tools: [] }, reply.hear);
    await asking.catch((fault) => t.match(fault, { code: 'PROVIDER_FAILED' }));
    return { asked, shown: state.transcript.map(({ content }) => content), text: reply.text() };
  };
  const failed = await shownAfter(['Half'], ['Half'], ['Half']);
  t.strictSame(failed, { asked: 3, shown: ['Half'], text: 'Half' });
  const whole = await shownAfter(['Half'], ['It is whole.', true]);
  const reasoned = await shownAfter(['I think', true]);
  t.strictSame(reasoned, { asked: 1, shown: ['It adds.'], text: 'It adds.' });
  t.strictSame(whole, { asked: 2, shown: ['It is whole.'], text: 'It is whole.' });
});
