import { ofAttest } from './survivors/of-attest.ts';
import { ofGates } from './survivors/of-gates.ts';
import { ofRun } from './survivors/of-run.ts';
import type { Survivor } from './survivors/survivor.ts';

/** Mutants that `scripts/sample-mutants.ts` found unnoticed and that may stay so. */
export const survivors: readonly Survivor[] = [...ofAttest, ...ofGates, ...ofRun];
