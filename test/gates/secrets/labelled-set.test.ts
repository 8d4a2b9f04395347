import t from 'tap';
import { judge } from '../../../gates/rules/secrets.ts';
import { toRuleInput } from '../../../testing.ts';
import { negatives, positives, type Sample } from './labelled-set.ts';

async function isRefused({ path, text }: Sample): Promise<boolean> {
  const found = await judge(toRuleInput({ name: path, files: { [path]: { candidate: text } } }));
  return found.some(({ severity }) => severity === 'error');
}

t.test('finds at least 90 % of the secrets in the labelled set', async (t) => {
  const samples = positives();
  t.ok(samples.length >= 150, `${samples.length} samples`);
  const missed: Sample[] = [];
  for (const sample of samples) if (!(await isRefused(sample))) missed.push(sample);
  t.ok(missed.length <= samples.length * 0.1, `missed ${missed.length} of ${samples.length}`);
  t.comment(missed.map(({ about, path, text }) => `${about} ${path} ${text.slice(0, 80)}`).join('\n'));
});

t.test('refuses at most 1 % of the harmless texts in the labelled set', async (t) => {
  const samples = negatives();
  t.ok(samples.length >= 500, `${samples.length} samples`);
  const wrong: Sample[] = [];
  for (const sample of samples) if (await isRefused(sample)) wrong.push(sample);
  t.ok(wrong.length <= samples.length * 0.01, `refused ${wrong.length} of ${samples.length}`);
  t.comment(wrong.map(({ about, path, text }) => `${about} ${path} ${text.slice(0, 120)}`).join('\n'));
});
