import t from 'tap';
import type { GraphData } from '../../../api/schemas/other-schemas.ts';
import { commands } from '../../../bin/command-table.ts';
import { openSession } from '../../../session/open-session.ts';
import { forkedTitle } from '../../../session/thread/fork-thread.ts';
import { answeringModel } from '../../agent/scripted-model.ts';
import { runLine } from '../../bin/host.ts';
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
  const draw = (thread: string, ...more: string[]) =>
    runLine(['graph', thread, ...more], commands, { cwd: sample.root, env: sample.env });
  const graphOf = async (thread: string): Promise<GraphData> =>
    JSON.parse((await draw(thread, '--json')).out).data;
  const entryOf = ({ channel }: Session, words: string): string =>
    channel.state.transcript.find(({ content = '' }) => content.endsWith(words))?.id ?? '';
  const second = await inThread(first, async (session) => {
    const entry = entryOf(session, 'What is second?');
    const firstEntry = entryOf(session, 'What is first?');
    await say(session, '/rewind');
    const named = lastNote(session).matchAll(/ · entry (\S+)$/gm);
    const [newest = '', oldest = ''] = [...named].map(([, begin = '']) => begin);
    t.ok(entry.startsWith(newest) && firstEntry.startsWith(oldest), 'the list names the entries');
    await say(session, `/fork ${oldest}`);
    const [, id = ''] = /writ code --resume (\S+?)`/.exec(lastNote(session)) ?? [];
    for (const name of ['0000', firstEntry.slice(0, 4), `${entry}0`])
      await t.rejects(say(session, `/fork ${name}`), { code: 'UNSUPPORTED_OPERATION' }, name);
    return { id, entry, firstEntry };
  });
  await inThread(second.id, async (session) => t.strictSame(asked(session), []));

  await t.test('the graph shows which thread was forked from which entry', async (t) => {
    const node = (id: string, ...tags: string[]) => ({ id: `thread ${id}`, kind: 'thread', tags });
    const edge = (from: string, to: string) => ({
      from: `thread ${from}`,
      to: `thread ${to}`,
      kind: 'fork',
    });
    const graph = await graphOf(first);
    t.match(graph.nodes, [node(first, 'this-one'), node(fork, 'fork'), node(second.id, 'fork')]);
    t.strictSame(graph.edges, [edge(first, fork), edge(first, second.id)]);
    t.match(
      graph.nodes.map(({ detail }) => detail),
      [
        '',
        `forked from thread ${first} before entry ${second.entry}: “/ask What is second?”`,
        `forked from thread ${first} before entry ${second.firstEntry}: “/ask What is first?”`,
      ],
    );
    const forked = await graphOf(fork);
    t.match(forked.nodes, [
      node(first, 'origin'),
      { ...node(fork, 'this-one'), detail: graph.nodes[1]?.detail },
    ]);
    t.strictSame(forked.edges, [edge(first, fork)]);
    t.match((await draw(fork, '--html', '-')).out, `before entry ${second.entry}`);
    t.match((await draw(first)).out, new RegExp(`${fork} \\[fork\\]  forked from thread`));
  });

  await inThread(fork, async (session) => {
    t.equal(session.channel.state.ground.threadId, fork);
    t.strictSame(asked(session), ['What is first?']);
    t.match(session.channel.state.transcript.at(-1), { title: forkedTitle, content: first });
    await say(session, '/ask What is third?');
    t.strictSame(asked(session), ['What is first?', 'What is third?']);
    await say(session, `/rewind ${entryOf(session, 'What is third?').slice(0, 13)}`);
    t.strictSame(asked(session), ['What is first?'], '`/rewind` takes an entry, too');
  });
  await inThread(first, async (session) =>
    t.strictSame(asked(session), ['What is first?', 'What is second?']),
  );
});
