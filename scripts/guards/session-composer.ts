import { type Guard, within } from './guard.ts';

const composer = 'session/tui/composer';
const tests = 'test/session/tui/composer';

/** What holds where a person types: nothing typed is lost, no secret is shown, nothing strange is drawn or sent. */
export const guards: readonly Guard[] = [
  ...within(`${composer}/secret.ts`, `${tests}/secret.test.ts`, [
    [
      'a secret is not drawn',
      "span('•'.repeat(Math.min(most.marks, typed.length)))",
      'span(typed)',
      'nothing of a secret is drawn',
    ],
    [
      'nor is how long it is',
      'Math.min(most.marks, typed.length)',
      'typed.length',
      'nothing of a secret is drawn',
    ],
    [
      'an answered secret is gone',
      "{ line: lineOf(''), effects: [{ type: 'answer', text: typed }] }",
      "{ line: same, effects: [{ type: 'answer', text: typed }] }",
      'a secret is answered',
    ],
    [
      'a secret that is left is gone',
      "return { line: lineOf(''), effects: [{ type: 'leave' }] };",
      "return { line: same, effects: [{ type: 'leave' }] };",
      'what is deleted or left',
    ],
    [
      'a secret is in no property',
      'const same: SecretLine = {',
      'const same: SecretLine = { ...{ typed },',
      'nothing of',
    ],
  ]),
  ...within(`${composer}/send.ts`, `${tests}/history.test.ts`, [
    ['what is cleared is kept', 'history: remember(history, buffer)', 'history', 'Ctrl+C on a text'],
  ]),
  ...within(`${composer}/history.ts`, `${tests}/history.test.ts`, [
    [
      'a draft outlives what is sent',
      '[...others.map(([, draft]) => draft), written]',
      '[written]',
      'a draft that was left',
    ],
    [
      'a draft is kept while others are looked at',
      'if (isChanged(history, now)) drafts.set(history.at, now);',
      'if (isChanged(history, now)) drafts.delete(history.at);',
      'Up brings',
    ],
  ]),
  ...within(`${composer}/judge-message.ts`, `${tests}/compose.test.ts`, [
    [
      'no message above the limit',
      'if (octets > messageLimits.octets)',
      'if (octets < 0)',
      'what is too long',
    ],
    [
      'no question above the limit',
      'if (length > messageLimits.question)',
      'if (length < 0)',
      'what is too long',
    ],
  ]),
  ...within(`${composer}/command-keys.ts`, `${tests}/compose.test.ts`, [
    [
      'after an interrupt nothing goes by itself',
      "if (busy) return asks(takeAllBack(composer), { type: 'interrupt' });",
      "if (busy) return asks(composer, { type: 'interrupt' });",
      'Esc interrupts',
    ],
  ]),
  ...within(`${composer}/completion.ts`, `${tests}/completion.test.ts`, [
    ['a late answer is none', ' || open.id !== id', '', 'an answer that comes too late'],
    ['no path with control characters', ' && isTypable(path)', '', 'a path with spaces'],
  ]),
  ...within(`${composer}/seen.ts`, `${tests}/draw-composer.test.ts`, [
    [
      'no control character is drawn',
      'tab : visible(cut(grapheme))',
      'tab : cut(grapheme)',
      'no control character',
    ],
  ]),
  ...within(`${composer}/plain-text.ts`, `${tests}/edit-keys.test.ts`, [
    [
      'no half sign comes in',
      'text.isWellFormed() ? text : text.toWellFormed()',
      'text',
      'what comes from outside',
    ],
  ]),
];
