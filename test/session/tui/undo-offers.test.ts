import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { press } from '../../../session/tui/composer/compose.ts';
import { emptyComposer } from '../../../session/tui/composer/composer.ts';
import { undoOffers, undoOffersFor } from '../../../session/tui/local-commands.ts';
import type { Key } from '../../../session/tui/term/painter.ts';
import { newWorld } from '../state/walk.ts';

const [first, second, third] = [1, 2, 3].map((at) => `01a2071a-1111-7111-8111-11111111111${at}`);

const snapshot = (() => {
  const idle = toSnapshot(newWorld().state);
  const entry = (at: number, more: object) => ({
    id: `e${at}`,
    streaming: false,
    metadata: {},
    createdAt: '',
    updatedAt: '',
    ...more,
  });
  const outcome = (runId: string | undefined, decision: string) => ({
    kind: 'info_note',
    metadata: { outcome: { runId, decision, why: '' } },
  });
  const asks = (content: string) => ({ kind: 'user_message', content });
  return {
    ...idle,
    transcript: [
      asks('Make prices exact'),
      outcome(first, 'commit'),
      asks('Make notes short\nand sweet'),
      outcome(second, 'commit'),
      asks('Make it fast'),
      outcome(third, 'abandon'),
    ].map((one, at) => entry(at, one)),
    tasks: ['task-1', 'task-2'].map((task) => ({
      id: `${second}/${task}`,
      title: task,
      status: 'completed',
    })),
    plans: [
      {
        id: `${second}/1`,
        title: 's',
        status: 'completed',
        steps: [{ id: 'task-2.1', step: 'cut it', status: 'completed' }],
      },
    ],
  } as unknown as typeof idle;
})();

/** The names of the list that stands there once this is typed, and what the key behind it does. */
function offered(text: string, key?: Key) {
  const commands = [
    { name: 'undo', arguments: '[RUN] [TASK]', description: '' },
    { name: 'goal start', arguments: '', description: '' },
    ...undoOffers(snapshot),
  ];
  const context = { busy: false, columns: 80, rows: 24, commands };
  let composer = emptyComposer;
  for (const letter of text) ({ composer } = press(composer, { type: 'text', text: letter }, context));
  const names = (composer.completion?.choices ?? []).map(({ name, detail }) => `${name}: ${detail}`);
  return { names, effects: key === undefined ? [] : press(composer, key, context).effects };
}

t.test('`/undo` offers the committed runs, newest first, and the tasks of a run with several', async (t) => {
  t.strictSame(offered('/undo ').names, [
    `/undo ${second}: Make notes short`,
    `/undo ${second} task-1: `,
    `/undo ${second} task-2: cut it`,
    `/undo ${first}: Make prices exact`,
  ]);
  t.strictSame(offered('/undo prices').names, [`/undo ${first}: Make prices exact`], 'by what was asked for');
  t.strictSame(offered('/undo task-2').names, [`/undo ${second} task-2: cut it`]);
  t.strictSame(offered('/undo').names, ['/undo [RUN] [TASK]: '], 'not before the space');
  t.strictSame(offered('/').names.length, 2);
  t.strictSame(offered('/goal s').names, ['/goal start: '], 'not behind another one');
  const enter: Key = { type: 'key', name: 'enter', ctrl: false, alt: false, shift: false };
  t.strictSame(offered('/undo prices', enter).effects, [{ type: 'submit', text: `/undo ${first}` }]);
});

t.test('a run that was discarded in its review is no longer offered', async (t) => {
  const last = snapshot.transcript.at(-1);
  const outcome = { runId: second, decision: 'none', why: '' };
  const discarded = { ...last, id: 'e9', metadata: { outcome } } as (typeof snapshot.transcript)[number];
  const names = undoOffers({ ...snapshot, transcript: [...snapshot.transcript, discarded] });
  t.strictSame(
    names.map(({ name }) => name),
    [`undo ${first}`],
  );
});

t.test('a session without commits offers no undo', async (t) => {
  t.strictSame(undoOffers(toSnapshot(newWorld().state)), []);
});

t.test('the transcript is searched only while an `/undo` command is typed', async (t) => {
  let looks = 0;
  const watched = {
    ...snapshot,
    get transcript() {
      looks += 1;
      return snapshot.transcript;
    },
  };
  const typed = (text: string): Key => ({ type: 'text', text });
  const left: Key = { type: 'key', name: 'left', ctrl: false, alt: false, shift: false };
  for (const [text, key] of [
    ['', typed('x')],
    ['', left],
    ['make it exact /undo', typed(' ')],
    ['!ls', typed('/')],
  ] as const)
    t.strictSame(undoOffersFor(text, key, watched), []);
  t.equal(looks, 0);
  const whole = undoOffers(snapshot);
  t.ok(whole.length > 0);
  for (const [text, key] of [
    ['/undo', typed(' ')],
    ['/undo x', left],
    ['', { type: 'paste', text: '/undo ' }],
  ] as const)
    t.strictSame(undoOffersFor(text, key, watched), whole);
});
