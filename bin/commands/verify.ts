import { toVerificationData, verificationRefusal, warningsOf } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { type VerifyContext, verifyTargets } from '../../api/verify/verify-targets.ts';
import type { ExplainedClaim } from '../../attest/verify/explain.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { readDemands } from '../command-parts/verify-options.ts';
import { printRanges, printSkipped, printVerdict, printVerification } from '../report/scan.ts';
import { styled } from '../terminal/print.ts';

/**
 * `writ verify TARGET…`: verifies offline. Exit 0 all verified · 1 a claim is refuted · 3 nothing to verify, or no
 * trusted signer.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const demands = await readDemands(context);
  const verified = await verifyTargets(toAsker(context), context.args, demands);
  for (const { target, message } of verified.flatMap(warningsOf))
    context.print.note(styled('yellow', 'warning'), `: ${target}: ${message}`);
  if (!context.options.flag('explain')) return toResult(verified);
  const [{ explain }, { printExplanation }] = await Promise.all([
    import('../../attest/verify/explain.ts'),
    import('../report/explanation.ts'),
  ]);
  return toResult(verified, { explain, print: printExplanation });
}

/**
 * Uses the stores of this module. The package bundles this command separately, and a kept git object reader is
 * visible only within one bundle.
 */
function toAsker(context: CommandContext): VerifyContext {
  const { cwd, env, signal, repoPath } = context;
  return {
    cwd,
    env,
    signal,
    stores: builtInStores,
    ...(repoPath === undefined ? {} : { repoPath }),
    get stdin() {
      return context.stdin;
    },
  };
}

/** Functions for `--explain`, loaded on demand. */
interface Explanation {
  readonly explain: (report: VerifyReport) => readonly ExplainedClaim[];
  readonly print: (printer: CommandContext['print'], verified: VerifiedTarget) => void;
}

/** What was found, as the command's result; the worst target decides the exit code. */
function toResult(verified: readonly VerifiedTarget[], explanation?: Explanation): CommandResult {
  const data = toVerificationData(verified, explanation?.explain);
  const human = (printer: CommandContext['print']): void => {
    for (const one of verified) {
      if (explanation) explanation.print(printer, one);
      else if (one.range !== undefined && one.report.verified) printVerdict(printer, one);
      else printVerification(printer, one);
    }
    printRanges(printer, verified);
    printSkipped(printer, verified);
  };
  const refusal = verificationRefusal(verified);
  return refusal ? refused(refusal, data, human) : succeeded(data, human);
}
