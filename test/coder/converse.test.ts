import t from 'tap';
import { converse } from '../../coder/converse.ts';
import { systemClock } from '../../core/base/clock.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ModelMessage } from '../../core/contract/model.ts';
import { noModelConfig, withModelRow } from '../../engine/run/state/configured-model.ts';
import { openTurns } from '../../engine/run/work/turns/open-turns.ts';
import { guardingProfile } from '../../engine/spec/guarding-profile.ts';
import { openai } from '../../providers/openai/source.ts';
import type { Asked } from '../providers/model-server.ts';
import { answeringModel, type ScriptedReply } from './scripted-model.ts';

const streamer = createStreamer({});
t.teardown(() => streamer.close());

interface Talk {
  readonly before?: readonly ModelMessage[];
  /** As `[models."m"] context` says it. */
  readonly context?: number;
}

/** A question to a model at a real server; hands read a file of 20,000 characters. */
async function talk(replyTo: (asked: Asked) => ScriptedReply, { before = [], context }: Talk = {}) {
  await using server = await answeringModel(replyTo);
  const signal = new AbortController().signal;
  const opened = await openai.open({
    base: server.base,
    isOtherBase: true,
    flags: {},
    stream: streamer.stream,
    clock: systemClock,
  });
  const models = context === undefined ? {} : { m: { contextTokens: context } };
  const provider = withModelRow(opened, { ...noModelConfig, models }, 'm');
  const turns = openTurns(
    {
      identity: { contract: { effective: guardingProfile(0) } },
      means: { signal, settings: { clock: systemClock } },
    },
    { provider, model: 'm', secrets: [] },
  );
  const said: ModelMessage[] = [];
  const end = await converse({
    system: ['Answer.'],
    before,
    question: 'What is it?',
    cacheKey: 'k',
    hands: { use: async () => ({ outcome: 'done', text: 'x'.repeat(20_000) }) },
    turns,
    told: {
      text: () => {},
      message: async (message) => void said.push(message),
    },
  });
  return { end, said, asked: server.asked };
}

t.test('an empty reply is reported, and is no answer', async (t) => {
  for (const text of ['', ' \n']) {
    const { end, said } = await talk(() => ({ text }));
    t.match(end, { kind: 'nothing', reason: /the reply of the model is empty/ });
    t.strictSame(said, [{ role: 'user', text: 'What is it?' }], 'nothing of it is kept');
  }
  const { end } = await talk(() => ({ text: 'A file.' }));
  t.strictSame(end, { kind: 'answered' });
});
