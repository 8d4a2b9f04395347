import { type Guard, within } from './guard.ts';

const cards = 'test/session/web/cards.test.ts';
const watches = 'who only watches';
const once = 'an answer goes once';
const secret = 'a secret is shown and kept nowhere';
const choice = 'nothing is taken back by a key';

/** What holds of the cards and buttons of the page: seen in a browser, on a page made of the sources as they are. */
export const guards: readonly Guard[] = [
  ...within('session/web/view/question/question-card.ts', cards, [
    [
      'a card of a session that somebody else has is shut',
      'isSending || !mayWrite(standing) || ',
      'isSending || ',
      watches,
    ],
    ['a card is shut while its answer is on its way', '    setSending(true);\n', '', once],
  ]),
  ...within('session/web/view/question/option-buttons.ts', cards, [
    ['options of a shut card are none', 'disabled: isShut,', 'disabled: false,', watches],
  ]),
  ...within('session/web/words/standing.ts', cards, [
    [
      'whoever has to ask for control may not write',
      "standing === 'lapsed' || standing === 'free';",
      "standing === 'lapsed' || standing === 'free' || standing === 'terminal';",
      watches,
    ],
  ]),
  ...within('session/web/words/asked-anew.ts', cards, [
    [
      'an answer goes to no question that was not read',
      ' && text(one) === text(asked)',
      '',
      'an answer that takes control answers nothing',
    ],
  ]),
  ...within('session/web/view/hunk-review.ts', cards, [
    ['no word on a hunk', 'const isShut = !mayWrite(state.standing);', 'const isShut = false;', watches],
  ]),
  ...within('session/web/view/grant-list.ts', cards, [
    [
      'no approval is taken back',
      'const isShut = !mayWrite(state.standing);',
      'const isShut = false;',
      watches,
    ],
  ]),
  ...within('session/web/view/goal.ts', cards, [
    ['no goal is given up', 'const isShut = !mayWrite(state.standing);', 'const isShut = false;', watches],
  ]),
  ...within('session/web/view/composer.ts', cards, [
    ['no turn is stopped', "{ type: 'button', disabled: !mayWrite(standing),", "{ type: 'button',", watches],
    ['no message is sent', 'isSending || !mayWrite(standing) || ', 'isSending || ', watches],
  ]),
  ...within('session/web/view/text.ts', cards, [
    ['what hides is named', "visibleLines(given).join('\\n')", 'given', once],
  ]),
  ...within('session/web/view/question/approval-card.ts', cards, [
    [
      'what is not to be seen is not chosen',
      'if (isWide || wantsSecondWord || !wider.includes(option)) return false;',
      'return false;',
      once,
    ],
    [
      'what is dangerous has no answer that stands out',
      "...(asked.verdict === 'dangerous' ? {} : { main: 'approve' }),",
      "main: 'approve',",
      once,
    ],
  ]),
  ...within('session/web/view/question/asked-card.ts', cards, [
    ['a secret is not to be read', "{ ...field, type: 'password' }", "{ ...field, type: 'text' }", secret],
    [
      'a secret is not kept with what is typed',
      'if (secret !== true) drafts.set(keyOf(id), given);',
      'drafts.set(keyOf(id), given);',
      secret,
    ],
    [
      'a secret that was sent is gone',
      "secret === true ? '' : (answers[id] ?? '')",
      "answers[id] ?? ''",
      secret,
    ],
    ['a key answers no question by itself', 'takes.current = () => true;', '', choice],
    ['what nobody chose is no answer', 'disabled: isShut || !isWhole }', 'disabled: isShut }', choice],
    ['nothing is chosen beforehand', 'checked: value === option.id,', 'checked: true,', choice],
  ]),
  ...within('session/web/view/block-view.ts', cards, [
    [
      'no link leads to the session',
      'if (href !== undefined && leadsOut(href))',
      'if (href !== undefined)',
      choice,
    ],
    [
      'text is text',
      'title: href }, text);',
      'title: href, dangerouslySetInnerHTML: { __html: text } });',
      choice,
    ],
  ]),
];
