import t from 'tap';
import {
  noTo,
  settledWords,
  toAnswer,
  toMessage,
  toPermission,
  toWordAnswer,
  wantsWords,
} from '../../../session/acp/permission.ts';
import type { Asked } from '../../../session/screen/asked.ts';
import { isConsent, optionsFor } from '../../../session/state/interaction.ts';
import type { Question } from '../../../session/state/question.ts';
import { stoppedQuestion } from '../../../session/state/questions.ts';

const root = '/place/repo';

function askedOf(question: Question, title = 'A title'): Asked {
  return {
    ...question,
    id: 'q',
    status: 'pending',
    title,
    options: optionsFor(question).map(([id, label]) => ({ id, label })),
    requestedAt: '2026-01-01T00:00:00.000Z',
  } as Asked;
}

const permission = (asked: Asked) => toPermission(asked, { workingDir: root, plans: [] });
const namesOf = (asked: Asked) => permission(asked).options.map(({ optionId, kind }) => [optionId, kind]);

const command = { command: 'npm test', verdict: 'unknown', cwd: root, reason: 'it is not known' } as const;
const oneOf = (...ids: readonly string[]): Question => ({
  kind: 'request_user_input',
  metadata: {
    questions: [
      { id: 'i', prompt: 'Which?', kind: 'single', options: ids.map((id) => ({ id, label: `The ${id}` })) },
    ],
  },
});

t.test('a question offers the answers of the screens, and what consents is first', async (t) => {
  const approval = { kind: 'approval', metadata: command } as const;
  t.strictSame(namesOf(askedOf(approval)), [
    ['approve', 'allow_once'],
    ['approve_session', 'allow_always'],
    ['deny', 'reject_once'],
  ]);
  t.strictSame(namesOf(askedOf({ kind: 'approval', metadata: { ...command, verdict: 'dangerous' } })), [
    ['approve', 'allow_once'],
    ['deny', 'reject_once'],
    ['abort', 'reject_once'],
  ]);
  t.strictSame(
    namesOf(askedOf({ kind: 'approval', metadata: { ...command, reuse: { approve_scope: 'src/' } } })),
    [
      ['approve', 'allow_once'],
      ['approve_scope', 'allow_always'],
      ['deny', 'reject_once'],
    ],
  );
  t.strictSame(namesOf(askedOf({ kind: 'intent_review_choice', metadata: {} })), [
    ['confirm', 'allow_once'],
    ['cancel', 'reject_once'],
    ['modify', 'reject_once'],
  ]);
  t.strictSame(namesOf(askedOf({ kind: 'post_plan_choice', metadata: {} })), [
    ['execute', 'allow_once'],
    ['cancel', 'reject_once'],
    ['network', 'reject_once'],
    ['modify', 'reject_once'],
  ]);
  t.strictSame(namesOf(askedOf(oneOf('keep', 'take-out', 'discard'))), [
    ['keep', 'allow_once'],
    ['discard', 'reject_once'],
  ]);
  t.strictSame(namesOf(askedOf(oneOf('red', 'blue'))), [
    ['red', 'allow_once'],
    ['blue', 'allow_once'],
    ['no answer', 'reject_once'],
  ]);
});

t.test('only an offered option is an answer, and "no" never consents', async (t) => {
  const questions: readonly Question[] = [
    { kind: 'approval', metadata: command },
    { kind: 'sandbox_approval', metadata: command },
    { kind: 'intent_review_choice', metadata: {} },
    { kind: 'post_plan_choice', metadata: {} },
  ];
  for (const question of questions) {
    const asked = askedOf(question);
    for (const other of [undefined, '', 'yes', 'approved', 'allow_all_commands', 'no answer', '__proto__'])
      t.equal(toAnswer(asked, other), undefined, `${question.kind} ${other}`);
    const [first] = permission(asked).options;
    t.strictSame(toAnswer(asked, first?.optionId), { selectedOption: first?.optionId });
    const no = noTo(asked)?.selectedOption ?? '';
    t.ok(optionsFor(question).some(([id]) => id === no));
    t.notOk(isConsent(no));
    t.match(settledWords(asked, noTo(asked)), { status: 'failed' });
  }
  const chosen = askedOf(oneOf('red', 'blue'));
  t.strictSame(toAnswer(chosen, 'blue'), { answers: { i: ['blue'] } });
  t.equal(toAnswer(chosen, 'no answer'), undefined);
  t.equal(noTo(chosen), undefined, 'the turn ends');
  t.match(settledWords(chosen, { answers: { i: ['blue'] } }), {
    title: 'A title · you chose: The blue',
    status: 'completed',
  });
});

