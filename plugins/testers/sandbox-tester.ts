import type { SandboxBackend } from '../../core/contract/sandbox.ts';
import { type CaseRunner, runCases } from './run-cases.ts';
import { withScene } from './sandbox-bench.ts';
import { confiningCases, sandboxCases } from './sandbox-cases.ts';

/**
 * Runs a sandbox through what every one promises on this machine, and unless it is `unconfined`, through what it holds
 * back; rejects with an AssertionError that names the promise that is not kept. Needs `/proc`. A pass is a beginning: a
 * sandbox that is to be trusted is also attacked.
 */
export async function sandboxTester(runner: CaseRunner | undefined, backend: SandboxBackend): Promise<void> {
  const cases = { ...sandboxCases, ...(backend.unconfined ? {} : confiningCases) };
  const promises = Object.entries(cases).map(
    ([sentence, judge]) => [sentence, () => withScene(backend, judge)] as const,
  );
  await runCases(runner, 'sandbox', backend.name, Object.fromEntries(promises));
}
