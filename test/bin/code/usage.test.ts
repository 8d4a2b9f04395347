import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { openSession } from '../../../session/open-session.ts';
import { answeringModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { lastNote, settingOf } from '../../session/work/scripted-session.ts';
import { until } from '../../waiting/until.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.test('usage adds up the calls of all threads, and a fork counts only its own', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const given = { cwd: sample.root, env: sample.env };
  const read = async (...more: readonly string[]) =>
    JSON.parse((await runLine(['usage', '--json', ...more], commands, given)).out);
  t.match((await read()).data, { usage: [], total: { input_tokens: 0 }, unread: 0 });

  await using model = await answeringModel(() => ({ text: 'An answer.' }));
  const ask = async (resume: string | undefined, ...texts: readonly string[]): Promise<string> => {
    const setting = await settingOf(sample, model, resume === undefined ? {} : { resume });
    await using _engine = setting.engine;
    await using session = await openSession(setting);
    for (const text of texts) {
      await session.channel.send({ type: 'submit', text, proof: { from: 'local' } });
      await until(() => session.channel.state.turn === undefined);
    }
    return /writ code --resume (\S+?)`/.exec(lastNote(session))?.[1] ?? session.threadId;
  };
  const fork = await ask(undefined, '/ask What is first?', '/ask What is second?', '/fork');
  await ask(fork, '/ask What is third?');
  const { data } = await read();
  t.strictSame(faultsOf('usage', data), []);
  t.match(
    data.usage.map(({ thread_id: thread, calls }: { thread_id: string; calls: number }) => [
      thread === fork,
      calls,
    ]),
    [
      [true, 1],
      [false, 2],
    ],
  );
  t.match(data.total, { input_tokens: 300, output_tokens: 150, cost_usd: null, unpriced: true });
  const { out } = await runLine(['usage', '--csv'], commands, given);
  const lines = out.split('\n');
  t.equal(lines[0], 'thread_id,provider,model,calls,input_tokens,output_tokens,cost_usd,last_at');
  t.match(lines[1], new RegExp(`^${fork},[^,]*,[^,]*,1,100,50,,20`));
  t.equal((await read('--since', 'x')).error.code, 'USAGE');
});
