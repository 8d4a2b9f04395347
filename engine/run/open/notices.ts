import { type Issue, warning } from '../../../core/contract/issue.ts';
import { checksWithoutUse, checkUnknownCode } from '../state/checks-without-use.ts';
import { foreignPolicyCode, foreignPolicyWords } from '../state/foreign-policy.ts';
import { logUnusedCode, logWithoutUse } from '../state/log-without-use.ts';
import type { Opening } from './opening.ts';

/** What a run tells of its contract and its policy and refuses nothing for, as far as it is known before. Pure. */
export function noticesOf({
  admitted,
  contract = admitted,
  config,
  landing,
}: Partial<Pick<Opening, 'admitted' | 'contract' | 'config' | 'landing'>>): readonly Issue[] {
  const spec = contract?.effective;
  return [
    ...(landing?.foreign
      ? [
          warning(
            foreignPolicyCode,
            '/metadata/target/baseRef',
            foreignPolicyWords(landing.foreign, landing.policy, landing.target),
          ),
        ]
      : []),
    ...(spec && config
      ? checksWithoutUse(spec, config).map((words) =>
          warning(checkUnknownCode, '/acceptance/verificationPlan', words),
        )
      : []),
    ...(spec
      ? logWithoutUse(spec).map((words) => warning(logUnusedCode, '/provenance/transparencyLog/mode', words))
      : []),
  ];
}
