import t, { type Test } from 'tap';
import { long } from '../../rooms/long.ts';
import { run } from '../scenes/scene-texts.ts';
import { type SceneName, scenes } from '../scenes/scenes.ts';
import { showInTerminal } from '../scenes/show-in-terminal.ts';
import { playScene } from '../scenes/show-scene.ts';
import type { Emulator } from './open-emulator.ts';

/** What a person sees of a session in one of its states. */
async function look(
  t: Test,
  scene: SceneName,
  columns: number,
  rows: number,
  theme: 'colour' | 'mono' = 'colour',
): Promise<Emulator> {
  return showInTerminal(await playScene(t, scene), { size: { columns, rows }, theme, scene });
}

const states = /^(?:ready|thinking|working|asks you|done(?:: committed)?|failed)(?: \d+s)?(?: · .*)?$/;

long('every scene fits every terminal size and ends with one status line', async (t) => {
  for (const scene of Object.keys(scenes) as SceneName[])
    for (const [columns, rows] of [
      [40, 10],
      [40, 20],
      [80, 24],
      [160, 40],
    ] as const) {
      const seen = await look(t, scene, columns, rows);
      const last = seen.screen().findLast((line) => line !== '') ?? '';
      t.match(last, states, `${scene}, ${columns}×${rows}`);
      const statuses = seen.lines().filter((line) => states.test(line));
      t.equal(
        statuses.length,
        1,
        `${scene}, ${columns}×${rows}: nothing of the live region has scrolled away`,
      );
    }
});

t.test('the mono theme uses no colours', async (t) => {
  for (const scene of ['approval', 'repair', 'review', 'done'] as const) {
    const seen = await look(t, scene, 80, 24, 'mono');
    const colours = seen.lines().flatMap((_, at) => seen.runsOf(at).map(({ colour }) => colour));
    t.strictSame([...new Set(colours)], [-1], scene);
  }
});

t.test('a message appears before the reply that streams in', async (t) => {
  const lines = (await look(t, 'talk', 80, 24)).lines();
  const asked = lines.indexOf('> /ask And who tests that?');
  t.ok(asked > lines.indexOf('Callers'), 'behind the reply before');
  t.ok(lines[asked + 2]?.startsWith('I am looking at the tests now'), 'and before its own');
});

t.test('the spec is shown beside its answers without repetition, and a key shows all of it', async (t) => {
  const seen = await look(t, 'intent', 80, 24);
  const screen = seen.screen().join('\n');
  t.match(
    screen,
    /may write {3}src\/validate\.js, test\/validate\.test\.js\n {2}checked by {2}unit \(fast\): node --test/,
  );
  t.match(screen, /otherwise than is usual at low risk:\n {4}Attempts: 0 retries/);
  const all = seen.lines();
  t.notMatch(all.join('\n'), 'Transparency log', 'what is as ever is not in the way');
  t.equal(all.filter((line) => line.includes('Keep notes of orders without the blanks')).length, 1);
  const whole = await showInTerminal(await playScene(t, 'intent'), {
    size: { columns: 80, rows: 24 },
    theme: 'colour',
    scene: 'intent',
    pressed: ['v'],
  });
  t.match(whole.lines().join('\n'), /The whole spec: Keep notes[\s\S]*Transparency log: none/);
  t.match(whole.screen().join('\n'), '? Is this what you mean?', 'and the question stands');
});

t.test('a wrapped line is indented below its text', async (t) => {
  const plan = (await look(t, 'plan', 80, 24)).lines();
  t.match(
    plan.join('\n'),
    /^ {2}1\. src\/validate\.js .*\n {5}test\/validate\.test\.js holds a test for that$/m,
  );
  const said = (await look(t, 'goal', 80, 24)).lines();
  t.match(said.join('\n'), /^> \/goal start .*\n {2}without them\.$/m);
  const tree = (await look(t, 'approval', 80, 24)).lines();
  t.match(tree.join('\n'), /^ {2}dangerous {2}git status .*\n {13}without hooks/m);
});

t.test('a running task shows its subject', async (t) => {
  const screen = (await look(t, 'repair', 80, 24)).screen();
  t.ok(screen.some((line) => line.startsWith('▸ task task-1  src/validate.js keeps the note')));
});

t.test('a failed command and its gate are marked as failed', async (t) => {
  const lines = (await look(t, 'repair', 80, 24)).lines();
  t.ok(lines.includes('✗ $ node --test --test-reporter=tap  exit code 1'));
  t.ok(lines.includes('✗ gate fast failed  1 of 1 ran'));
  t.ok(lines.includes('✓ write src/validate.js'));
  t.ok(lines.includes(`  writ show ${run}`), 'how to see more can be copied');
});

t.test('the outcome of a run shows its commit and commands on lines of their own', async (t) => {
  const lines = (await look(t, 'done', 80, 24)).lines();
  t.ok(lines.includes('✓ Committed: 1 of 1 checks passed; no rule reported an error'));
  for (const line of [
    'commit 0123456789abcdef0123456789abcdef01234567',
    `writ verify ${run}`,
    `writ show ${run}`,
  ])
    t.ok(lines.includes(`  ${line}`), line);
});