t.test('a request shows the command, or the change to its file', async (t) => {
  const shell = permission(askedOf({ kind: 'approval', metadata: command }, 'Run a command'));
  t.match(shell.toolCall, { title: 'Run a command', kind: 'execute', status: 'pending' });
  t.match(JSON.stringify(shell.toolCall.content), /\$ npm test.*asked because it is not known/);
  const change = { changeType: 'modify', diff: '@@ -1,1 +1,1 @@\n-old\n+new' } as const;
  const written = permission(askedOf({ kind: 'approval', metadata: { subject: 'src/a.js', change } }));
  t.match(written.toolCall, {
    kind: 'edit',
    locations: [{ path: '/place/repo/src/a.js' }],
    content: [{ type: 'diff', path: '/place/repo/src/a.js', oldText: 'old\n', newText: 'new\n' }],
  });
  const hostile = askedOf({ kind: 'approval', metadata: { ...command, command: 'x ```\n[a](b)\u202e' } });
  const [block] = permission(hostile).toolCall.content ?? [];
  const text = block?.type === 'content' && block.content.type === 'text' ? block.content.text : '';
  t.match(text, /^````text\n[\s\S]*\n````$/, 'no text ends the fence');
  t.match(text, '\\u{202e}');
});

t.test('a question for words is answered by words, and a secret is not', async (t) => {
  const words = (secret?: true): Asked =>
    askedOf({
      kind: 'request_user_input',
      metadata: { questions: [{ id: 'i', prompt: 'Name?', kind: 'text', ...(secret ? { secret } : {}) }] },
    });
  t.ok(wantsWords(words()));
  t.notOk(wantsWords(askedOf(oneOf('red'))));
  t.strictSame(toWordAnswer(words(), { text: 'Ada', given: [] }), { answers: { i: ['Ada'] } });
  t.throws(() => toWordAnswer(words(true), { text: 'hunter2', given: [] }), { code: 'REQUEST_INVALID' });
  t.throws(() => toWordAnswer(words(), { text: 'Ada', given: [{ name: 'a', text: 'b' }] }), {
    code: 'REQUEST_INVALID',
  });
});

t.test('links into the workspace become mentions, and what is embedded is attached', async (t) => {
  const link = (uri: string) => ({ type: 'resource_link', name: 'x', uri }) as const;
  const said = toMessage(
    [
      { type: 'text', text: 'Compare' },
      link('file:///place/repo/src/a.js#L1:3'),
      { type: 'text', text: 'with' },
      link('file:///place/repo/two%20words.md'),
      { type: 'resource', resource: { uri: 'file:///place/repo/src/b.js', text: 'unsaved' } },
      { type: 'image', mimeType: 'image/png', data: 'aGk=' },
    ],
    root,
  );
  t.equal(said.text, 'Compare @src/a.js with @"two words.md"  `src/b.js`');
  t.strictSame(said.given, [
    { name: 'src/b.js', text: 'unsaved' },
    { name: 'image-1', data: 'aGk=' },
  ]);
  for (const outside of ['file:///etc/passwd', 'file:///place/repo/../x', 'https://x.example/', 'file://%00'])
    t.strictSame(toMessage([{ type: 'text', text: 'Read' }, link(outside)], root), {
      text: `Read ${outside}`,
      given: [],
    });
  t.throws(() => toMessage([{ type: 'audio', data: '', mimeType: 'audio/wav' }], root), {
    code: 'REQUEST_INVALID',
  });
  t.throws(() => toMessage([{ type: 'text', text: ' ' }], root), { code: 'INVALID_BODY' });
});

t.test('of an interrupted run only going on is an allowed answer', async (t) => {
  const named = (at: 'work' | 'seal') => {
    const { kind, metadata } = stoppedQuestion('run-1', 'Prices are exact', at);
    return namesOf(askedOf({ kind, metadata } as Question));
  };
  t.strictSame(named('work'), [
    ['go-on', 'allow_once'],
    ['drop', 'reject_once'],
  ]);
  t.strictSame(named('seal'), [
    ['go-on', 'allow_once'],
    ['later', 'reject_once'],
  ]);
  t.equal(noTo(askedOf(stoppedQuestion('run-1', 's', 'work'))), undefined);
});
