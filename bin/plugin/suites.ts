import type { PartKind } from '../../engine/plugin-trust/part-fields.ts';
import { testArtifacts } from './test-artifacts.ts';
import { testEvidence } from './test-evidence.ts';
import { testLogs } from './test-logs.ts';
import { testProviders } from './test-provider.ts';
import { testStageChecks } from './test-stage-checks.ts';
import type { TestSuite } from './test-suite.ts';

/** What `writ plugin test` asks of the parts of each kind. */
export const suites: Readonly<Record<PartKind, TestSuite>> = {
  provider: testProviders,
  log: testLogs,
  'stage-check': testStageChecks,
  artifact: testArtifacts,
  evidence: testEvidence,
};
