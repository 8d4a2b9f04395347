import type { CheckRunner } from '../../core/contract/check-runner.ts';
import { judgeExit } from './judge-exit.ts';

/**
 * Check kind `command`: passes where the command ran under ACL, sandbox and time-out and ended with the expected exit
 * code.
 */
export const commandCheck: CheckRunner = {
  async run({ check, runCommand }) {
    const ran = await runCommand();
    const { result, reports } = ran;
    return { findings: judgeExit(check, ran), ...(result ? { result } : {}), reports };
  },
};
