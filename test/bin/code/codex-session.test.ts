import { readFileSync } from 'node:fs';
import { codexBin, codexSkip } from '../../agent/codex/codex-program.ts';
import { answerResponses, patch, say } from '../../agent/codex/scripted-responses.ts';
import { priceDraft, priceFix } from '../../agent/planner/drafts.ts';
import { makeSample } from '../../engine/sample.ts';
import type { Asked } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { startWrit } from '../start-writ.ts';

const submits: Readonly<Record<string, object>> = {
  submit_intent_draft: priceDraft,
  submit_plan_draft: { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] },
};

function answers({ body }: Asked): readonly object[] {
  const { tools = [], input } = body as { tools?: { name?: string }[]; input: { type: string }[] };
  const name = Object.keys(submits).find((one) => tools.some((tool) => tool.name === one));
  const isFirst = !input.some(({ type }) => type.endsWith('_output'));
  if (!isFirst) return [say('Done.')];
  if (name === undefined) return [patch(priceFix)];
  return [{ type: 'function_call', call_id: name, name, arguments: JSON.stringify(submits[name]) }];
}

for (const [mode, choices] of [
  ['', ['intent_review_choice', 'post_plan_choice']],
  ['--plan-mode=false --codex-port 4711', ['intent_review_choice']],
] as const)
  long(
    `a browser steers a session with Codex${mode === '' ? '' : `, ${mode}`}`,
    { skip: codexSkip },
    async (t) => {
      const sample = makeSample();
      t.teardown(() => sample.remove());
      await using model = await answerResponses(answers);
      const line = `code --web-only --port 0 --mcp-port 0 --json --provider codex --model scripted --codex-bin ${codexBin} --api-base ${model.base} ${mode}`;
      const env = { ...sample.env, OPENAI_API_KEY: 'key-of-nobody-1234567890' };
      const started = startWrit(line.trim().split(' '), { cwd: sample.root, env });
      await started.until(() => started.out().endsWith('\n'));
      const { data } = JSON.parse(started.out());
      let lease: Record<string, string> = {};
      const ask = async (path: string, body?: object) => {
        const answer = await fetch(`${data.base_url}/api/code/${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { 'content-type': 'application/json', origin: data.base_url, ...lease },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        // biome-ignore lint/suspicious/noExplicitAny: an answer of a program under test
        return (await answer.json()) as any;
      };
      const { controllerToken } = await ask('controller/attach', { clientId: 'page' });
      t.type(controllerToken, 'string', 'with P8 a browser may steer unless the line says otherwise');
      lease = { 'x-code-controller-token': controllerToken };
      await ask('messages', { text: 'A price is one cent too high: make it exact.' });
      for (const kind of choices) {
        let id = '';
        await until(async () => {
          const { interactions, status } = await ask('session');
          if (status === 'error') throw new Error(JSON.stringify(await ask('session')));
          const found = interactions.find((one: { status: string }) => one.status === 'pending');
          if (found?.kind === kind) id = found.id;
          return id !== '';
        });
        const selectedOption = kind === 'intent_review_choice' ? 'confirm' : 'execute';
        t.strictSame(await ask(`interactions/${id}`, { selectedOption }), { accepted: true });
      }
      await until(async () => /completed|error/.test((await ask('session')).status));
      const { status, provider, interactions, transcript } = await ask('session');
      t.equal(status, 'completed', JSON.stringify(transcript.at(-1)));
      t.match(provider, { provider: 'codex', managed: true, ...(mode === '' ? { mode: 'plan' } : {}) });
      t.strictSame(
        interactions.map(({ kind }: { kind: string }) => kind),
        choices,
      );
      const told = model.asked.map(({ body }) => JSON.stringify(body));
      t.notOk(
        told.some((text) => text.includes('First only plan')),
        'what was planned once is not planned again',
      );
      t.match(readFileSync(`${sample.root}/src/price.js`, 'utf8'), /return count \* cents;/);
      started.child.kill('SIGTERM');
      t.equal(await started.ended, 0);
    },
  );
