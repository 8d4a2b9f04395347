import type { VerifiedTarget } from './verified-target.ts';

/** What a verification has to say besides its verdict: it may be good, and yet rest on less than a reader thinks. */
export interface VerifyWarning {
  readonly target: string;
  readonly code:
    | 'APPROVALS_UNVERIFIED'
    | 'BASE_UNJUDGED'
    | 'POLICY_FOREIGN'
    | 'LOG_NOT_COMPARED'
    | 'REPLACEMENTS'
    | 'OPTION_WITHOUT_EFFECT'
    | 'CONTENT_EXPIRED'
    | 'OBJECTS_BORROWED';
  readonly message: string;
}

/** The warnings about one target, by the checks that were not counted or were only looked at. */
export function warningsOf({ target, report, withoutEffect = [] }: VerifiedTarget): readonly VerifyWarning[] {
  const unused = withoutEffect.map(
    (option): VerifyWarning => ({
      target,
      code: 'OPTION_WITHOUT_EFFECT',
      message: `\`${option}\` says nothing about this: approvals are of a run, and no run was verified here (verify the run, or its exported evidence; \`--require approvals\` makes this an error)`,
    }),
  );
  const looked = report.checks.flatMap(({ id, code, detail }): VerifyWarning[] => {
    if (id === 'approvals' && code === 'per-repository')
      return [
        {
          target,
          code: 'APPROVALS_UNVERIFIED',
          message:
            'people had to approve this change, and whether they did was NOT verified: give `--allowed-signers FILE`, your own list (`--require approvals` makes this an error)',
        },
      ];
    if (id === 'log-history' && code === 'not-comparable')
      return [
        {
          target,
          code: 'LOG_NOT_COMPARED',
          message: `whether the log continues what you have seen of it could not be told${
            detail?.log === 'public'
              ? ': nothing compares two sizes of a public log offline'
              : ' without the ledger (`--require log` makes this an error)'
          }`,
        },
      ];
    if (id === 'tree-objects' && Array.isArray(detail?.borrowed))
      return [
        {
          target,
          code: 'OBJECTS_BORROWED',
          message: `this repository borrows objects from ${detail.borrowed.length === 1 ? 'another directory' : `${detail.borrowed.length} other directories`} (objects/info/alternates): their bytes are as sealed now, and whoever keeps them can change them`,
        },
      ];
    if (id === 'policy' && detail?.default_ref !== undefined)
      return [
        {
          target,
          code: 'POLICY_FOREIGN',
          message: `the contract chose whose policy judged this change: \`${detail.policy_ref ?? detail.policy_commit}\`, neither the target nor the default branch (\`${detail.default_ref}\`, as the signer knew it): \`--policy BRANCH\` demands one of yours`,
        },
      ];
    if (id === 'policy' && Array.isArray(detail?.beneath_by))
      return [
        {
          target,
          code: 'BASE_UNJUDGED',
          message: `the change stands on commits that the history of its policy does not hold (by ${detail.beneath_by.slice(0, 3).join(', ')}): only the change was judged, and what is beneath it was not; \`--policy BRANCH\` demands a base of yours`,
        },
      ];
    if (id === 'plain-git')
      return [
        {
          target,
          code: 'REPLACEMENTS',
          message:
            'this repository replaces objects (refs/replace or info/grafts): what plain git shows is not always what ids name',
        },
      ];
    return [];
  });
  const gone = report.checks.filter(({ status }) => status === 'expired').length;
  const expired: readonly VerifyWarning[] =
    gone === 0
      ? []
      : [
          {
            target,
            code: 'CONTENT_EXPIRED',
            message: `${gone} of its files are not here and were not verified: that their retention is over rests on when the run began, which is the signer's own word`,
          },
        ];
  return [...unused, ...looked, ...expired];
}
