import { type Guard, within } from './guard.ts';

const rule = 'test/gates/rules/undeclared-api.test.ts';
const runs = 'test/engine/run/work/unknown-api.test.ts';

/** What tells a call that a contract did not declare from everything else. */
export const guards: readonly Guard[] = [
  ...within('gates/rules/undeclared-api.meta.ts', runs, [
    [
      'a contract that does not ask is not held up',
      "execution.replan.triggers.includes('unknown-api')",
      'execution.replan.triggers.length > 0',
      'one that is declared, and one that nobody asks about',
    ],
  ]),
  ...within('gates/api-calls/is-declared.ts', rule, [
    [
      'another host is another API',
      'declared.origin !== called.origin)',
      'declared.origin === called.origin)',
      'from the hunks alone, and in much text',
    ],
  ]),
];
