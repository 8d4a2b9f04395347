import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSessionMask } from '../../../bin/code/serve-code.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { long } from '../../rooms/long.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

const secret = 'correct-horse-battery';

long('a secret answer reaches the model, but no transcript, log or snapshot', async (t) => {
  const mask = openSessionMask([]);
  const approval = {
    policy: 'on-request',
    ttlSeconds: 300,
    grants: keepGrants(systemClock),
    mask: mask.text,
  } as const;
  const asks = (given: object) => ({ calls: [['request_user_input', { ...given }]] }) as const;
  await using scene = await scriptSession(
    [
      submits(priceDraft),
      { calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]] },
      asks({ question: 'Which one?', options: 'a\nb', secret: true }),
      asks({ question: 'What is the password of the test server?', secret: true }),
      { text: `I was told ${secret}.`, ...makesFix[0] },
      ...makesFix.slice(1),
    ],
    { approval, hide: mask.hide },
  );
  const { session, sample, model } = scene;
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const asked = await scene.asked('request_user_input');
  t.match(asked.metadata, {
    questions: [
      { id: 'answer', prompt: 'What is the password of the test server?', kind: 'text', secret: true },
    ],
  });
  await scene.answer(asked.id, { answers: { answer: [secret] } });
  await scene.ended();
  const { state } = session.channel;
  t.equal(state.status, 'completed', lastNote(session));
  const questions = model.asked.map(({ body }) => JSON.stringify(body));
  t.ok(questions.at(-1)?.includes(secret), 'who asked was told');
  t.ok(questions[3]?.includes('a secret is typed, never chosen'));
  t.notOk(JSON.stringify(toSnapshot(state)).includes(secret), 'the snapshot');
  t.match(JSON.stringify(toSnapshot(state)), /I was told \*+\./, 'also where the model repeats it');
  const kept = globSync('.git/writ/threads/**', { cwd: sample.root })
    .map((path) => join(sample.root, path))
    .filter((path) => statSync(path).isFile());
  t.ok(kept.length >= 2, 'a thread and its audit log');
  for (const path of kept) t.notOk(readFileSync(path, 'utf8').includes(secret), path);
});

t.test('a secret answer is masked from then on in plain, hex and Base64 form', async (t) => {
  const mask = openSessionMask(['a-known-key-1234']);
  t.equal(mask.text(`a-known-key-1234 ${secret}`), `${'*'.repeat(16)} ${secret}`);
  mask.hide(secret);
  mask.hide(secret);
  for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
    t.notOk(mask.text(`x ${form} y`).includes(form));
  t.equal(mask.text('a-known-key-1234'), '*'.repeat(16));
});
