import type { Test } from 'tap';
import type { GraphData } from '../../../api/schemas/graph-schema.ts';
import type { ThreadList } from '../../../session/thread/list-threads.ts';
import { type ServedPage, servePage, type ToldSession, toldSession } from './serve-page.ts';

const run = '01a2071a-1111-7111-8111-111111111111';
const request = 'A price is one cent too high: make it exact.';

const plan = {
  id: `${run}/1`,
  title: 'Prices are exact',
  summary: 'Prices are exact. A price is one cent too high.\n1 task; may write src/, test/.',
  status: 'proposed',
  steps: [
    { id: 'task-1.1', step: 'src/price.js answers exactly count times cents', status: 'completed' },
    {
      id: 'task-1.2',
      step: 'add a test that two pieces cost twice as much as one',
      status: 'in_progress',
    },
    { id: 'gate-fast', step: 'check: node --test --test-reporter=tap', status: 'pending' },
  ],
} as const;

const reply = `\`price()\` multiplies **count** by cents and then adds *one cent*:

\`\`\`js
export function price(count, cents) {
  // off by one
  return count * cents + 1;
}
\`\`\`

## Callers

1. \`src/cart.js\`, twice
2. \`src/invoice.js\`
   - once for the total
   - once for tax

| file | line |
|---|---:|
| src/cart.js | 12 |
| src/invoice.js | 40 |

> The test in \`test/price.test.js\` hides it.

See [the docs](https://example.org/x).`;

const draft = `# Prices are exact

A price is one cent too high, whoever asks for it.

## Objectives

- src/price.js answers exactly count times cents
- test/price.test.js holds a test for it

## Scope

- may write \`src/\`, \`test/\`

## Checks

- fast: \`node --test --test-reporter=tap\`
`;

const asksFor = (text: string) => `exactly this, in this directory, in this sandbox, on this branch, ${text}`;
const approval = {
  command: 'git status && rm -rf $TARGET/build | tee build.log',
  cwd: '/projects/shop',
  branch: 'main',
  isOutsideSandbox: false,
  reason: 'the policy asks about commands that are not known to read only',
  verdict: 'dangerous',
  rule: 'removes',
  segments: [
    {
      words: [{ text: 'git' }, { text: 'status' }],
      verdict: 'safe',
      rule: 'only-reads',
      why: 'it only reads',
    },
    {
      words: [{ text: 'rm' }, { text: '-rf' }, { text: '$TARGET/build', isKnown: false }],
      verdict: 'dangerous',
      rule: 'removes',
      why: 'it removes files',
    },
    {
      words: [{ text: 'tee' }, { text: 'build.log' }],
      verdict: 'unknown',
      rule: 'not-known',
      why: '`tee` is not known to read only',
    },
  ],
  unproven: ['the value of `$TARGET`', '`tee` is not known to read only'],
  ttlSeconds: 300,
  reuse: {
    approve: 'this one call',
    approve_session: asksFor('until writ ends'),
    approve_ttl: asksFor('for 300 s'),
    approve_directory_ttl: asksFor('for 300 s: a dangerous command is not allowed elsewhere'),
    approve_pattern_ttl: asksFor('for 300 s: commands like it cannot be told by their first words'),
    allow_all_commands:
      'every command, dangerous ones included, in this sandbox on this branch, until writ ends; asked twice',
  },
};

