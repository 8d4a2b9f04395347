import { type Guard, within } from './guard.ts';

const foreign = 'test/attack/policy/foreign-policy.test.ts';

/** What a run says of itself: whose policy judged, what is sealed with it, where a refusal comes from. */
export const guards: readonly Guard[] = [
  ...within('core/run/choose-landing.ts', foreign, [
    ['--policy', 'if (request.policy !== undefined)', 'if (false)', 'a policy that the contract chose'],
    [
      'a contract that chooses its judge',
      'const foreign = await findForeignPolicy(repository, target, policy);',
      'const foreign = undefined as { defaultRef: null } | undefined;',
      'a policy that the contract chose',
    ],
  ]),
  ...within('core/run/foreign-policy.ts', foreign, [
    [
      'no warning on what the default branch says',
      'return (await readRef(repository, ref)) === policy.commit ? undefined : { defaultRef: ref };',
      'return { defaultRef: ref };',
      'who is judged by the branch',
    ],
  ]),
  ...within('bin/verify/policy-demand.ts', foreign, [
    [
      'the policy is of the demanded branch',
      'return isAncestor(repository, commit, tip);',
      'return true;',
      'a policy that the contract chose',
    ],
  ]),
  ...within('gates/secrets/standing-marks.ts', foreign, [
    ['markers count at the policy commit', 'kept?.has(value) ?? true', 'true', 'a marker at an attacker'],
  ]),
];
