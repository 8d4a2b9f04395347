import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

/** Processes of this machine whose command line holds a word. */
function processesWith(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  });
}

t.test('a person lists, reads and stops commands that the model runs in the background', async (t) => {
  const word = `lasting-${process.pid}`;
  const module = `console.log("up, ready"); setInterval(() => {}, 1000) // ${word}`;
  const lasting = `node --test --test-isolation=none --import 'data:text/javascript,${module}' test/price.test.js`;
  const behind: ScriptedReply = { calls: [['shell', { command: lasting, background: true }]] };
  const waits: ScriptedReply = { calls: [['shell', { command: 'node --test' }]] };
  const lists: ScriptedReply = { calls: [['list_commands', {}]] };
  const replies = [submits(priceDraft), plans, behind, waits, lists, behind, waits, ...makesFix];
  const scene = await scriptSession(replies, {
    approval: { policy: 'untrusted', ttlSeconds: 300, grants: keepGrants(systemClock), mask: (text) => text },
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await scene[Symbol.asyncDispose]();
    isOpen = false;
  };
  t.teardown(close);
  const { channel } = scene.session;
  /** What `/ps` says. */
  const ps = async (rest = ''): Promise<string> => {
    const before = channel.state.transcript.at(-1)?.id;
    await scene.say(`/ps ${rest}`.trim());
    await until(() => {
      const last = channel.state.transcript.at(-1);
      return last?.id !== before && last?.title === 'Commands';
    });
    return lastNote(scene.session);
  };
  t.match(await ps(), 'no command runs in the background');
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const answerNext = async (selectedOption: string): Promise<void> =>
    scene.answer((await scene.asked('approval')).id, { selectedOption });

  await answerNext('approve_session');
  const waiting = await scene.asked('approval');
  t.match(await ps(), `1  running  ${lasting}`, 'while a question waits');
  await until(async () => (await ps('1')).includes('\nup, '), 'what it printed');
  t.notMatch(await ps('1'), '\nup, ', 'only what is new');
  t.match(await ps('7'), 'there is no command 7');
  t.not(processesWith(word).length, 0);
  t.match(await ps('1 stop'), `1  stopped  ${lasting}`);
  t.strictSame(processesWith(word), []);
  t.match(await ps(), /^1 {2}stopped/);
  await scene.answer(waiting.id, { selectedOption: 'deny' });

  await until(() => processesWith(word).length > 0, 'the second one');
  await scene.asked('approval');
  const told = scene.model.asked.map(({ body }) => JSON.stringify(body)).at(-1) ?? '';
  t.match(told, /1\\+tstopped\\+t/, 'the model is told that it was stopped');
  t.match(await ps(), /^1 {2}stopped .*\n2 {2}running {2}node/);
  for (const text of ['/ps all', '/ps 0', '/ps 1 kill'])
    await t.rejects(scene.say(text), { code: 'UNSUPPORTED_OPERATION' }, text);
  await close();
  t.strictSame(processesWith(word), [], 'none is left when the session ends');
});
