import { type Issue, warning } from '../../../core/contract/issue.ts';
import { approversLacking, approversLackingCode } from '../state/approvers-lacking.ts';
import { checksWithoutUse, checkUnknownCode } from '../state/checks-without-use.ts';
import { foreignPolicyCode, foreignPolicyWords } from '../state/foreign-policy.ts';
import { logUnusedCode, logWithoutUse } from '../state/log-without-use.ts';
import { rightsLacking, rightsLackingCode } from '../state/rights-lacking.ts';
import type { Opening } from './opening.ts';

/** What of an opening a run can be told of before any work. */
type Told = Partial<Pick<Opening, 'admitted' | 'contract' | 'config' | 'landing' | 'signers' | 'worker'>>;

/** What a run tells of its contract and its policy and refuses nothing for, as far as it is known before. Pure. */
export function noticesOf(known: Told): readonly Issue[] {
  const { admitted, contract = admitted, config, landing } = known;
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
    ...inVain(known),
  ];
}

/** Those of them by which all work of the run would be in vain: to be told before it begins. Pure. */
export function inVain(known: Told): readonly Issue[] {
  const { admitted, contract = admitted, worker } = known;
  if (contract === undefined) return [];
  const spec = contract.effective;
  return [
    ...(Object.hasOwn(known, 'signers')
      ? approversLacking(spec, known.signers).map((words) =>
          warning(approversLackingCode, '/risk/humanInLoop', words),
        )
      : []),
    ...(worker?.usesModel === true
      ? rightsLacking(spec).map((words) => warning(rightsLackingCode, '/security/toolAcl/allow', words))
      : []),
  ];
}

/** The same in the words of a report, each behind its code. Pure. */
export function inVainWords(known: Told): readonly string[] {
  return inVain(known).map(({ code, message }) => `${code}: ${message}`);
}
