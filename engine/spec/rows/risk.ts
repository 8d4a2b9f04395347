import { always, inSection } from '../contract-row.ts';

export const riskRows = inSection('Risk', [
  {
    id: 'risk.level',
    path: '/risk/level',
    rule: 'medium warns about security code without a human loop; high demands one',
    asks: always,
    enforcedBy: 'core',
    test: 'test/engine/spec/rules.test.ts',
  },
  {
    id: 'risk.level=high#parallel',
    path: '/risk/level',
    rule: 'high risk runs one task at a time',
    asks: ({ risk }) => risk.level === 'high',
    enforcedBy: 'core',
    test: 'test/engine/spec/apply-defaults.test.ts',
  },
  {
    id: 'risk.rationale',
    path: '/risk/rationale',
    rule: 'written to the constraints of the Task',
    asks: always,
    enforcedBy: 'core',
    test: 'test/engine/run/field-effects.test.ts',
  },
  {
    id: 'risk.factors',
    path: '/risk/factors',
    rule: 'each tag adds the checks that the configuration gives it',
    asks: ({ risk }) => risk.factors.length > 0,
    enforcedBy: 'core',
    test: 'test/engine/run/state/checks-with-factors.test.ts',
  },
  {
    id: 'risk.humanInLoop.required',
    path: '/risk/humanInLoop/required',
    rule: 'the run waits for approval before Decision.Commit',
    asks: ({ risk }) => risk.humanInLoop.required,
    enforcedBy: 'core',
    test: 'test/engine/run/approval-runs.test.ts',
  },
  {
    id: 'risk.humanInLoop.minApprovers',
    path: '/risk/humanInLoop/minApprovers',
    rule: 'so many distinct people approve, no author among them',
    asks: ({ risk }) => risk.humanInLoop.minApprovers > 0,
    enforcedBy: 'core',
    test: 'test/engine/run/approval-runs.test.ts',
  },
]);
