import t from 'tap';
import { textOf } from '../../../session/screen/line.ts';
import { contractEssence } from '../../../session/screen/question-body.ts';
import type { DraftMetadata } from '../../../session/state/question.ts';
import { contract, essence } from '../scenes/scene-texts.ts';

const metadata: DraftMetadata = {
  essence,
  scope: ['src/', 'test/'],
  riskLevel: 'low',
  networkPolicy: 'deny',
  questions: ['may the check `unit` run `npm test`?'],
  lacks: ['a signer'],
  changes: ['~ risk'],
  criteria: [{ id: 'criterion-1', text: 'no cent too many', checks: ['unit'], status: 'open' }],
};

t.test('the essence of a spec shows what the user decides on in under half its lines', async (t) => {
  const lines = (contractEssence(metadata) ?? []).map(textOf);
  const text = lines.join('\n');
  for (const told of [
    essence.problem,
    `  • ${essence.objectives[0]}`,
    `  • ${essence.acceptedWhen[0]}`,
    '  • no cent too many (verified by unit)',
    '  may write   src/, test/',
    '  checked by  unit (fast): node --test --test-reporter=tap',
    `  risk        low: ${essence.rationale}`,
    '  network     deny',
    '  otherwise than is usual at low risk:\n    Attempts: 0 retries',
    '  you decide by confirming:\n    may the check',
    '  missing, and needed before it can be committed:\n    a signer',
    '  differs from the draft before:\n    ~ risk',
  ])
    t.ok(text.includes(told), told);
  t.ok(lines.length < contract.split('\n').length / 2, `${lines.length} lines`);
});

t.test('metadata without an essence gives no summary, and control characters are removed', async (t) => {
  t.equal(contractEssence({ riskLevel: 'low' }), undefined);
  const hostile = { ...essence, problem: 'a\u0007b', checks: [{ id: 'a\u001b[31m', stage: 'fast' }] };
  t.notMatch((contractEssence({ ...metadata, essence: hostile }) ?? []).map(textOf).join(''), /\p{Cc}/u);
});
