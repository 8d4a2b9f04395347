import type { Report } from '../../../session/state/command.ts';
import { heldQuestion } from '../../../session/state/questions.ts';
import type { GateResult, HeldReview } from '../../../session/state/work.ts';
import type { Told as ToldOf, ToldSession } from '../web/serve-page.ts';
import * as texts from './scene-texts.ts';

const { run, request, plan } = texts;

type Told = ToldOf<Report>;

const used = {
  type: 'used',
  inputTokens: 8_412,
  outputTokens: 590,
  costUsd: 0.0213,
  contextWindow: 200_000,
} as const;
const running: Told = { type: 'planned', plan: { ...plan, status: 'running' } };
const began: Told = {
  type: 'tasked',
  task: { id: `${run}/task-1`, title: 'task-1', status: 'running', details: 'attempt 1' },
};
const gate = (stage: GateResult['stage'], status: GateResult['status'], ran = 1): Told => ({
  type: 'noted',
  id: stage,
  title: `Gate ${stage}`,
  text: `${status}: ${ran} of ${ran} ran`,
  gate: { stage, status, ran, expected: ran },
});

let tools = 0;

/** One use of a tool, from its beginning to its end. */
function tool(
  toolName: string,
  summary: string,
  how: string,
  status: 'completed' | 'failed' = 'completed',
): readonly Told[] {
  tools += 1;
  const id = `t${tools}`;
  return [
    { type: 'tool', id, toolName, status: 'running', summary },
    { type: 'tool', id, toolName, status, summary: `${summary} (${how})` },
  ];
}

const unit = 'execute node --test --test-reporter=tap';
const worked: readonly Told[] = [
  running,
  began,
  ...tool('workspace.fs', 'read src/validate.js', 'done, 3 ms'),
  ...tool('workspace.fs', 'write src/validate.js', 'done, 7 ms'),
  ...tool('workspace.fs', 'write test/validate.test.js', 'done, 6 ms'),
  used,
];

