import { approvalGuards } from './approvals.ts';
import { confinementGuards } from './confinement.ts';
import { formGuards } from './forms.ts';
import type { Guard } from './guard.ts';
import { journalGuards } from './journal.ts';
import { judgeGuards } from './judge.ts';
import { logGuards } from './log.ts';
import { logMemoryGuards } from './log-memory.ts';
import { materialGuards } from './material.ts';
import { oneWorldGuards } from './one-world.ts';
import { policyGuards } from './policy.ts';
import { predicateGuards } from './predicates.ts';
import { reportGuards } from './reports.ts';
import { runGuards } from './run.ts';
import { serviceGuards } from './service.ts';
import { statementGuards } from './statements.ts';
import { targetGuards } from './targets.ts';

/** Every guard that `npm run test:guards` removes. */
export const guards: readonly Guard[] = [
  ...runGuards,
  ...confinementGuards,
  ...statementGuards,
  ...logGuards,
  ...logMemoryGuards,
  ...formGuards,
  ...materialGuards,
  ...policyGuards,
  ...predicateGuards,
  ...serviceGuards,
  ...judgeGuards,
  ...reportGuards,
  ...targetGuards,
  ...journalGuards,
  ...oneWorldGuards,
  ...approvalGuards,
];
