import { type Guard, within } from './guard.ts';

const oldBase = 'test/attack/policy/old-base.test.ts';
const everyChange = 'test/attack/policy/every-change.test.ts';
const wording = 'test/attack/policy/wording.test.ts';
const resumed = 'test/attack/policy/resume.test.ts';

/** Whose policy judges a change, and what lands of it. */
export const guards: readonly Guard[] = [
  ...within('engine/run/open/repository-judgements.ts', oldBase, [
    [
      'config of the policy commit',
      "readBlob(repository, landing.policy.tree, '.writ/config.toml')",
      "readBlob(repository, landing.base.tree, '.writ/config.toml')",
      'nor does it on a new branch',
    ],
  ]),
  ...within('engine/vcs/find-policy.ts', oldBase, [
    [
      'policy of the branch that baseRef names',
      'const ref = await namedBranch(repo, baseRef);',
      'const ref = undefined as string | undefined;',
      'nor does it on a new branch',
    ],
  ]),
  ...within('engine/vcs/named-branch.ts', oldBase, [
    [
      'branches that are only tracked',
      "return named === '' && (await stands(repo, tracked)) ? tracked : undefined;",
      'return undefined;',
      'nor by a supplied patch',
    ],
  ]),
  ...within('engine/run/open/choose-landing.ts', oldBase, [
    [
      'no commit of the change is its judge',
      'if (tip === undefined && range && policy.ref !== undefined && policy.commit !== undefined)',
      'if (false)',
      'a change cannot name one of its own',
    ],
    ['--no-merge', ' && noMerge !== true', '', 'a change that conflicts with the tip'],
    [
      'the tip holds the base',
      'const isAhead = commit !== undefined && (await isAncestor(repository, commit, tip));',
      'const isAhead = commit !== undefined;',
      'a target that does not hold the base',
    ],
  ]),
  ...within('engine/vcs/swap-target.ts', oldBase, [
    [
      'the policy stays until the swap',
      '[update, ...holds]',
      '[update]',
      'a policy that moves while the change is judged',
    ],
  ]),
  ...within('bin/command-parts/scan-options.ts', oldBase, [
    [
      'options of a scan',
      'return treeOf(repository, from);',
      "return treeOf(repository, from.concat('~1'));",
      'a scan of a range',
    ],
  ]),
  ...within('engine/run/open/reopen-landing.ts', resumed, [
    [
      'the target stays while a run waits',
      'if (tip !== expected) {',
      'if (false) {',
      'a policy that moved while',
    ],
    [
      'the policy stays while a run waits',
      'if (now.commit !== policy.commit || now.tree !== policy.tree || !isSameBranch(now.ref, policy.ref)) {',
      'if (false) {',
      'a policy that moved while',
    ],
  ]),
  ...within('engine/vcs/plan-target.ts', resumed, [
    ['feet of another work tree', 'if (!elsewhere) return;', 'return;', 'where resume is typed'],
  ]),
  ...within('engine/run/record/started-run.ts', resumed, [
    [
      'a target gives the policy',
      'policy.commit === target.expected && policy.ref === target.ref',
      'true',
      'a journal whose target is no branch',
    ],
    [
      'a target is a branch',
      "if (!target.ref.startsWith('refs/heads/') || !isRefName(target.ref))",
      'if (false)',
      'a journal whose target is no branch',
    ],
  ]),
  ...within('engine/run/state/checks-of-policy.ts', everyChange, [
    ['checks of every change', '...config.checks.always.map(', '...[].map(', 'a check of every change holds'],
    [
      'policies that nobody asks for',
      'if (asked.has(command)) return [];',
      'return [];',
      'a configured policy is asked',
    ],
    [
      'asking without obligation is not asking',
      "check.kind === 'policy' && check.required",
      "check.kind === 'policy'",
      'one that the contract asks for',
    ],
    ['ids of their own', 'if (taken.has(check.id)) throw', 'if (false) throw', 'a contract cannot tolerate'],
  ]),
  ...within('engine/run/judge/regression.ts', everyChange, [
    ['nothing of it is an old failure', ' && record.fromPolicy !== true', '', 'a contract cannot tolerate'],
  ]),
  ...within('engine/config/checks-section.ts', everyChange, [
    [
      'always required',
      'readConfiguredCheck(table, true)',
      'readConfiguredCheck(table)',
      'its network stays shut',
    ],
  ]),
  ...within('engine/vcs/kept-message.ts', wording, [
    [
      'forged trailers in a block',
      '.filter((line) => !reserved.test(line))',
      '',
      'a range of one commit keeps',
    ],
    ['forged trailers in the text', 'reserved.test(line) ?', 'false ?', 'a range of one commit keeps'],
    ['words that cannot be seen', ".replace(unseen, '')", '', 'a range of one commit keeps'],
  ]),
  ...within('attest/verify/verify-policy.ts', 'test/attest/verify/policy.test.ts', [
    [
      'the sealed commit stands on the stated base',
      'if (parents.length !== stated.length || parents[0] !== stated[0])',
      'if (false)',
      'a base that is not the parent',
    ],
    [
      'one policy in provenance and decision',
      'if (decided !== policy)',
      'if (false)',
      'another policy than the decision',
    ],
    [
      'a policy is named',
      'if (policy === null && claims.base !== undefined)',
      'if (false)',
      'no policy at all',
    ],
    [
      'the configuration is that of the policy',
      'if (found !== claims.config)',
      'if (false)',
      'another configuration',
    ],
  ]),
];