/** A session in each of the states that people meet. */
export const scenes = {
  async empty() {},
  async talk(session) {
    await session.say('/ask What does parseOrder() do, and where is it called?');
    await session.report(
      ...tool('workspace.fs', 'read src/validate.js', 'done, 3 ms'),
      used,
      { type: 'replied', id: 'm1', text: texts.reply },
      { type: 'end', end: 'done' },
    );
    await session.say('/ask And who tests that?');
    await session.report(
      {
        type: 'tool',
        id: 'search',
        toolName: 'workspace.search',
        status: 'running',
        summary: 'search validate.test',
      },
      {
        type: 'replying',
        id: 'm2',
        text: 'I am looking at the tests now: `test/validate.test.js` has **two** for',
      },
    );
  },
  async intent(session) {
    await session.say(request);
    await session.report(...tool('workspace.search', 'search src', 'done, 15 ms'), used, {
      type: 'ask',
      subject: `review ${run}`,
      kind: 'intent_review_choice',
      title: texts.contractTitle,
      prompt: 'Is this what you mean?',
      description: texts.contract,
      metadata: {
        runId: run,
        riskLevel: 'low',
        revision: 2,
        scope: texts.planChoice.scope,
        checks: ['unit'],
        networkPolicy: 'deny',
        essence: texts.essence,
        repairs: texts.repairs,
        questions: [],
        lacks: [],
        changes: ['objectives: now names test/validate.test.js'],
      },
    });
  },
  async plan(session) {
    await session.say(request);
    await session.report(
      used,
      { type: 'planned', plan },
      {
        type: 'ask',
        subject: `choice ${plan.id}`,
        kind: 'post_plan_choice',
        title: plan.title,
        description: plan.summary,
        prompt: 'Execute this plan?',
        metadata: texts.planChoice,
      },
    );
  },
  async approval(session) {
    await session.say(request);
    const { kind, title, metadata } = texts.approval;
    await session.report(used, running, began, { type: 'ask', subject: 'consent 1', kind, title, metadata });
  },
  async question(session) {
    await session.say('Publish it.');
    await session.report(used, {
      type: 'ask',
      subject: 'question 1',
      kind: 'request_user_input',
      prompt: 'Which registry, and with which token?',
      metadata: {
        questions: [
          {
            id: 'a',
            prompt: 'Which registry?',
            kind: 'single',
            options: [
              { id: '1', label: 'the company mirror' },
              { id: '2', label: 'the public one' },
            ],
          },
          { id: 'b', prompt: 'A message for the release notes', kind: 'text', options: [] },
          { id: 'c', prompt: 'Token', kind: 'text', secret: true },
        ],
      },
    });
  },
  async repair(session) {
    await session.say(request);
    await session.report(
      ...worked,
      ...tool('workspace.command', unit, 'done, exit code 1, 481 ms'),
      gate('fast', 'failed'),
      {
        type: 'tasked',
        task: { id: `${run}/task-1`, title: 'task-1', status: 'failed', details: 'attempt 1' },
      },
      { type: 'planned', plan: { ...plan, status: 'failed' } },
      {
        type: 'noted',
        id: 'd1',
        title: 'Refused',
        text: `run ${run}: stage \`fast\` refused by \`check-outcome\`; check \`unit\` failed; task \`task-1\` failed 1 of 1 attempts; \`writ show ${run}\``,
        outcome: {
          runId: run,
          decision: 'abandon',
          why: 'stage `fast` refused by `check-outcome`; check `unit` failed; task `task-1` failed 1 of 1 attempts',
        },
      },
      { type: 'planned', plan: { ...plan, id: `${run}/2`, status: 'proposed' } },
      {
        type: 'noted',
        id: 'r1',
        title: 'Repair',
        text: 'the plan failed and was revised; repair 1 of 3 runs by itself',
      },
      { type: 'planned', plan: { ...plan, id: `${run}/2`, status: 'running' } },
      {
        type: 'tasked',
        task: { id: `${run}-2/task-1`, title: 'task-1', status: 'running', details: 'attempt 1' },
      },
      { type: 'stepped', plan: `${run}/2`, step: 'task-1.1', status: 'in_progress' },
      used,
      { type: 'tool', id: 'again', toolName: 'workspace.command', status: 'running', summary: unit },
    );
  },
  async review(session) {
    await session.say(request);
    await session.report(
      ...worked,
      { type: 'replied', id: 'm1', text: 'The blanks are gone, before and behind.' },
      { type: 'patched', patchset: { id: 'p1', status: 'proposed', changes: texts.fixed } },
    );
  },
  async held(session) {
    const held: HeldReview = {
      runId: run,
      commit: '0123456789abcdef0123456789abcdef01234567',
      branch: `refs/heads/writ/review-${run}`,
      target: { ref: 'refs/heads/main', expected: undefined },
      plan: plan.id,
      patchset: 'p1',
      summary: plan.title,
    };
    await session.say('/review on');
    await session.say(request);
    await session.report(
      ...worked,
      ...tool('workspace.command', unit, 'done, 503 ms'),
      gate('fast', 'passed'),
      { type: 'patched', patchset: { id: 'p1', status: 'proposed', changes: texts.fixed } },
      { type: 'review-began', review: held },
      { type: 'ask', ...heldQuestion(held) },
    );
  },
  async goal(session) {
    await session.say(`/goal start ${request}`);
    const { goal: id = '' } = { goal: session.channel.state.goal?.id };
    await session.report(
      used,
      ...worked,
      ...tool('workspace.command', unit, 'done, exit code 1, 481 ms'),
      gate('fast', 'failed'),
      { type: 'goal-moved', goal: id, change: texts.goal },
      {
        type: 'noted',
        id: 'g',
        title: 'Goal',
        text: 'run 1 did not achieve it; it is replanned and runs again by itself',
      },
      running,
      began,
      { type: 'tool', id: 'again', toolName: 'workspace.command', status: 'running', summary: unit },
    );
  },
  async done(session) {
    await session.say(request);
    const steps = plan.steps.map((step) => ({ ...step, status: 'completed' as const }));
    await session.report(
      ...worked,
      ...tool('workspace.command', unit, 'done, 503 ms'),
      gate('fast', 'passed'),
      {
        type: 'tasked',
        task: { id: `${run}/task-1`, title: 'task-1', status: 'completed', details: 'attempt 1' },
      },
      ...(['integration', 'security', 'release'] as const).map((stage) => gate(stage, 'skipped', 0)),
      { type: 'patched', patchset: { id: 'p1', status: 'accepted', changes: texts.fixed } },
      { type: 'planned', plan: { ...plan, status: 'completed', steps } },
      {
        type: 'noted',
        id: 'd1',
        title: 'Committed',
        text: `run ${run}: 0123456789abcdef0123456789abcdef01234567 1 of 1 checks passed; no rule reported an error; \`writ verify ${run}\`, \`writ show ${run}\``,
        outcome: {
          runId: run,
          decision: 'commit',
          why: '1 of 1 checks passed; no rule reported an error',
          commit: '0123456789abcdef0123456789abcdef01234567',
        },
      },
      { type: 'end', end: 'decided' },
    );
  },
  async failed(session) {
    await session.say(request);
    await session.report(...tool('workspace.search', 'search src', 'done, 15 ms'), {
      type: 'end',
      end: 'failed',
      reason: 'PROVIDER_UNAVAILABLE: api.example.org answered 503; the same message asks again',
    });
  },
} satisfies Record<string, (session: ToldSession) => Promise<void>>;

export type SceneName = keyof typeof scenes;
