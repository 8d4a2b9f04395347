import { type Guard, within } from './guard.ts';

/** What the evidence of a check says of its time. */
export const guards: readonly Guard[] = within(
  'engine/run/judge/check-time.ts',
  'test/engine/run/judge/check-time.test.ts',
  [
    [
      'a check begins with its command',
      'this.#began ??= this.#now();',
      'this.#began ??= this.#ready;',
      'a check is timed from where its command began',
    ],
    [
      'a workspace is counted once',
      'if (this.#began === undefined) this.#workspaceMs',
      'this.#workspaceMs',
      'a command that runs twice',
    ],
    [
      'lengths are of the clock that never steps back',
      'const lasted = Math.max(0, this.#clock.monotonic() - even);',
      'const lasted = this.#clock.now() - wall;',
      'a wall clock that is set meanwhile',
    ],
    [
      'a clock that was set is told',
      '...(Math.abs(step) < leastStepMs ? {} : { clockStepMs: Math.round(step) }),',
      '',
      'a wall clock that is set meanwhile',
    ],
  ],
);
