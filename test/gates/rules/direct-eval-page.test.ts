import { readFileSync } from 'node:fs';
import t from 'tap';
import { judge } from '../../../gates/rules/no-direct-eval.ts';
import { toRuleInput } from '../../../testing.ts';

const page = readFileSync(new URL('../../../docs/reference/direct-execution.md', import.meta.url), 'utf8');
const endings: Readonly<Record<string, string>> = { python: 'py', js: 'js', sh: 'sh' };

t.test('every example of the page has the verdict that the page states', async (t) => {
  const examples = [...page.matchAll(/^```(\w+) (refused|accepted)\n([\s\S]*?)^```$/gm)];
  t.ok(examples.length >= 10);
  for (const [, language = '', verdict, text = ''] of examples) {
    const path = `example.${endings[language]}`;
    const findings = await judge(toRuleInput({ name: path, files: { [path]: { candidate: text } } }));
    t.equal(findings.length > 0 ? 'refused' : 'accepted', verdict, text);
  }
});
