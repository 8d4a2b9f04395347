export type { GateCase, GateCases, GateRunner } from './plugins/testers/gate-tester.ts';
export { gateTester, toRuleInput } from './plugins/testers/gate-tester.ts';
export type { DeepPartial } from './plugins/testers/sample-spec.ts';
export { sampleSpec, sampleSpecWith } from './plugins/testers/sample-spec.ts';
export type { StoreSubject } from './plugins/testers/store-bench.ts';
export { storeTester } from './plugins/testers/store-tester.ts';
export type { CaseFile } from './plugins/testers/tiny-diff.ts';
export { toPatchSet } from './plugins/testers/tiny-diff.ts';
