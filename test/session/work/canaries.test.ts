import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { codedForms } from '../../../readers/sensitive/encoded-text.ts';
import { wordMask } from '../../../readers/sensitive/mask-words.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

const [key, kept] = ['canary-key-7Qx2mPz9Lw4', 'canary-vault-b3Rt8Yk1Vn6'];
const canaries = [key, kept];
const coded = Buffer.from(kept).toString('base64');

/** Every file below a directory, objects of git as they are unpacked. */
function* filesBelow(directory: string): Generator<Buffer> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else yield readFileSync(path);
  }
}

long('no output, file or git object of a session contains a secret in any encoding', async (t) => {
  const plans: ScriptedReply = {
    calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: [`never print ${kept}`] }] }]],
  };
  const asks: ScriptedReply = {
    text: `I think that ${kept} and ${encodeURIComponent(kept)} are secrets.`,
    calls: [['request_user_input', { question: `Is ${coded} one?` }]],
  };
  const told: string[] = [];
  await using scene = await scriptSession(
    [
      {
        calls: [
          ['read_file', { path: 'src/price.js' }],
          ['grep_files', { pattern: kept }],
        ],
      },
      { text: `It says ${kept}, and ${coded}.` },
      submits(priceDraft),
      plans,
      asks,
      ...makesFix,
    ],
    {
      approval: {
        policy: 'on-request',
        ttlSeconds: 0,
        grants: keepGrants(systemClock),
        mask: wordMask(canaries),
      },
      run: {
        schedulerVersion: '0.0.0',
        reach: reachProvider({ variable: () => undefined, keys: { environment: () => key } }),
        secrets: { known: async () => [kept], ofScope: async () => new Map() },
      },
    },
  );
  const { session, sample, model } = scene;
  writeFileSync(join(sample.root, 'README.md'), `${kept} ${coded}\n`);
  sample.git('add', '.');
  sample.git('commit', '-qm', 'a secret that somebody committed');
  const planted = new Set(sample.git('cat-file', '--batch-all-objects', '--batch-check').split('\n'));
  session.channel.subscribe((state, facts) => told.push(JSON.stringify([toSnapshot(state), facts])));
  await scene.say(`/ask What is ${kept}?`);
  await scene.ended();
  t.equal(session.channel.state.status, 'idle', lastNote(session));
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const asked = await scene.asked('request_user_input');
  await scene.answer(asked.id, { answers: { answer: [`no, ${kept}`] } });
  await scene.ended();
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  const { id: patchset, changes } = session.channel.state.patchsets[0] ?? { id: '', changes: [] };
  const { path = '', hunks = [] } = changes[0] ?? {};
  const said = { patchset, path, hunk: hunks[0]?.id ?? '', comment: `it shows ${kept}` };
  await session.channel.send({ type: 'review', ...said, proof: { from: 'local' } });
  t.ok(
    model.asked.some(({ headers }) => headers.authorization?.includes(key)),
    'the key was used',
  );
  const written = [
    ...told.map((text) => Buffer.from(text)),
    ...filesBelow(join(sample.root, '.git', 'writ')),
    ...filesBelow(sample.home),
    ...sample
      .git('cat-file', '--batch-all-objects', '--batch-check')
      .split('\n')
      .filter((line) => line !== '' && !planted.has(line))
      .map((line) => Buffer.from(sample.git('cat-file', line.split(' ')[1] ?? '', line.split(' ')[0] ?? ''))),
  ];
  t.ok(written.length > 20);
  for (const canary of canaries)
    for (const form of [canary, ...codedForms(Buffer.from(canary))]) {
      const holding = written.filter((bytes) => bytes.includes(form));
      t.strictSame(
        holding.map((bytes) =>
          bytes.subarray(Math.max(0, bytes.indexOf(form) - 200), bytes.indexOf(form) + 60).toString(),
        ),
        [],
        `no ${form.slice(0, 20)}…`,
      );
    }
});
