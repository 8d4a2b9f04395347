import { type Guard, within } from './guard.ts';

const wording = 'test/attack/secrets-stored/wording.test.ts';
const foreign = 'test/attack/policy/foreign-policy.test.ts';

/** What a run says of itself: whose policy judged, what is sealed with it, where a refusal comes from. */
export const guards: readonly Guard[] = [
  ...within('engine/run/open/choose-landing.ts', foreign, [
    ['--policy', 'if (request.policy !== undefined)', 'if (false)', 'a policy that the contract chose'],
    [
      'a contract that chooses its judge',
      'const foreign = await findForeignPolicy(repository, meant, policy);',
      'const foreign = undefined as { defaultRef: null } | undefined;',
      'a policy that the contract chose',
    ],
  ]),
  ...within('engine/run/state/foreign-policy.ts', foreign, [
    [
      'no warning on what the default branch says',
      'return (await readRef(repository, ref)) === policy.commit ? undefined : { defaultRef: ref };',
      'return { defaultRef: ref };',
      'who is judged by the branch',
    ],
  ]),
  ...within('api/verify/policy-demand.ts', foreign, [
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
  ...within('engine/run/judge/judge-patch.ts', wording, [
    [
      'a secret in the words is refused',
      "extent === 'whole' ? wordingFindings(attempt.identity.wording) : []",
      '[] as Finding[]',
      'a token in the words of a range',
    ],
  ]),
  ...within('engine/run/record/mask-patch.ts', wording, [
    [
      'a patch that was not refused is kept',
      ' || detail?.wording !== undefined',
      '',
      'a token in the words of a range',
    ],
  ]),
  ...within('engine/run/open/mask-stated.ts', wording, [
    [
      'words as they would be sealed',
      '(holdsSecret(text, tokensOnly) || holdsSecret(asSealed(text), tokensOnly))',
      'holdsSecret(text, tokensOnly)',
      'wherever in the words it stands',
    ],
    [
      'the summary',
      'wording.message === undefined && holds(summary, false)',
      'false',
      'wherever in the words',
    ],
  ]),
  ...within('engine/run/state/commit-wording.ts', wording, [
    ['the words of a mail', '[only = mail]', '[only]', 'a mail is one commit'],
  ]),
  ...within('engine/run/judge/run-check.ts', 'test/attack/policy/every-change.test.ts', [
    ['whose check it is', 'blameOrigin(one, origin)', 'one', 'a check of every change holds'],
  ]),
  ...within('readers/sensitive/coded-forms.ts', 'test/engine/run/record/mask-values.test.ts', [
    ['base64 at any offset', '[0, 1, 2].flatMap', '[0].flatMap', 'a value is masked in base64'],
  ]),
  ...within('engine/run/record/secret-values.ts', 'test/engine/run/record/mask-values.test.ts', [
    ['passwords by the name of their file', ', ...named]', ']', 'passwords that only the name'],
  ]),
  ...within('engine/config/workspace-section.ts', 'test/engine/config/config.test.ts', [
    [
      'no patterns in carry',
      'if (/[*?]/.test(path))',
      'if (false)',
      'values of the wrong type or out of bounds',
    ],
  ]),
];
