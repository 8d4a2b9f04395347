import { isWritError } from '../../core/base/errors.ts';
import { pickSandbox, type SandboxChoice } from '../../workspace/process/pick-sandbox.ts';
import { type ApprovalPlaces, type SelfTest, tryToApprove } from './try-to-approve.ts';

/** The self-test of one session: made once, when it is first asked for. */
export interface SelfTester {
  /** From here on it is known where approvals come from. */
  serve(places: ApprovalPlaces): void;
  /** Not tried as long as nothing is served, and where no sandbox works. */
  result(): Promise<SelfTest>;
}

const untried: SelfTest = { isTried: false, reached: [] };

export function openSelfTester(sandbox: string, choice: SandboxChoice, signal: AbortSignal): SelfTester {
  let places: ApprovalPlaces | undefined;
  let tested: Promise<SelfTest> | undefined;
  const test = async (at: ApprovalPlaces): Promise<SelfTest> => {
    try {
      return await tryToApprove(await pickSandbox(sandbox, choice), at, signal);
    } catch (fault) {
      if (isWritError(fault, 'SANDBOX_UNAVAILABLE')) return untried;
      throw fault;
    }
  };
  return {
    serve(at) {
      places = at;
      tested = undefined;
    },
    async result() {
      if (places === undefined) return untried;
      tested ??= test(places);
      return tested;
    },
  };
}
