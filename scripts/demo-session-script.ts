import type { ScriptedReply } from '../test/agent/scripted-model.ts';
import { changeOfNotes, done } from './demo-model-script.ts';

const objective =
  'src/validate.js keeps the note of an order without the blanks around it; test/validate.test.js holds a test for that';

const plans = (...steps: readonly string[]): ScriptedReply => ({
  calls: [
    [
      'submit_plan_draft',
      {
        tasks: [
          {
            key: 'task-1',
            steps,
            writes: ['src/validate.js', 'test/validate.test.js'],
            checks: ['unit'],
          },
        ],
      },
    ],
  ],
});

/** What the model of the demonstration's session says, reply by reply. */
export const sessionReplies: readonly ScriptedReply[] = [
  { calls: [['grep_files', { pattern: 'note', path: 'src' }]] },
  {
    calls: [
      [
        'submit_intent_draft',
        {
          summary: 'Keep notes of orders without the blanks around them',
          problemStatement:
            'The note of an order is kept as it was typed, with the blanks before and behind it.',
          changeType: 'bugfix',
          objectives: [objective],
          inScope: ['src/validate.js', 'test/validate.test.js'],
          files: ['src/validate.js', 'test/validate.test.js'],
          symbols: ['parseOrder'],
          successCriteria: ['a note with blanks around it is kept without them'],
          checks: [
            { id: 'unit', stage: 'fast', kind: 'testSuite', command: 'node --test --test-reporter=tap' },
          ],
          risk: {
            level: 'low',
            rationale: 'One value of one field, checked where it comes in.',
            factors: [],
          },
          policy: [{ field: 'execution.retry.maxRetries', value: '0' }],
        },
      ],
    ],
  },
  plans('write the test first', 'then take the blanks behind the note away'),
  // The first plan forgets the blanks before the note: the gate says no, and the plan is revised with what it found.
  {
    calls: [
      ['apply_patch', { patch: changeOfNotes("(body.note ?? '').trimEnd()") }],
      done('the blanks behind a note are gone'),
    ],
  },
  plans('keep the test', 'take the blanks on both sides away'),
  {
    calls: [
      ['apply_patch', { patch: changeOfNotes("(body.note ?? '').trim()") }],
      done('the blanks on both sides are gone'),
    ],
  },
];
