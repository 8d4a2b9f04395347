/* Converts the results of a verification to `--json` data and to the error of the worst target. */
import { isSameRepository } from '../../attest/verify/certified-source.ts';
import type { ExplainedClaim } from '../../attest/verify/explain.ts';
import { type VerifyCheck, type VerifyReport, verifyExitCode } from '../../attest/verify/report.ts';
import { WritError } from '../../core/base/errors.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import type { VerifiedTarget } from './verified-target.ts';

/** Converts verified targets to `--json` data. `explain` adds the claims of each report, if requested. */
export function toVerificationData(
  verified: readonly VerifiedTarget[],
  explain?: (report: VerifyReport) => readonly ExplainedClaim[],
): VerificationData {
  const reports = verified.map(({ report }) => report);
  const warnings = verified.flatMap(warningsOf);
  const ranges = rangesOf(verified);
  const skipped = verified.flatMap((one) =>
    (one.skipped ?? []).map(({ target, code, found }) => ({ target, code, found })),
  );
  return {
    verified: reports.length > 0 && reports.every((report) => report.verified),
    checks: verified.flatMap(({ target, report }) =>
      report.checks.map((check) => (verified.length > 1 ? { ...check, target } : { ...check })),
    ),
    expected: reports.reduce((sum, report) => sum + report.expected, 0),
    ran: reports.reduce((sum, report) => sum + report.ran, 0),
    targets: verified.map(({ target, kind, runId, commit, report }) => ({
      target,
      kind,
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(commit === undefined ? {} : { commit_sha: commit }),
      ...listedIn(report),
      verified: report.verified,
    })),
    ...(ranges.length === 0 ? {} : { ranges }),
    ...(skipped.length === 0 ? {} : { skipped }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(explain
      ? { explain: verified.map(({ target, report }) => ({ target, claims: explain(report) })) }
      : {}),
  };
}

/** The verdict on each range: how many commits it holds, and how many of them are verified. */
export function rangesOf(verified: readonly VerifiedTarget[]): readonly RangeVerdict[] {
  const names = new Set(verified.flatMap(({ range }) => range ?? []));
  return [...names].map((range) => {
    const commits = verified.filter((one) => one.range === range);
    const held = commits.filter(({ report }) => report.verified).length;
    return { range, commits: commits.length, verified_commits: held, verified: held === commits.length };
  });
}

/** The total of a range. */
interface RangeVerdict {
  readonly range: string;
  readonly commits: number;
  readonly verified_commits: number;
  readonly verified: boolean;
}

/** Plugins of others and calls of models, where a signer who is believed lists any. */
function listedIn({
  grounds: { plugins = [], models = [] },
}: VerifyReport): Pick<VerificationData['targets'][number], 'plugins' | 'models'> {
  return {
    ...(plugins.length === 0 ? {} : { plugins: plugins.map((plugin) => ({ ...plugin })) }),
    ...(models.length === 0 ? {} : { models: models.map((work) => ({ ...work })) }),
  };
}

/** Returns why verification failed, for the worst target; `undefined` if all targets are verified. */
export function verificationRefusal(verified: readonly VerifiedTarget[]): WritError | undefined {
  const reports = verified.map(({ report }) => report);
  const codes = reports.map(verifyExitCode);
  if (reports.length > 0 && codes.every((code) => code === 0) && reports.every((report) => report.verified))
    return undefined;
  const failing = findFailing(reports.flatMap((report) => report.checks));
  const code = codes.includes(1) ? (ownCodes[failing?.code ?? ''] ?? 'VERIFY_REFUTED') : 'VERIFY_NOTHING';
  const message = failing ? describe(failing) : 'nothing was verified';
  return new WritError(code, {
    message,
    detail: { ...(failing ? { check: failing.id, code: failing.code, ...failing.detail } : {}) },
    hints: [...hintsFor(failing), ...selectionHint(verified)],
  });
}

/** Refutations that a person has to do something about beside not believing it. */
const ownCodes: Readonly<Record<string, 'REPLACED' | 'LOG_FORKED'>> = {
  replaced: 'REPLACED',
  forked: 'LOG_FORKED',
};

/** Returns the most serious check: a refutation, else missing evidence. Checks that were not requested do not count. */
function findFailing(checks: readonly VerifyCheck[]): VerifyCheck | undefined {
  const waivedCodes: readonly unknown[] = ['not-required', 'not-comparable', 'per-repository'];
  // A predicate of a type that the user asked for counts for nothing; another one names the types that are known.
  const isWaived = ({ code, detail }: VerifyCheck): boolean =>
    waivedCodes.includes(code) || (code === 'not-judged' && detail?.expected === undefined);
  const open = checks.filter(({ status }) => status !== 'passed' && status !== 'expired');
  return (
    open.find(({ status }) => status === 'failed') ??
    open.find((check) => !isWaived(check)) ??
    // Required by `--require`, or part of exported evidence.
    open.find(({ code }) => code !== 'not-required')
  );
}

/** Of several attestations of which some hold, `--type` selects. */
function selectionHint(verified: readonly VerifiedTarget[]): readonly string[] {
  const attestations = verified.filter(({ kind }) => kind === 'attestation');
  const held = attestations.filter(({ report }) => report.verified).length;
  return held === 0 || held === attestations.length
    ? []
    : [
        `${held} of ${attestations.length} attestations hold; \`--type URI\` verifies those of one type alone`,
      ];
}

function hintsFor(failing: VerifyCheck | undefined): readonly string[] {
  const { id, status, code, detail } = failing ?? {};
  if (id === 'subject-patchset' && status === 'missing')
    return [
      'the patch is content of the run, and not here: `writ fetch` brings it from where the run was pushed',
    ];
  if (id === 'approvals-carried' && status === 'missing')
    return [
      'fetch the objects of both candidates: `git fetch --refetch --no-filter` in a partial clone, `git fetch --unshallow` in a shallow one, `writ fetch` for the run',
    ];
  if (code === 'untrusted-signer' && typeof detail?.key_id === 'string')
    return [
      `if you trust this signer, get the key from them and give it: \`--key FILE\`${
        detail.key_id === '' ? '. The signature names no key' : ` (key id ${detail.key_id})`
      }`,
    ];
  if (id === 'source-repository' && code === 'mismatch' && detail?.member === undefined)
    return isSameRepository(String(detail?.expected), String(detail?.found))
      ? [
          `the certificate spells the repository another way; give exactly that: \`--source-repository ${String(detail?.found)}\``,
        ]
      : [];
  if (code === 'untrusted-signer' && typeof detail?.identity === 'string')
    return [
      `if you trust this signer: \`--trusted-root FILE --identity ${detail.identity} --issuer ${String(detail.issuer)}\``,
    ];
  if (detail?.rewritten_from !== undefined)
    return [
      'if another clone sealed this run as well, bring its record: `writ fetch`, then verify again',
      `otherwise the sealed commit was rewritten (rebased, amended or cherry-picked): the record names ${String(detail.rewritten_from)}`,
      `if it was not pushed and is the last commit, seal it again by the spec of its run: \`writ seal --commit --by ${String(detail.run_id)}\``,
      'if it was not pushed and other commits stand on it: keep the branch (`git branch kept`), go back to its remote (`git reset --keep @{upstream}`; without one, to the commit before this one), and bring the commits of `kept` one by one (`git cherry-pick`), with `writ seal --commit --by RUN` after each sealed one, where RUN is its `Run-Id`',
      `if it was pushed, undo it with a commit (\`git revert ${String(detail.found)}\`), then run the spec again with the same change`,
    ];
  if (id?.startsWith('artifact:') && code === 'wrong-subject')
    return [
      detail?.archive === undefined
        ? 'an artifact of a run is one of its files, its patch, or what `git archive` makes of its commit'
        : `it is an archive, and not what \`git archive\` makes of the commit: ${String(detail.archive)}`,
    ];
  if (id?.startsWith('artifact:') && code === 'unsupported')
    return ['give the archive as tar or tar.gz: `git archive --format=tar.gz -o release.tar.gz COMMIT`'];
  if (code === 'wrong-type' && detail?.member === 'predicateType')
    return [`if that is the type you want, ask for it: \`--type ${String(detail.found)}\``];
  if (code === 'not-judged')
    return [`to read what it says yourself, ask for the type: \`--type ${String(detail?.found)}\``];
  if (code === 'not-comparable')
    return [
      'export the evidence again where the ledger is (`writ report RUN --bundle FILE`), or verify there',
    ];
  if (code === 'per-repository') return ['give your own list of who may approve: `--allowed-signers FILE`'];
  if (code === 'untrusted-log')
    return ['if you trust this log, get its key from who keeps it and give it: `--ledger-key KEY`'];
  return [];
}

/** Formats one sentence. A code that equals the status is not repeated. */
function describe({ id, status, code, detail }: VerifyCheck): string {
  const reason = typeof detail?.reason === 'string' ? detail.reason : undefined;
  const found =
    reason === undefined && detail?.found !== undefined
      ? `found ${[detail.found].flat().join(', ')}`
      : undefined;
  const path = typeof detail?.path === 'string' ? detail.path : undefined;
  const facts = [code === status ? undefined : code, path, reason, found].filter(
    (fact) => fact !== undefined,
  );
  return [`\`${id}\` ${status}`, ...facts].join(': ').slice(0, 500);
}

/** A warning besides the verdict. A positive verdict may rest on less evidence than a reader expects. */
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
          message: `whether the log continues what you have seen of it is unknown${
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
          message: `this repository borrows objects from ${detail.borrowed.length === 1 ? 'another directory' : `${detail.borrowed.length} other directories`} (objects/info/alternates): their bytes are as sealed now, and the owner of that directory can change them`,
        },
      ];
    if (id === 'policy' && detail?.default_ref !== undefined)
      return [
        {
          target,
          code: 'POLICY_FOREIGN',
          message: `the spec chose whose policy evaluated this change: \`${detail.policy_ref ?? detail.policy_commit}\`, neither the target nor the default branch (\`${detail.default_ref}\`, as the signer knew it): \`--policy BRANCH\` demands one of yours`,
        },
      ];
    if (id === 'policy' && Array.isArray(detail?.beneath_by))
      return [
        {
          target,
          code: 'BASE_UNJUDGED',
          message: `the change is based on commits that the history of its policy does not hold (by ${detail.beneath_by.slice(0, 3).join(', ')}): only the change was evaluated, not the commits below it; \`--policy BRANCH\` demands a base of yours`,
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
