import type { CheckRunner } from '../../core/contract/check-runner.ts';
import { judgeExit } from './judge-exit.ts';

/**
 * Check kind `command`: passes where the command ran under ACL, sandbox and time-out and ended with the expected exit
 * code. A check that is a scanner is evaluated by its report.
 */
export const commandCheck: CheckRunner = {
  async run(context) {
    const { check, runCommand, scan } = context;
    if (scan) return (await import('./evaluate-scan.ts')).evaluateScan(context, scan);
    const ran = await runCommand();
    const { result, reports } = ran;
    return { findings: judgeExit(check, ran), ...(result ? { result } : {}), reports };
  },
};
