/** Imports that the map forbids and that still stand, each to be cut. No other is forgiven, and none that is gone may stay in this list. */
export const againstTheMap: readonly string[] = [
  'attest/approval/sign-approval.ts → engine/tool/spawn.ts',
  'attest/log/check-ledger.ts → engine/upkeep/check-repository.ts',
  'attest/verify/verify-replay.ts → engine/upkeep/replay-run.ts',
  'plugins/testers/gate-tester.ts → engine/plan/scope.ts',
  'readers/advisories/import-advisories.ts → engine/tool/process/process-lock.ts',
];
