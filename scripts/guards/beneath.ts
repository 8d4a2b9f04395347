import { type Guard, within } from './guard.ts';

const policy = 'test/attest/verify/policy.test.ts';
const case1 = 'what the change stands on';

export const guards: readonly Guard[] = [
  ...within('attest/verify/verify-policy.ts', policy, [
    ['a demanded branch holds the base, too', '(await reaches(claims.base)) === false', 'false', case1],
    [
      'who made what is beneath the policy is told',
      '...(beneath.length === 0 ? {} : { beneath: [...new Set(beneath)] }),',
      '',
      case1,
    ],
  ]),
  ...within('api/verify/warnings.ts', policy, [
    [
      'a base that nobody judged is warned of',
      "if (id === 'policy' && Array.isArray(detail?.beneath_by))",
      'if (Array.isArray(undefined))',
      case1,
    ],
  ]),
];
