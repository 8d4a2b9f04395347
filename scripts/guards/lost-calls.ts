import { type Guard, within } from './guard.ts';

const killed = 'test/engine/run/work/lost-calls/killed-call.test.ts';
const read = 'test/engine/run/state/lost-calls.test.ts';
const egress = 'test/engine/tool/egress/egress-proxy.test.ts';
const whole = 'test/coder/killed-turn.test.ts';
const inRun = 'a run killed in the middle of a call';

/** A call that left the machine is written down before, told after a kill, and not made again. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/tools/open-tools.ts', killed, [
    [
      'the same call is held',
      '(lost && heldCall(lost)) ??',
      '',
      'one that may have left it is not made again',
    ],
    ['it is written down before it leaves', 'await left;', '', 'one that may have left it'],
    ['its end is written down', 'await (await left)?.({ ...ended });', '', 'one that had ended'],
  ]),
  ...within('engine/run/state/lost-calls.ts', read, [
    [
      'what an attempt ended with is not lost',
      'open.delete(attempt);\n      spending.delete(attempt);',
      '',
      'calls are lost by attempt',
    ],
    [
      'other words are other calls',
      'JSON.stringify([tool, action, argumentsDigest])',
      'JSON.stringify([tool, action])',
      'the same words are held',
    ],
    [
      'what is malformed is refused',
      'if (problems.length === 0) return',
      'if (type !== "") return',
      'a record that',
    ],
  ]),
  ...within('engine/tool/egress/passage.ts', egress, [
    ['nothing leaves before', 'await leaving?.();', '', 'nothing leaves before it is written down'],
    [
      'what cannot be written down stays',
      "return this.#told({ ok: false, outcome: 'failed', why: 'unreachable' });",
      '',
      'what cannot be written down does not leave',
    ],
  ]),
  ...within('engine/run/open/reopen-run.ts', whole, [
    [
      'an unproven journal forbids',
      '[{ at, type: startedType, data: started }, ...calls]',
      '[{ at, type: startedType, data: started }, ...calls.slice(calls.length)]',
      inRun,
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', whole, [
    ['the record tells of them', '[...earlier, ...tools.used]', '[...tools.used]', inRun],
    ['the model is told', '...lostOf(run, calls) }', '}', inRun],
  ]),
];
