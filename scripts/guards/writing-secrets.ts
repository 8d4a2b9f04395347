import { type Guard, within } from './guard.ts';

const runs = 'test/engine/run/writing-secrets.test.ts';
const others = 'people whom the contract does not ask for';

/** What keeps a secret that may change something until people have spoken. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/given-secrets.ts', runs, [
    [
      'such secrets are for the release alone',
      "return stage === 'release' && check.kind !== 'policy';",
      "return check.kind !== 'policy';",
      'what may change something is given to no check',
    ],
    [
      'what a contract asks people for is asked before they are given',
      'if (asking.length === 0 || !asking.every(',
      'if (asking.length === 0 && !asking.every(',
      others,
    ],
    [
      'never fewer than two people',
      'Math.max(leastApprovers, contract.effective.risk.humanInLoop.minApprovers)',
      '1',
      others,
    ],
  ]),
  ...within('engine/run/judge-candidate.ts', runs, [
    [
      'the verdict is judged again before they are given',
      'const changed = early ? ',
      'const changed = early && candidate.patch === undefined ? ',
      'where the gates come to another verdict',
    ],
  ]),
  ...within('engine/run/judge/run-stage.ts', runs, [
    [
      'people are asked before what runs',
      'listed.filter(({ check }) => isApproverCheck(check)) : []',
      'listed.filter(({ check }) => isApproverCheck(check) && check.id === undefined) : []',
      'what may change something is given to no check',
    ],
  ]),
  ...within('engine/spec/rules/writing-secrets.ts', runs, [
    [
      'a contract says what they are for',
      'rationale?.includes(scope) === false',
      'rationale?.includes(scope) === undefined',
      'a contract that says nothing for it',
    ],
  ]),
];
