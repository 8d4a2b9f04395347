import t from 'tap';
import type { Person } from '../../../core/interfaces/hook-payload.ts';
import { type ConsentGround, personOf } from '../../../session/work/consent.ts';
import type { TurnScope } from '../../../session/work/turn-scope.ts';

t.test('only an answer to a secret question is masked from then on', async (t) => {
  const hidden: string[] = [];
  const answering = (...said: readonly string[]) => {
    const scope = {
      ask: async () => ({ given: { answers: { answer: said } } }),
      newId: () => 'n',
      setting: { hide: (value: string) => void hidden.push(value) },
    };
    const { answer } = personOf(scope as unknown as TurnScope, {} as ConsentGround);
    const { signal } = new AbortController();
    return (question: Parameters<Person['answer']>[0]) => answer(question, signal);
  };
  t.equal(await answering('blue')({ question: 'Which colour?', options: [] }), 'blue');
  t.equal(await answering('2')({ question: 'Which one?', options: ['a', 'b'] }), 'b');
  t.equal(await answering()({ question: 'The password?', options: [], isSecret: true }), undefined);
  t.strictSame(hidden, []);
  t.equal(await answering('horse')({ question: 'The password?', options: [], isSecret: true }), 'horse');
  t.strictSame(hidden, ['horse']);
});
