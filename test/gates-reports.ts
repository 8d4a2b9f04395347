import { room } from './rooms/room.ts';

await room(
  'gates/reports',
  'gates/checks',
  'gates/formats',
  'gates/rules/regression.test.ts',
  'engine/run/judge/regression',
  'engine/run/judge/ask-stage-checks.test.ts',
  'engine/run/judge/compare-executed.test.ts',
  'engine/run/judge/new-tests-ran.test.ts',
  'engine/run/eight-errors.test.ts',
  'gates/rules/check-outcome.test.ts',
  'gates/rules/artifact-declared.test.ts',
  'gates/rules/artifact-present.test.ts',
  'gates/rules/artifact-format.test.ts',
  'gates/rules/sast.test.ts',
  'gates/rules/sca.test.ts',
  'gates/rules/sbom.test.ts',
  'gates/rules/require-approvers.test.ts',
  'gates/rules/verify-provenance.test.ts',
);
