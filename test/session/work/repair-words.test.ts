import t from 'tap';
import { failedWords } from '../../../session/work/repair-words.ts';

type Stages = Parameters<typeof failedWords>[1]['stages'];

const scope = { setting: { approval: { mask: (text: string) => text.replaceAll('hunter2', '•••') } } };

function stagesOf(...names: readonly string[]): Stages {
  const findings = names.map((test) => ({ severity: 'error', detail: { test } }));
  const check = { id: 'unit', status: 'failed', required: true, tolerated: false, timedOut: false, findings };
  return [{ stage: 'fast', findings: [], checks: [check] }] as unknown as Stages;
}

const wordsOf = (stages: Stages): readonly string[] =>
  failedWords(scope as unknown as Parameters<typeof failedWords>[0], { stages });

t.test('a repair names the failed tests or the failed check, with secrets masked', async (t) => {
  t.strictSame(wordsOf(stagesOf('two\ncost twice', 'hunter2 is kept')), [
    'failed: unit: two cost twice',
    'failed: unit: ••• is kept',
  ]);
  t.strictSame(wordsOf(stagesOf()), ['failed: unit']);
  t.strictSame(wordsOf([]), []);
  const many = wordsOf(stagesOf('x'.repeat(500), 'b', 'c', 'd', 'e', 'f', 'g'));
  t.equal(many.length, 6);
  t.equal(many.at(-1), 'and 2 more');
  t.ok((many[0]?.length ?? 0) < 220);
});
