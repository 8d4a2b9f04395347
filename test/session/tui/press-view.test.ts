import t from 'tap';
import { optionsOf } from '../../../session/state/interaction.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { deafForMs } from '../../../session/tui/card.ts';
import { emptyComposer, withDraft } from '../../../session/tui/composer/composer.ts';
import type { Key } from '../../../session/tui/term/painter.ts';
import { openView, pressView, seeSnapshot, type View } from '../../../session/tui/view/view.ts';
import { newWorld } from '../state/walk.ts';

const enter: Key = { type: 'key', name: 'enter', ctrl: false, alt: false, shift: false };
const tab: Key = { ...enter, name: 'tab' };
const esc: Key = { ...enter, name: 'escape' };
const interrupt: Key = { ...enter, name: 'char:c', ctrl: true };
const typed = (text: string): readonly Key[] => [...text].map((char) => ({ type: 'text', text: char }));

const snapshot = {
  ...toSnapshot(newWorld().state),
  status: 'awaiting_interaction' as const,
  interactions: [
    {
      id: 'plan',
      kind: 'post_plan_choice' as const,
      status: 'pending' as const,
      metadata: {},
      options: optionsOf.post_plan_choice.map(([id, label]) => ({ id, label })),
      requestedAt: '2026-01-01T00:00:00.000Z',
    },
  ],
};

/** What keys do while the plan is asked about, `afterMs` from its appearing on. */
function press(afterMs: number, ...keys: readonly Key[]) {
  let { view } = seeSnapshot(openView(emptyComposer), snapshot, 0);
  const did: string[] = [];
  for (const key of keys) {
    const step = pressView(view, snapshot, key, { nowMs: afterMs, columns: 80, rows: 24, commands: [] });
    view = step.view;
    for (const effect of step.effects)
      did.push(effect.type === 'respond' ? `${effect.given.selectedOption}` : effect.type);
  }
  return { did, text: textOf(view) };
}

/** What is told once these keys are pressed. */
function told(...keys: readonly Key[]): string {
  let { view } = seeSnapshot(openView(emptyComposer), snapshot, 0);
  for (const key of keys)
    ({ view } = pressView(view, snapshot, key, { nowMs: 9_999, columns: 80, rows: 24, commands: [] }));
  return (view.notice ?? []).map(({ text }) => text).join('');
}

const textOf = ({ composer }: View): string => composer.buffer.text;

t.test('a word typed while a question is open does not answer it', async (t) => {
  t.strictSame(press(9_999, ...typed('hello')), { did: [], text: 'hello' });
  t.strictSame(press(9_999, ...typed('/goal status'), enter), { did: ['submit'], text: '' });
  t.strictSame(press(9_999, ...typed('hello'), tab, ...typed('e')), { did: ['execute'], text: 'hello' });
});

t.test('a word begun just after a question appeared is typed to its end', async (t) => {
  const early = press(deafForMs - 1, ...typed('c'));
  t.strictSame(early, { did: [], text: 'c' });
  let { view } = seeSnapshot(openView(emptyComposer), snapshot, 0);
  for (const [at, key] of typed('core').entries())
    ({ view } = pressView(view, snapshot, key, {
      nowMs: at * deafForMs,
      columns: 80,
      rows: 24,
      commands: [],
    }));
  t.equal(textOf(view), 'core');
});

t.test('the letter of an option chooses it', async (t) => {
  t.strictSame(press(9_999, ...typed('e')), { did: ['execute'], text: '' });
});

t.test('a pending plan is cancelled by two presses of Esc, never by one key', async (t) => {
  t.strictSame(press(9_999, esc).did, []);
  t.match(told(esc), /^Esc again ends the turn, and the plan is gone$/);
  t.strictSame(press(9_999, esc, esc).did, ['cancel']);
  t.strictSame(press(9_999, esc, ...typed('x'), interrupt, esc).did, [], 'one after the other');
  t.strictSame(press(9_999, ...typed('e')).did, ['execute']);
  t.strictSame(press(9_999, esc, ...typed('e')).did, ['execute'], 'it is there as before');
  t.match(told(interrupt), /^Ctrl\+C again quits: the plan waits for `--resume`$/);
  t.strictSame(press(9_999, interrupt, interrupt).did, ['quit'], 'who quits loses no plan');
  t.strictSame(press(9_999, esc, interrupt).did, []);
  t.strictSame(press(9_999, esc, interrupt, interrupt).did, ['quit']);
  t.strictSame(press(9_999, tab, esc, esc).did, ['cancel'], 'from the text, too');
});

t.test('text typed for a closed question is restored with Up', async (t) => {
  const context = { nowMs: 9_999, columns: 80, rows: 24, commands: [] };
  let { view } = seeSnapshot(openView(withDraft(emptyComposer, ['before'], undefined)), snapshot, 0);
  const pressAll = (...keys: readonly Key[]): void => {
    for (const key of keys) ({ view } = pressView(view, snapshot, key, context));
  };
  pressAll(
    tab,
    ...typed('mine'),
    tab,
    ...typed('m'),
    ...typed('cleared'),
    interrupt,
    ...typed('half a note'),
  );
  t.equal(textOf(view), 'half a note');
  const idle = { ...snapshot, status: 'idle' as const, interactions: [] };
  ({ view } = seeSnapshot(view, idle, 10_000));
  t.equal(textOf(view), 'mine', 'what was being typed before is written again');
  t.match(view.notice?.map(({ text }) => text).join(''), /Up brings it back$/);
  const up: Key = { ...enter, name: 'up' };
  const seen = ['half a note', 'cleared', 'before'].map(() => {
    ({ view } = pressView(view, idle, up, context));
    return textOf(view);
  });
  t.strictSame(seen, ['half a note', 'cleared', 'before']);
  for (const _ of seen) ({ view } = pressView(view, idle, { ...enter, name: 'down' }, context));
  t.equal(textOf(view), 'mine');
});
