import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { callWrit } from '../../../bin/code/agent-at.ts';
import { toRefusalAnswer } from '../../../session/mcp/tool.ts';
import { writTools } from '../../../session/mcp/writ-tools.ts';
import { personRepository } from '../vcs/person-repository.ts';

t.test('`validate_spec` and `plan_spec` repeat nothing of a file that is no spec', async (t) => {
  const { root: cwd, env } = personRepository();
  const answerTo = async (toolName: string, text: string): Promise<string> => {
    const tool = writTools.find(({ name }) => name === toolName);
    writeFileSync(join(cwd, 'spec.json'), text);
    const call = { ground: { cwd, ask: callWrit({ cwd, env }) }, signal: new AbortController().signal };
    try {
      return JSON.stringify(await tool?.take({ path: 'spec.json' })(call as never));
    } catch (fault) {
      return JSON.stringify(toRefusalAnswer(fault, cwd));
    }
  };
  const files: Readonly<Record<string, string>> = {
    'no JSON': 'PLANTED_KEY=planted-value\n',
    'a name of its own': '{"apiVersion":"planted/v1alpha1","planted_name":{"planted":"planted"}}',
    'a name twice': '{"planted":1,"planted":2}',
    'values of the wrong kind': '{"metadata":{"labels":{"planted":1},"planted":"planted"},"kind":"planted"}',
    'a number too exact': '{"planted":1.00000000000000000001234567}',
    'a name with a found in it': '{"x found planted `planted":1}',
  };
  for (const tool of ['validate_spec', 'plan_spec'])
    for (const [name, text] of Object.entries(files)) {
      const answer = await answerTo(tool, text);
      t.notMatch(answer, /planted|found `P/i, `${tool}: ${name}`);
      t.match(answer, /INTENTSPEC_|SCHEMA_/, `${tool}: ${name}: and says that it is invalid`);
    }
});
