import t from 'tap';
import { answeredWords } from '../../../session/screen/question/answered-words.ts';
import type { Asked } from '../../../session/screen/question/asked.ts';
import { optionsOf } from '../../../session/state/interaction.ts';

function ask(kind: Asked['kind'], metadata: Asked['metadata'] = {}): Asked {
  const options = optionsOf[kind].map(([id, label]) => ({ id, label }));
  return { id: 'q', kind, status: 'pending', metadata, options, requestedAt: '2026-01-01T00:00:00.000Z' };
}

const single = (id: string) => ({
  id,
  prompt: 'Which?',
  kind: 'single',
  options: [
    { id: 'keep', label: 'Keep' },
    { id: 'discard', label: 'Discard' },
  ],
});

t.test('an answer is told by what was chosen or written, and a secret by that it was given', async (t) => {
  t.equal(answeredWords(ask('approval'), { selectedOption: 'deny' }), 'you chose: Deny');
  const plan = ask('post_plan_choice', { networkAccess: 'allow' });
  const noted = { selectedOption: 'execute', answers: { 'task-1.1': ['only that cent'] } };
  t.equal(answeredWords(plan, noted), 'you chose: Execute plan · network allow · 1 note');
  t.equal(answeredWords(plan, { selectedOption: 'cancel' }), 'you chose: Cancel');
  const held = ask('request_user_input', { questions: [single('review')] });
  t.equal(answeredWords(held, { answers: { review: ['discard'] } }), 'you chose: Discard');
  const several = ask('request_user_input', {
    questions: [
      single('a'),
      { id: 'b', prompt: 'Who?', kind: 'text' },
      { id: 'c', kind: 'text', secret: true },
    ],
  });
  const answers = { a: ['keep'], b: ['the mirror'], c: ['npm_0123456789'] };
  t.equal(answeredWords(several, { answers }), 'you answered: Keep · “the mirror” · a secret');
});
