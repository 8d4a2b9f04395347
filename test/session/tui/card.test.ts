import t from 'tap';
import type { Asked } from '../../../session/screen/asked.ts';
import { textOf } from '../../../session/screen/line.ts';
import { optionsOf } from '../../../session/state/interaction.ts';
import {
  askInner,
  type Card,
  deafForMs,
  drawCard,
  openCard,
  pressCard,
  writeCard,
} from '../../../session/tui/card.ts';
import type { Key, KeyName } from '../../../session/tui/term/painter.ts';

function ask(kind: Asked['kind'], metadata: Asked['metadata'] = {}): Asked {
  return {
    id: 'q',
    kind,
    status: 'pending',
    metadata,
    options: optionsOf[kind].map(([id, label]) => ({ id, label })),
    requestedAt: '2026-01-01T00:00:00.000Z',
  } as Asked;
}

const typed = (text: string): Key => ({ type: 'text', text });
const press = (name: KeyName): Key => ({ type: 'key', name, ctrl: false, alt: false, shift: false });
const later = 10_000;

function fresh(asked: Asked): Card {
  return openCard(asked, 0, false);
}

t.test('a number, a letter or Enter chooses the option of a question', async (t) => {
  const asked = ask('approval');
  const card = fresh(asked);
  t.strictSame(pressCard(card, asked, typed('y'), later).given, { selectedOption: 'approve' });
  t.strictSame(pressCard(card, asked, typed('3'), later).given, { selectedOption: 'deny' });
  const down = pressCard(card, asked, press('down'), later).card;
  t.strictSame(pressCard(down, asked, press('enter'), later).given, { selectedOption: 'approve_scope' });
});

t.test('an approval shows three answers, and a key of another one shows it before it is given', async (t) => {
  const asked = ask('approval');
  const shown = (card: Card): string =>
    drawCard(card, asked, { plans: [], patchsets: [], reviews: [] }, { rows: 30, columns: 80 })
      .map(textOf)
      .join('\n');
  const few = shown(fresh(asked));
  for (const seen of ['Approve all files of the plan', 'Deny', 'Other answers']) t.match(few, seen);
  t.notMatch(few, 'every command');
  t.equal(pressCard(fresh(asked), asked, typed('o'), later).given, undefined);
  t.match(shown(pressCard(fresh(asked), asked, typed('o'), later).card), 'Approve every command');
  const pressed = pressCard(fresh(asked), asked, typed('A'), later);
  t.equal(pressed.given, undefined, 'what is not seen is not chosen');
  t.strictSame(pressCard(pressed.card, asked, press('enter'), later).given, {
    selectedOption: 'allow_all_commands',
  });
});

t.test('Enter alone does not approve a dangerous or unproven command', async (t) => {
  for (const metadata of [
    { verdict: 'dangerous' },
    { verdict: 'unknown', unproven: ['what $X is'] },
  ] as const) {
    const asked = ask('approval', metadata);
    t.strictSame(pressCard(fresh(asked), asked, press('enter'), later).given, { selectedOption: 'deny' });
    t.strictSame(pressCard(fresh(asked), asked, typed('y'), later).given, { selectedOption: 'approve' });
  }
  for (const verdict of ['safe', 'unknown'] as const) {
    const asked = ask('approval', { verdict, unproven: [] });
    t.strictSame(pressCard(fresh(asked), asked, press('enter'), later).given, { selectedOption: 'approve' });
  }
});

t.test('the number of each option chooses that option', async (t) => {
  for (const kind of Object.keys(optionsOf) as Asked['kind'][]) {
    const asked = ask(kind);
    for (const { id } of asked.options) {
      if (kind === 'request_user_input') continue;
      const number = asked.options.findIndex((one) => one.id === id) + 1;
      const card = { ...fresh(asked), isWide: true };
      const given = pressCard(card, asked, typed(`${number}`), later);
      t.equal(given.given?.selectedOption ?? given.card.writing?.for, id === 'modify' ? 'note' : id);
    }
  }
});

t.test('a key pressed just after a question appears does not answer it', async (t) => {
  const asked = ask('approval');
  for (const key of [typed('y'), typed('1'), press('enter')]) {
    const pressed = pressCard(fresh(asked), asked, key, deafForMs - 1);
    t.equal(pressed.given, undefined);
  }
  t.equal(
    pressCard(fresh(asked), asked, typed('y'), deafForMs - 1).isElse,
    true,
    'what is typed is not lost',
  );
});

t.test('pasted text does not answer a question', async (t) => {
  const asked = ask('approval');
  const pressed = pressCard(fresh(asked), asked, { type: 'paste', text: 'y' }, later);
  t.equal(pressed.given, undefined);
  t.equal(pressed.isElse, true);
});

t.test('a question that appears while the user types does not capture the keys', async (t) => {
  t.equal(openCard(ask('approval'), 0, true).focus, 'away');
});

t.test('notes on plan lines go along with execute and modify', async (t) => {
  const asked = ask('post_plan_choice', { lines: ['a.1', 'a.2'] });
  let card = pressCard(fresh(asked), asked, typed('l'), later).card;
  card = pressCard(card, asked, press('down'), later).card;
  card = pressCard(card, asked, press('enter'), later).card;
  t.strictSame(card.writing, { for: 'line', line: 'a.2' });
  card = writeCard(card, asked, 'only that\ncent ').card;
  t.strictSame(card.notes, { 'a.2': 'only that cent' });
  card = pressCard(card, asked, press('escape'), later).card;
  const answers = { 'a.2': ['only that cent'] };
  t.strictSame(pressCard(card, asked, typed('e'), later).given, { selectedOption: 'execute', answers });
  t.strictSame(pressCard(card, asked, typed('m'), later).given, { selectedOption: 'modify', answers });
  t.strictSame(pressCard(card, asked, typed('c'), later).given, { selectedOption: 'cancel' });
});

t.test('modify prompts for a note, and an empty note cancels it', async (t) => {
  const asked = ask('intent_review_choice');
  const { card, given } = pressCard(fresh(asked), asked, typed('m'), later);
  t.equal(given, undefined);
  t.strictSame(writeCard(card, asked, ' in euros ').given, { selectedOption: 'modify', note: 'in euros' });
  const back = writeCard(card, asked, '  ');
  t.equal(back.given, undefined);
  t.equal(back.card.writing, undefined);
});

t.test('inner questions are shown one after the other and answered together', async (t) => {
  const questions = [
    {
      id: 'which',
      prompt: 'Which?',
      kind: 'single',
      options: [
        { id: 'a', label: 'A' },
        { id: 'b', label: 'B' },
      ],
    },
    { id: 'key', prompt: 'Key?', kind: 'text', secret: true },
  ] as const;
  const asked = ask('request_user_input', { questions });
  const first = pressCard(askInner(fresh(asked), asked), asked, typed('2'), later);
  t.equal(first.given, undefined);
  t.strictSame(first.card.writing, { for: 'answer', question: 'key', isSecret: true });
  const last = writeCard(first.card, asked, 'hunter2');
  t.strictSame(last.given, { selectedOption: 'answer', answers: { which: ['b'], key: ['hunter2'] } });
  t.notMatch(JSON.stringify(last.card), 'hunter2', 'a secret is not kept');
});
