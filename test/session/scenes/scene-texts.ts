import { readFileSync } from 'node:fs';
import { describeApproval } from '../../../session/approvals/describe-approval.ts';

/** What a session of a small shop says and does: the words are those that the parts of a session really say. */
export const run = '01a2071a-1111-7111-8111-111111111111';
export const request = 'The note of an order is kept with the blanks around it. Keep it without them.';
const title = 'Keep notes of orders without the blanks around them';

const lines = [
  'src/validate.js keeps the note of an order without the blanks around it; test/validate.test.js holds a test for that',
  'write the test first',
  'then take the blanks behind the note away',
];

export const plan = {
  id: `${run}/1`,
  title,
  summary: `${title}. The note of an order is kept as it was typed, with the blanks before and behind it.\n1 task; may write src/validate.js, test/validate.test.js.`,
  status: 'proposed',
  steps: [
    ...lines.map((step, at) => ({
      id: `task-1.${at + 1}`,
      task: 'task-1',
      step,
      status: 'pending' as const,
    })),
    { id: 'gate-fast', task: 'gate-fast', step: 'check: unit', status: 'pending' },
  ],
  estimates: [{ line: 'task-1.1', tokens: 34_095, costUsd: 0.08 }],
  run: { runId: run, revision: 1, advice: [], repair: { attempt: 0, limit: 3 } },
} as const;

/** What is asked of a person about that plan. */
export const planChoice = {
  planId: plan.id,
  runId: run,
  revision: 2,
  networkAccess: 'deny' as const,
  workspace: 'f',
  lines: plan.steps.map(({ id }) => id),
  estimates: plan.estimates,
  estimated: { tokens: 34_095, costUsd: 0.08 },
  changes: [
    '- take the blanks away',
    '+ write the test first',
    '+ then take the blanks behind the note away',
  ],
  riskLevel: 'low',
  scope: ['src/validate.js', 'test/validate.test.js'],
  stages: [
    { stage: 'fast', checks: ['unit'] },
    { stage: 'integration', checks: [] },
    { stage: 'security', checks: [] },
    { stage: 'release', checks: [] },
  ],
  notices: ['no lockfile is in scope: a new dependency would be refused'],
};

export const reply = `\`parseOrder()\` checks **one** order and keeps its note *as it was typed*:

\`\`\`js
export function parseOrder(body) {
  const faults = [];
  // at most 500 characters
  if ((body.note ?? '').length > 500) faults.push({ path: '/note', message: 'too long' });
  return { lines: body.lines, note: body.note ?? '' };
}
\`\`\`

## Callers

1. \`src/server.js\`, for each \`POST /orders\`
2. \`src/import.js\`
   - once for the file
   - once for each line of it

| file | line |
|---|---:|
| src/server.js | 12 |
| src/import.js | 40 |

> The test in \`test/validate.test.js\` says nothing of blanks.

See [the docs](https://example.org/orders).`;

/** A contract as a person is asked whether it is what was meant. */
export const contract = readFileSync(new URL('./contract.md', import.meta.url), 'utf8');
export const repairs = ['`.writ/` is out of scope', '`execution.retry.maxRetries` is 0, stricter than 3'];
export const contractTitle = title;
/** What of it a person judges. */
export const essence = {
  problem: 'The note of an order is kept as it was typed, with the blanks before and behind it.',
  objectives: [lines[0] ?? ''],
  acceptedWhen: ['a note with blanks around it is kept without them'],
  checks: [{ id: 'unit', stage: 'fast', command: 'node --test --test-reporter=tap' }],
  rationale: 'One value of one field, checked where it comes in.',
  factors: [],
  unusual: ['Attempts: 0 retries, 2 in parallel (usual: 3 retries, 2 in parallel)'],
  stricter: ['`execution.retry.maxRetries` is 0, stricter than 3'],
};

/** A command of which not everything is known, as it is asked about. */
export const approval = describeApproval(
  {
    id: 'use',
    request: {
      runId: 'r',
      tool: 'workspace.command',
      action: 'execute',
      command: 'git status && rm -rf $TARGET/build | tee build.log',
    },
    cwd: '/projects/orders',
    sandbox: 'f'.repeat(64),
    branch: 'refs/heads/main',
    isOutside: false,
  },
  { why: 'it is dangerous: it removes files', ttlSeconds: 300, mask: (text) => text },
);

export const fixed = [
  {
    path: 'src/validate.js',
    changeType: 'modify',
    diff: `@@ -23,5 +23,5 @@ export function parseOrder(body) {
   }
   if (faults.length > 0) throw refuse(422, 'the order is not valid', faults);
-  return { lines: lines.map(({ item, quantity }) => ({ item, quantity })), note: body.note ?? '' };
+  return { lines: lines.map(({ item, quantity }) => ({ item, quantity })), note: (body.note ?? '').trim() };
 }
@@ -41,2 +41,3 @@ export function refuse(status, message, faults) {
 // faults are told one by one
+// and none of them twice
 export const most = 500;
`,
    hunks: [
      { id: 'h1', header: '@@ -23,5 +23,5 @@ export function parseOrder(body) {' },
      { id: 'h2', header: '@@ -41,2 +41,3 @@ export function refuse(status, message, faults) {' },
    ],
  },
  {
    path: 'test/validate.test.js',
    changeType: 'modify',
    diff: `@@ -50,1 +50,6 @@ test('an order has lines', () => {
 });
+
+test('a note is kept without the blanks around it', () => {
+  const { note } = parseOrder({ lines, note: ' ring twice ' });
+  assert.equal(note, 'ring twice');
+});
`,
    hunks: [{ id: 'h3', header: "@@ -50,1 +50,6 @@ test('an order has lines', () => {" }],
  },
];

/** What a goal has used up when somebody looks. */
export const goal = {
  status: 'active',
  loops: 1,
  criteria: [
    { id: 'criterion-1', text: request, checks: ['unit'], status: 'open' },
    {
      id: 'criterion-2',
      text: 'A note of blanks alone is the same as none.',
      checks: ['unit'],
      status: 'refuted',
    },
  ],
  workedMs: 214_000,
} as const;
