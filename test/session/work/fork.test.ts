import t from 'tap';
import { openSession } from '../../../session/open-session.ts';
import { forkedTitle } from '../../../session/thread/fork-thread.ts';
import { answeringModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, settingOf } from './scripted-session.ts';

type Session = Awaited<ReturnType<typeof openSession>>;

t.test('`/fork` makes a thread that goes on from before a message, and the first one stays', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await answeringModel(() => ({ text: 'An answer.' }));
  const inThread = async <T>(
    resume: string | undefined,
    act: (session: Session) => Promise<T>,
  ): Promise<T> => {
    const setting = await settingOf(sample, model, resume === undefined ? {} : { resume });
    await using _engine = setting.engine;
    await using session = await openSession(setting);
    return await act(session);
  };
  const say = async ({ channel }: Session, text: string): Promise<void> => {
    await channel.send({ type: 'submit', text, proof: { from: 'local' } });
    await until(() => channel.state.turn === undefined);
  };
  const asked = ({ channel }: Session): readonly string[] =>
    channel.state.dialogue.flatMap((one) => (one.role === 'user' ? [one.text] : []));

  const { first, fork } = await inThread(undefined, async (session) => {
    await say(session, '/ask What is first?');
    await say(session, '/ask What is second?');
    await say(session, '/fork 1');
    t.strictSame(asked(session), ['What is first?', 'What is second?']);
    const [, id = ''] = /writ code --resume (\S+?)`/.exec(lastNote(session)) ?? [];
    await t.rejects(say(session, '/fork 3'), { code: 'UNSUPPORTED_OPERATION' });
    return { first: session.threadId, fork: id };
  });
  await inThread(fork, async (session) => {
    t.equal(session.channel.state.ground.threadId, fork);
    t.strictSame(asked(session), ['What is first?']);
    t.match(session.channel.state.transcript.at(-1), { title: forkedTitle, content: first });
    await say(session, '/ask What is third?');
    t.strictSame(asked(session), ['What is first?', 'What is third?']);
  });
  await inThread(first, async (session) =>
    t.strictSame(asked(session), ['What is first?', 'What is second?']),
  );
});
