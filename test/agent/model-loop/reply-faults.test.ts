import t from 'tap';
import { replyFaults } from '../../../agent/model-loop/model-turns.ts';
import type { ToolDeclaration } from '../../../core/interfaces/model.ts';
import { long } from '../../rooms/long.ts';

/** A tool that takes one word, under this name of its own. */
const takes = (word: string): readonly ToolDeclaration[] => [
  {
    name: 'look',
    description: 'Looks.',
    parameters: {
      type: 'object',
      properties: { [word]: { type: 'string' } },
      required: [word],
      additionalProperties: false,
    },
  },
];
const call = (given: object) => ({
  role: 'assistant' as const,
  text: '',
  calls: [{ id: '1', name: 'look', arguments: JSON.stringify(given) }],
});

long('equal tool declarations are compiled once and never confused with other ones', async (t) => {
  const first = await replyFaults(takes('path'));
  t.equal(await replyFaults(takes('path')), first);
  t.equal(first(call({ path: 'src' })), undefined);
  const other = await replyFaults(takes('query'));
  t.match(other(call({ path: 'src' })), [{ isError: true, text: /query/ }]);
  t.match(first(call({ query: 'src' })), [{ isError: true, text: /path/ }]);
  for (let index = 0; index < 20; index += 1) await replyFaults(takes(`word${index}`));
  const again = await replyFaults(takes('path'));
  t.not(again, first, 'what was long ago is forgotten');
  t.equal(again(call({ path: 'src' })), undefined);
});

t.test('tools that cannot be compiled are rejected each time', async (t) => {
  const broken = [{ name: 'look', description: 'Looks.', parameters: { type: 'nothing' } }];
  await t.rejects(replyFaults(broken));
  await t.rejects(replyFaults(broken));
});
