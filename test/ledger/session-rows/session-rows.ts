import { approvalRows } from './approval-rows.ts';
import { commandRows } from './command-rows.ts';
import { controlRows } from './control-rows.ts';
import { errorRows } from './error-rows.ts';
import { goalRows } from './goal-rows.ts';
import { optionRows } from './option-rows.ts';
import { programRows } from './program-rows.ts';
import { routeRows } from './route-rows.ts';
import type { SessionRow } from './session-row.ts';
import { snapshotRows } from './snapshot-rows.ts';

/** Every promise of document 2 that is kept, each with its test. */
export const sessionRows: readonly SessionRow[] = [
  ...optionRows,
  ...commandRows,
  ...controlRows,
  ...routeRows,
  ...errorRows,
  ...snapshotRows,
  ...approvalRows,
  ...programRows,
  ...goalRows,
];