const scenes = {
  async empty() {},
  async talk(session) {
    await session.say('/ask What does price() do, and where is it called?');
    await session.report(
      {
        type: 'tool',
        id: 't1',
        toolName: 'workspace.fs',
        status: 'completed',
        summary: 'read src/price.js (done, 3 ms)',
      },
      { type: 'replied', id: 'm1', text: reply },
      { type: 'end', end: 'done' },
    );
    await session.say(request);
    await session.report({ type: 'replying', id: 'm2', text: 'I am looking at the tests now, so that the' });
  },
  async intent(session) {
    await session.say(request);
    await session.report({
      type: 'ask',
      subject: `review ${run}`,
      kind: 'intent_review_choice',
      title: 'Prices are exact',
      prompt: 'Is this what you mean?',
      description: draft,
      metadata: {
        riskLevel: 'low',
        revision: 2,
        changes: ['objectives: now names test/price.test.js'],
      },
    });
  },
  async plan(session) {
    await session.say(request);
    await session.report(
      { type: 'planned', plan },
      {
        type: 'ask',
        subject: `choice ${plan.id}`,
        kind: 'post_plan_choice',
        title: plan.title,
        description: plan.summary,
        prompt: 'Execute this plan?',
        metadata: {
          planId: plan.id,
          networkAccess: 'deny',
          workspace: 'f',
          lines: plan.steps.map(({ id }) => id),
          changes: ['- fix it', '+ add a test'],
          notices: ['no lockfile is in scope'],
        },
      },
    );
  },
  async approval(session) {
    await session.say(request);
    await session.report(
      { type: 'planned', plan: { ...plan, status: 'running' } },
      {
        type: 'tasked',
        task: { id: `${run}/task-1`, title: 'task-1', status: 'running', details: 'attempt 1' },
      },
      {
        type: 'ask',
        subject: 'consent 1',
        kind: 'approval',
        title: 'Run a dangerous command',
        metadata: approval,
      },
    );
  },
  async question(session) {
    await session.say('Publish it.');
    await session.report({
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
  async done(session) {
    await session.say(request);
    const steps = plan.steps.map((step) => ({ ...step, status: 'completed' as const }));
    await session.report(
      { type: 'planned', plan: { ...plan, status: 'completed', steps } },
      {
        type: 'tasked',
        task: { id: `${run}/task-1`, title: 'task-1', status: 'completed', details: 'attempt 1' },
      },
      {
        type: 'tool',
        id: 't1',
        toolName: 'workspace.fs',
        status: 'completed',
        summary: 'write src/price.js, test/price.test.js (done, 9 ms)',
      },
      {
        type: 'tool',
        id: 't2',
        toolName: 'workspace.command',
        status: 'failed',
        summary: 'execute node --test (failed, exit code 1, 320 ms)',
      },
      {
        type: 'patched',
        patchset: {
          id: 'p1',
          status: 'accepted',
          changes: [
            {
              path: 'src/price.js',
              changeType: 'modify',
              diff: '@@ export function price\n export function price(count, cents) {\n-  return count * cents + 1;\n+  return count * cents;\n }',
            },
            {
              path: 'test/price.test.js',
              changeType: 'add',
              diff: "+import test from 'node:test';\n+\n+test('two cost twice as much as one', () => {\n+  assert.equal(price(2, 100), 200);\n+});",
            },
          ],
        },
      },
      { type: 'noted', id: 'g1', title: 'Gate fast', text: 'passed: 1 of 1 ran' },
      { type: 'noted', id: 'g2', title: 'Gate security', text: 'skipped: 0 of 0 ran' },
      {
        type: 'noted',
        id: 'd1',
        title: 'Decision.Commit',
        text: `run ${run}: 0123456789abcdef0123456789abcdef01234567 every gate passed; \`writ verify ${run}\`, \`writ show ${run}\``,
      },
      { type: 'end', end: 'decided' },
    );
  },
  async review(session) {
    await session.say(request);
    await session.report(
      { type: 'replied', id: 'm1', text: 'The cent is gone.' },
      {
        type: 'patched',
        patchset: {
          id: 'p1',
          status: 'proposed',
          changes: [
            {
              path: 'src/price.js',
              changeType: 'modify',
              diff: '@@ -1,3 +1,3 @@\n export function price(count, cents) {\n-  return count * cents + 1;\n+  return count * cents;\n }\n@@ -9,2 +9,3 @@\n // rounding\n+// is done elsewhere\n export const unit = 1;\n',
              hunks: [
                { id: 'h1', header: '@@ -1,3 +1,3 @@' },
                { id: 'h2', header: '@@ -9,2 +9,3 @@' },
              ],
            },
          ],
        },
      },
    );
  },
} satisfies Record<string, (session: ToldSession) => Promise<void>>;

export type SceneName = keyof typeof scenes;

const threads = async (): Promise<ThreadList> => ({
  items: [
    {
      id: 't',
      title: request,
      archived: false,
      createdAt: '2026-11-20T09:00:00Z',
      updatedAt: '2026-11-20T10:00:00Z',
    },
    {
      id: run,
      title: 'What does price() do?',
      archived: false,
      createdAt: '2026-11-19T09:00:00Z',
      updatedAt: '2026-11-19T10:00:00Z',
    },
  ],
});

const kinds = ['intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'] as const;
const graph = async (thread_id: string): Promise<GraphData> => ({
  thread_id,
  title: request,
  nodes: kinds.map((kind) => ({
    id: kind,
    kind,
    label: `the ${kind}`,
    tags: kind === 'decision' ? ['commit'] : [],
    detail: `all of the ${kind}`,
  })),
  edges: kinds.slice(1).map((to, at) => ({ from: kinds[at] ?? 'intent', to, kind: to as 'plan' })),
});

/** Serves a session in one of the states that people meet. */
export async function showScene(
  t: Test,
  name: SceneName,
): Promise<ServedPage & { readonly session: ToldSession }> {
  const session = toldSession(t, {
    provider: { provider: 'gemini', model: 'gemini-3-pro', managed: false },
    ...(name === 'question' ? { attachable: [] } : {}),
  });
  await scenes[name](session);
  return { session, ...(await servePage(t, session, { threads, graph })) };
}
