import t from 'tap';
import { type Asked, answeredWords } from '../../../session/screen/asked.ts';
import { optionsOf } from '../../../session/state/interaction.ts';

function ask(kind: Asked['kind'], metadata: Asked['metadata'] = {}): Asked {
  const options = optionsOf[kind].map(([id, label]) => ({ id, label }));
  const requestedAt = '2026-01-01T00:00:00.000Z';
  return { id: 'q', kind, status: 'pending', metadata, options, requestedAt } as Asked;
}

t.test(
  '`answeredWords` names the chosen option, and the network and notes of an executed plan',
  async (t) => {
    t.equal(answeredWords(ask('approval'), { selectedOption: 'deny' }), 'you chose: Deny');
    const plan = ask('post_plan_choice', { networkAccess: 'allow' });
    const noted = { selectedOption: 'execute', answers: { 'task-1.1': ['only that cent'] } };
    t.equal(answeredWords(plan, noted), 'you chose: Execute plan · network allow · 1 note');
    t.equal(answeredWords(plan, { selectedOption: 'cancel' }), 'you chose: Cancel');
  },
);
