import t from 'tap';
import { cutText } from '../../../agent/tool-calls/tool-entry.ts';

t.test('a text is cut between characters', async (t) => {
  const rest = (end: number): string =>
    `[cut: ${end} of 6 bytes; a rule of the contract lets through no more]`;
  t.equal(cutText('é日a', undefined), 'é日a');
  t.equal(cutText('é日a', 6), 'é日a');
  t.equal(cutText('é日a', 5), `é日\n${rest(5)}`);
  for (const most of [2, 3, 4]) t.equal(cutText('é日a', most), `é\n${rest(2)}`);
  t.equal(cutText('é日a', 1), `\n${rest(0)}`);
});
