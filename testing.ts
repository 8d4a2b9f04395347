/* The public entry point for testing plugins. */
export type { ArtifactCase, ArtifactSubject } from './plugins/testers/artifact-tester.ts';
export { artifactTester } from './plugins/testers/artifact-tester.ts';
export type { EvidenceCase, EvidenceSubject } from './plugins/testers/evidence-tester.ts';
export { evidenceTester } from './plugins/testers/evidence-tester.ts';
export type { GateCase, GateCases } from './plugins/testers/gate-tester.ts';
export { gateTester, toRuleInput } from './plugins/testers/gate-tester.ts';
export type { LogSubject, SealingSubject } from './plugins/testers/log-tester.ts';
export { logTester } from './plugins/testers/log-tester.ts';
export type { ProviderCase, ProviderSubject } from './plugins/testers/provider-tester.ts';
export { providerTester } from './plugins/testers/provider-tester.ts';
export type { CaseRunner, DeepPartial } from './plugins/testers/run-cases.ts';
export { sampleSpec, sampleSpecWith } from './plugins/testers/run-cases.ts';
export type { StageCheckCase, StageCheckSubject } from './plugins/testers/stage-check-tester.ts';
export { stageCheckTester } from './plugins/testers/stage-check-tester.ts';
export type { CaseFile } from './plugins/testers/tiny-diff.ts';
export { toPatchSet } from './plugins/testers/tiny-diff.ts';