t.test('all answers stay visible while the user types something else', async (t) => {
  const session = await playScene(t, 'plan');
  const seen = await showInTerminal(session, {
    size: { columns: 80, rows: 24 },
    theme: 'colour',
    scene: 'plan',
    pressed: ['not now', '<enter>', 'and then'],
  });
  const screen = seen.screen();
  for (const answer of ['1 e  Execute plan', '2 w  Network', '3 m  Modify plan', '4 c  Cancel'])
    t.ok(
      screen.some((line) => line.startsWith(`  ${answer}`)),
      answer,
    );
  t.ok(screen.includes('Tab answers'));
  t.ok(screen.includes('> and then'));
  const noted = await showInTerminal(session, {
    size: { columns: 80, rows: 24 },
    theme: 'colour',
    scene: 'plan',
    pressed: ['m', 'only that cent'],
  });
  t.notOk(
    noted.screen().some((line) => line.includes('Execute plan  ')),
    'a note has no other answers',
  );
});

t.test('a small screen shows the selected answer and marks further ones', async (t) => {
  const held = await playScene(t, 'held');
  const size = { columns: 80, rows: 6 };
  const screen = (await showInTerminal(held, { size, theme: 'colour', scene: 'held', pressed: [] })).screen();
  t.ok(
    screen.some((line) => line.startsWith('↓ ')),
    'more below',
  );
  t.ok(
    screen.some((line) => line.startsWith('› 1  Keep')),
    'and the chosen one',
  );
});

t.test('a small terminal shows a command together with the answers that approve it', async (t) => {
  for (const [columns, rows] of [
    [40, 10],
    [80, 10],
    [80, 14],
  ] as const) {
    const screen = (await look(t, 'approval', columns, rows)).screen();
    const at = screen.findIndex((line) => line.startsWith('$ git status && rm -rf $TARGET/build |'));
    t.ok(
      at > 0 &&
        screen
          .slice(at, at + 2)
          .join(' ')
          .includes('tee build.log'),
      `${columns}×${rows}`,
    );
    const answers = screen.slice(at).join('\n');
    for (const answer of ['y once', 'n deny', 'x stop', 'o other'])
      t.match(answers, answer, `${columns}×${rows}`);
    t.match(answers, /^› Deny {2}nothing: it is not made$/m, 'of what is dangerous its denial is chosen');
  }
  const cut = (await look(t, 'approval', 40, 10)).screen();
  t.ok(cut.includes('… 12 lines more: scroll back to read'), 'what has no room is told');
  const least = (await look(t, 'approval', 80, 6)).screen();
  t.ok(least.some((line) => line.startsWith('$ git status && rm -rf')));
  const plan = (await look(t, 'plan', 40, 10)).screen().join('\n');
  t.match(plan, /e execute {2}w network {2}m modify\n {2}c cancel\n› Execute plan {2}run the plan/);
});

t.test('the chosen answer shows everything that it covers', async (t) => {
  const session = await playScene(t, 'approval');
  const seen = await showInTerminal(session, {
    size: { columns: 80, rows: 24 },
    theme: 'colour',
    scene: 'approval',
    pressed: ['s'],
  });
  const screen = seen.screen().join('\n');
  t.match(
    screen,
    /^ {2}covers {2}until writ ends: exactly this, in this directory, in this sandbox, on\n {10}this branch$/m,
  );
});

t.test('questions show their number and earlier answers, but never a secret', async (t) => {
  const seen = await look(t, 'question', 80, 24);
  const lines = seen.lines();
  t.ok(lines.includes('Question: Which registry, and with which token?'));
  t.ok(lines.includes('✓ Which registry?  the company mirror'));
  t.ok(lines.includes('? Token  3 of 3'));
  t.notMatch(lines.join('\n'), /npm_/);
  const { row, column } = seen.cursor();
  t.equal(seen.screen()[row], '> ••••••••');
  t.equal(column, 10, 'behind the marks');
});

t.test('an answered secret is not drawn while the next question is shown', async (t) => {
  const session = await playScene(t, 'empty');
  await session.say('Publish it.');
  const questions = [
    { id: 'a', prompt: 'Token', kind: 'text', secret: true },
    { id: 'b', prompt: 'For whom?', kind: 'text' },
  ] as const;
  await session.report({
    type: 'ask',
    subject: 'q',
    kind: 'request_user_input',
    prompt: 'Who?',
    metadata: { questions },
  });
  const pressed = ['npm_0123456789', '<enter>'];
  const seen = await showInTerminal(session, {
    size: { columns: 80, rows: 24 },
    theme: 'colour',
    scene: 'question',
    pressed,
  });
  t.ok(seen.lines().includes('✓ Token  answered'));
  t.notMatch(seen.lines().join('\n'), /npm_/);
});

t.test('a goal shows the used part of its budget', async (t) => {
  const lines = (await look(t, 'goal', 80, 24)).screen();
  t.ok(lines.includes('▸ goal run 2 · 18k of 100k tok · $0.04 of $1.00 · 3m 34s of 10m 00s'));
});

t.test('the reason of a failed turn is shown in the failure colour', async (t) => {
  const seen = await look(t, 'failed', 80, 24);
  const at = seen.lines().findIndex((line) => line.startsWith('Failed: PROVIDER_UNAVAILABLE'));
  t.ok(at > 0);
  t.equal(seen.lookAt(at, 0).colour, 1);
});
