import type { RuleFunction } from '../../../../plugin.ts';

/** Changes its answer from call to call: a rule that is not pure. */
let calls = 0;
export const judge: RuleFunction = () => {
  calls += 1;
  return [{ rule: 'counts', severity: 'error', message: `call ${calls}` }];
};
