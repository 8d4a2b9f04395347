import { type Guard, within } from './guard.ts';

const authors = 'test/attack/approvals/authors.test.ts';
const verdict = 'test/attack/approvals/verdict.test.ts';
const forged = 'test/attack/approvals/forged-seal.test.ts';
const differences = 'test/engine/store/record/verdict.test.ts';
const stated = 'test/engine/patch/stated-authors.test.ts';

/** What an approval is bound to, who may not give one, and what is asked before a branch moves. */
export const guards: readonly Guard[] = [
  ...within('engine/run/seal/seal.ts', forged, [
    [
      'what does not bear the change is not sealed',
      '  if (refuted !== undefined)',
      '  if (refuted === "")',
      'approvals that were counted and should not have been stop the seal: unsigned',
    ],
  ]),
  ...within('engine/run/record/decision-input-shape.ts', 'test/engine/run/decide/replay-run.test.ts', [
    [
      'citations that are taken out of an input',
      "schema !== 'urn:writ:decision-input:v1' && citations === undefined",
      'citations === null',
      'citations that are taken out of a record are missed',
    ],
  ]),
  ...within('attest/approval/ssh-signature.ts', 'test/attest/approval/sshsig.test.ts', [
    [
      'nothing behind the signature of a security key',
      '  const state = reader.take(5);\n  reader.end();',
      '  const state = reader.take(5);',
      'security keys count when they were touched, and only then',
    ],
  ]),
  ...within('attest/verify/verify-decided.ts', forged, [
    [
      'approvals before the branch moves',
      '  await verifyApprovals(list, source, claims, spec, decision, commit, evidence.allowedSigners);',
      '',
      'approvals that were counted and should not have been stop the seal: unsigned',
    ],
    [
      'replay before the branch moves',
      "  await list.judge('replay', () => verifyReplay(source, claims, evidence.replay));",
      "  await list.judge('replay', () => undefined);",
      'a forged record is refused',
    ],
  ]),
  ...within('attest/verify/verify-own-seal.ts', forged, [
    [
      'the whole of a seal is what a stranger verifies',
      '    allowedSigners: evidence.allowedSigners,\n    replay: evidence.replay,',
      '',
      'a forged record is refused',
    ],
  ]),
  ...within('attest/verify/shown-verdict.ts', forged, [
    [
      'what was sealed goes on from what was shown',
      '  if (differences.length > 0)',
      '  if (differences.length < 0)',
      'a forged record is refused',
    ],
  ]),
  ...within('attest/verify/spec-demands.ts', 'test/attest/verify/approvals.test.ts', [
    [
      'a check that asks for people is a demand',
      '      ...approversInChecks(spec),',
      '',
      'a check that asks for people',
    ],
  ]),
  ...within('engine/run/judge-candidate.ts', verdict, [
    [
      'another verdict than the one that was shown voids approvals',
      '  if (differences.length === 0)',
      '  if (differences.length >= 0)',
      'a verdict that changes while',
    ],
  ]),
  ...within('attest/approval/judge-approval.ts', verdict, [
    [
      'an approval is about one verdict',
      "  if (name === 'gateReportDigest') {",
      "  if (name === 'gateReportDigest') return undefined;\n  if (name === 'gateReportDigest') {",
      'a run that is judged anew with another verdict',
    ],
  ]),
  ...within('engine/run/decide/receive-approvals.ts', 'test/engine/run/authors-of.test.ts', [
    [
      'somebody made it',
      '  const runner = people.length === 0 ? await readIdentity(repository) : undefined;',
      '  const runner = people.length < 0 ? await readIdentity(repository) : undefined;',
      'a record that names nobody',
    ],
  ]),
  ...within('engine/run/open/read-authorship.ts', authors, [
    [
      'whoever brings a bare diff is its author',
      '...(stated.unsigned ? await broughtBy(repository) : {}),',
      '',
      'whoever brings a bare diff',
    ],
    [
      'nobody is asked to approve what nobody made',
      '  if (asksPeople(spec) || touchesGoverning(patch?.files ?? [])) throw',
      '  if (spec === undefined || patch?.digest === "") throw',
      'where nobody is known',
    ],
  ]),
  ...within('api/run/approve-run.ts', authors, [
    [
      'who does not count is told so',
      "if (own === undefined || own.status === 'counts' || own.status === 'unjudged')",
      'if (own !== undefined || approvers.length === 0)',
      '`writ approve` by somebody',
    ],
  ]),
  ...within('engine/store/record/verdict.ts', differences, [
    [
      'a verdict is for one branch',
      '    target: report.targetRef,',
      "    target: '',",
      'whatever else differs',
    ],
    [
      'a verdict names who made the change',
      '    authors: [...peopleOf(report.authorship)].sort(),',
      '    authors: [],',
      'whatever else differs',
    ],
  ]),
  ...within('engine/patch/stated-authors.ts', stated, [
    [
      'a change outside of a mail names nobody',
      '      if (!isNamed) unsigned = true;',
      '',
      'what names nobody',
    ],
  ]),
  ...within('session/approvals/classify-command.ts', 'test/session/screen/command-tree.test.ts', [
    [
      'nothing is safe beside what nobody can read',
      'const segments = commands.map(judgePart);',
      'const segments = commands.map(judgeSegment);',
      'of a text that cannot be read as a whole',
    ],
  ]),
];
