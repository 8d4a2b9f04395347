import type { ScriptedReply } from '../test/agent/scripted-model.ts';

/** What the model of the demonstration says, reply by reply; written by hand, as a model might. */
const objectives = [
  'src/validate.js keeps the note of an order without the blanks around it; test/validate.test.js holds a test for that',
  'CHANGELOG.md says so under Unreleased',
] as const;

const test = `*** Update File: test/validate.test.js
@@
 test('a page has bounds', () => {
@@
     assert.throws(() => parsePage(new URLSearchParams({ limit })), { status: 422 });
   }
 });
+
+test('a note is kept without the blanks around it', () => {
+  const lines = [{ item: 'rice', quantity: 2 }];
+  assert.equal(parseOrder({ lines, note: '  back door, please ' }).note, 'back door, please');
+  assert.equal(parseOrder({ lines, note: '   ' }).note, '');
+});`;

export const changeOfNotes = (note: string): string => `*** Begin Patch
*** Update File: src/validate.js
@@
-  return { lines: lines.map(({ item, quantity }) => ({ item, quantity })), note: body.note ?? '' };
+  return { lines: lines.map(({ item, quantity }) => ({ item, quantity })), note: ${note} };
${test}
*** End Patch`;

const changelog = `*** Begin Patch
*** Update File: CHANGELOG.md
@@
 - Requests are limited per client: 40 at once, then 10 a second.
+- The note of an order is kept without the blanks around it.
*** End Patch`;

export const done = (summary: string) => ['submit_task_complete', { complete: true, summary }] as const;

export const demoReplies: readonly ScriptedReply[] = [
  {
    text: 'I look at what is there.',
    calls: [
      ['list_dir', { path: '.' }],
      ['grep_files', { pattern: 'note', path: 'src' }],
      ['read_file', { path: 'CHANGELOG.md' }],
    ],
  },
  {
    calls: [
      [
        'submit_intent_draft',
        {
          summary: 'Keep notes of orders without the blanks around them',
          problemStatement:
            'The note of an order is kept as it was typed: blanks before and behind it are stored and printed, and a note of nothing but blanks counts as one.',
          changeType: 'bugfix',
          objectives,
          inScope: ['src/validate.js', 'test/validate.test.js', 'CHANGELOG.md'],
          outOfScope: ['package.json', 'vendor/'],
          files: ['src/validate.js', 'test/validate.test.js', 'CHANGELOG.md'],
          symbols: ['parseOrder'],
          successCriteria: [
            'a note with blanks around it is kept without them',
            'a note of nothing but blanks is kept as an empty one',
          ],
          checks: [
            { id: 'unit', stage: 'fast', kind: 'testSuite', command: 'node --test --test-reporter=tap' },
          ],
          risk: {
            level: 'low',
            rationale: 'One value of one field, checked where it comes in.',
            factors: [],
          },
          policy: [
            { field: 'execution.retry.maxRetries', value: '1' },
            { field: 'constraints.security.networkPolicy', value: '"allow"' },
          ],
        },
      ],
    ],
  },
  {
    calls: [
      [
        'submit_plan_draft',
        {
          tasks: [
            {
              key: 'task-1',
              steps: ['write the test first', 'then take the blanks away where an order is parsed'],
              writes: ['src/validate.js', 'test/validate.test.js'],
              checks: ['unit'],
            },
            {
              key: 'task-2',
              steps: ['one line, below the others'],
              writes: ['CHANGELOG.md'],
              after: ['task-1'],
            },
          ],
        },
      ],
    ],
  },
  // The first attempt forgets the blanks before the note: the check fails, and the next attempt is told.
  { calls: [['read_file', { path: 'src/validate.js' }]] },
  {
    calls: [
      ['apply_patch', { patch: changeOfNotes("(body.note ?? '').trimEnd()") }],
      done('blanks are gone'),
    ],
  },
  {
    text: 'The test says that the blanks before the note are still there.',
    calls: [
      ['apply_patch', { patch: changeOfNotes("(body.note ?? '').trim()") }],
      done('blanks on both sides are gone'),
    ],
  },
  { calls: [['apply_patch', { patch: changelog }], done('told')] },
];
