import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { formatModelChoice } from '../../../agent/instructions.ts';
import { codexWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { readDraft } from '../../../engine/draft/stored-draft.ts';
import { ownerFile } from '../../../engine/record/stale-run-files.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { codexBin, codexSkip } from '../../agent/codex/codex-program.ts';
import { answerResponses, code, exec, patch, say } from '../../agent/codex/scripted-responses.ts';
import { priceDraft, priceFix } from '../../agent/planner/drafts.ts';
import type { Asked, ModelServer } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { lastNote, type ScriptedSession, sessionWith } from './scripted-session.ts';

const canary = 'sk-canary-of-the-test-0123456789';

interface Question {
  readonly tools?: readonly { readonly name?: string }[];
  readonly input: readonly { readonly type: string; readonly call_id?: string; readonly output?: unknown }[];
}

const calls = (name: string, given: object, id = name): object => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: JSON.stringify(given),
});

const advice = { tasks: [{ key: 'task-1', steps: ['take the cent away', 'hold a test for it'] }] };

/** What a model behind Codex answers, by what it is asked for: it knows of nothing else. */
function answers(asked: Asked): readonly object[] {
  const { tools = [], input } = asked.body as Question;
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  const outputs = input.flatMap((item) =>
    item.type.endsWith('_output') ? [JSON.stringify(item.output)] : [],
  );
  const told = JSON.stringify(input);
  if (has('submit_intent_draft')) {
    if (outputs.length === 0) return [exec('cat src/price.js'), exec('touch src/new.js')];
    if (outputs.length === 2) return [calls('submit_intent_draft', { ...priceDraft, summary: '' }, 'first')];
    return outputs.length === 3 ? [calls('submit_intent_draft', priceDraft)] : [say('It is submitted.')];
  }
  if (has('submit_plan_draft'))
    return outputs.length === 0 ? [calls('submit_plan_draft', advice)] : [say('It is submitted.')];
  if (told.includes('What does price do?')) return [say('It adds a cent.')];
  return outputs.length === 0 ? [patch(priceFix)] : [say('Done.')];
}

async function session(planMode: 'true' | 'false', id = 'scripted', replyTo = answers) {
  const model = await answerResponses(replyTo);
  return sessionWith(model, {
    modelFor: () => ({
      source: {
        kind: 'worker',
        worker: codexWorker,
        from: formatModelChoice({
          provider: 'codex',
          model: id,
          apiBase: model.base,
          flags: { 'codex-bin': codexBin, 'plan-mode': 'false' },
        }),
      },
      instructions: ['Answer questions about this repository.'],
    }),
    run: {
      schedulerVersion: '0.0.0',
      reach: reachProvider({
        variable: () => undefined,
        keys: { environment: (name) => (name === 'OPENAI_API_KEY' ? canary : undefined) },
      }),
    },
    executesUnasked: planMode === 'false',
  });
}

/** What tools of Codex answered to the questions in which it could submit a draft. */
function outputsOf({ asked }: ModelServer): readonly string[] {
  const bodies = asked.map(({ body }) => body as Question);
  const last = bodies.findLast(({ tools }) => JSON.stringify(tools).includes('submit_intent_draft'));
  return (last?.input ?? []).flatMap(({ type, output }) =>
    type.endsWith('_output') ? [JSON.stringify(output)] : [],
  );
}

/** Private places of runs and drafts of this repository. */
function copiesOf(commonDir: string): readonly string[] {
  const owned = (name: string): boolean => {
    const path = join(tmpdir(), name, ownerFile);
    return name.startsWith('writ-run-') && existsSync(path) && readFileSync(path, 'utf8') === commonDir;
  };
  return readdirSync(tmpdir()).filter(owned);
}

async function drafted(t: Test, scene: ScriptedSession): Promise<void> {
  await scene.say('A price is one cent too high: make it exact.');
  const review = await scene.asked('intent_review_choice');
  t.match(review, { title: 'Prices are exact', metadata: { revision: 1, riskLevel: 'low' } });
  await scene.answer(review.id, { selectedOption: 'confirm' });
}

long(
  'Codex drafts, plans and makes the change, each after the answer of the user',
  { skip: codexSkip },
  async (t) => {
    await using scene = await session('true');
    const { session: open, sample, model } = scene;
    const before = sample.state();
    await drafted(t, scene);
    const [looked, touched, first] = outputsOf(model);
    t.match(looked, /count \* cents \+ 1/, 'it saw the base');
    t.match(touched, /reject|declin/i, 'and changed nothing');
    t.match(first, /not taken/, 'what is wrong with a draft is told');
    const choice = await scene.asked('post_plan_choice');
    t.match(choice.metadata, { lines: ['task-1.1', 'task-1.2', 'task-1.3', 'gate-fast'] });
    t.equal(sample.state(), before, 'nothing was moved');
    const repository = await openRepository(sample.root);
    const spent = readDraft(repository, String(choice.metadata.runId))?.spent;
    t.ok((spent?.turns ?? 0) >= 4, 'what drafting and planning came to is kept for the run');
    t.ok((spent?.tokensUsed ?? 0) >= 600);
    t.ok(open.channel.state.usage.inputTokens >= 400, 'and is told');
    t.strictSame(copiesOf(repository.commonDir), [], 'nothing is left of the copies that it looked at');
    await scene.answer(choice.id, { selectedOption: 'execute' });
    await scene.ended();
    const { state } = open.channel;
    t.equal(state.status, 'completed', lastNote(open));
    t.equal(sample.git('diff', '--name-only', 'HEAD~1'), 'src/price.js\ntest/price.test.js');
    await scene.say('/ask What does price do?');
    await scene.ended();
    t.match(open.channel.state.transcript.at(-1), { kind: 'assistant_message', content: 'It adds a cent.' });
    for (const { headers } of model.asked) t.equal(headers.authorization, `Bearer ${canary}`);
  },
);

long(
  'without plan mode Codex executes a confirmed spec without a question about its plan',
  { skip: codexSkip },
  async (t) => {
    await using scene = await session('false');
    const { session: open, sample } = scene;
    await drafted(t, scene);
    await scene.ended();
    const { state } = open.channel;
    t.equal(state.status, 'completed', lastNote(open));
    t.notOk(state.interactions.some(({ kind }) => kind === 'post_plan_choice'));
    t.match(state.plans[0], { status: 'completed' });
    t.equal(sample.git('diff', '--name-only', 'HEAD~1'), 'src/price.js\ntest/price.test.js');
  },
);

long('in code mode Codex submits its draft in the same way', { skip: codexSkip }, async (t) => {
  const submit = `text(JSON.stringify(await tools.submit_intent_draft(${JSON.stringify(priceDraft)})))`;
  await using scene = await session('true', 'gpt-6.1-sol', () => [code(submit)]);
  await scene.say('A price is one cent too high: make it exact.');
  t.match(await scene.asked('intent_review_choice'), { title: 'Prices are exact' });
});
