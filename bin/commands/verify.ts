import { loadAnchors } from '../../attest/verify/load-anchors.ts';
import { type VerifyCheck, type VerifyReport, verifyExitCode } from '../../attest/verify/report.ts';
import { WritError } from '../../core/base/errors.ts';
import type { KeptReaders } from '../../engine/vcs/object-reader.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command.ts';
import { styled } from '../print.ts';
import { printVerification, type VerifiedTarget } from '../report/verification.ts';
import { isPath } from '../verify/is-path.ts';
import { noDemands, readDemands, type VerifyDemands } from '../verify/options.ts';
import type { Meaning } from '../verify/target-meanings.ts';
import { verifyFile } from '../verify/verify-file.ts';
import { warningsOf } from '../verify/warnings.ts';

/** `writ verify TARGET…`: offline. Exit 0 all verified · 1 a claim is refuted · 3 nothing to verify, or nobody to verify by. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const demands = await readDemands(context);
  const verified = await verifyTargets(context, context.args, demands);
  for (const { target, message } of verified.flatMap(warningsOf))
    context.print.note(styled('yellow', 'warning'), `: ${target}: ${message}`);
  if (!context.options.flag('explain')) return toResult(verified);
  const [{ explain }, { printExplanation }] = await Promise.all([
    import('../../attest/verify/explain.ts'),
    import('../report/explanation.ts'),
  ]);
  return toResult(verified, { explain, print: printExplanation });
}

/** Verifies each target by the user's own anchors and those given. A repository is opened where one is asked about. */
export async function verifyTargets(
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'> &
    Partial<Pick<CommandContext, 'stdin' | 'signal'>>,
  targets: readonly string[],
  demands: VerifyDemands = noDemands,
): Promise<readonly VerifiedTarget[]> {
  const anchors = await loadAnchors(demands.given, context.env);
  let opened: Promise<Repository> | undefined;
  let readers: KeptReaders | undefined;
  const open = (): Promise<Repository> => {
    // A file needs no repository, and starting is most of what verifying one costs.
    opened ??= Promise.all([
      import('../../engine/vcs/repository.ts'),
      import('../../engine/vcs/object-reader.ts'),
    ]).then(async ([{ openRepository }, { keepObjectReaders }]) => {
      readers = keepObjectReaders();
      return readers.keep(await openRepository(context.repoPath ?? context.cwd, { bare: true }));
    });
    return opened;
  };
  const { stdin = process.stdin, signal = new AbortController().signal } = context;
  const files = { cwd: context.cwd, env: context.env, stdin, signal };
  const findSubject = async (ids: readonly string[]): Promise<string | undefined> =>
    (await import('../verify/find-commit.ts')).findCommit(open, ids);
  const verified: VerifiedTarget[] = [];
  try {
    for (const target of targets) {
      const meaning = await understand(context.cwd, target, demands.form, open);
      if (meaning.kind === 'file')
        verified.push(...(await verifyFile(files, anchors, demands, findSubject, open, target)));
      else {
        const { verifyTarget } = await import('../verify/verify-target.ts');
        verified.push(await verifyTarget(context, await open(), anchors, demands, target, meaning));
      }
    }
  } finally {
    await readers?.[Symbol.asyncDispose]();
  }
  return verified;
}

/** What is spelled as a path needs no repository to be understood. */
async function understand(
  cwd: string,
  target: string,
  form: VerifyDemands['form'],
  open: () => Promise<Repository>,
): Promise<Meaning> {
  if (form === 'file' || (form === undefined && isPath(target))) return { kind: 'file' };
  const { meaningOf } = await import('../verify/target-meanings.ts');
  return meaningOf(cwd, target, form, open);
}

/** What `--explain` adds, loaded where it is asked for. */
interface Explanation {
  readonly explain: (report: VerifyReport) => readonly unknown[];
  readonly print: (printer: CommandContext['print'], verified: VerifiedTarget) => void;
}

/** What was found, as the command's result; the worst target decides the exit code. */
export function toResult(verified: readonly VerifiedTarget[], explanation?: Explanation): CommandResult {
  const reports = verified.map(({ report }) => report);
  const warnings = verified.flatMap(warningsOf);
  const data = {
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
      verified: report.verified,
    })),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(explanation
      ? {
          explain: verified.map(({ target, report }) => ({ target, claims: explanation.explain(report) })),
        }
      : {}),
  };
  const human = (printer: CommandContext['print']): void => {
    for (const one of verified) {
      if (explanation) explanation.print(printer, one);
      else printVerification(printer, one);
    }
  };
  const codes = reports.map(verifyExitCode);
  if (codes.every((code) => code === 0) && data.verified) return succeeded(data, human);
  const failing = findFailing(reports.flatMap((report) => report.checks));
  const code = codes.includes(1) ? (ownCodes[failing?.code ?? ''] ?? 'VERIFY_REFUTED') : 'VERIFY_NOTHING';
  const message = failing ? describe(failing) : 'nothing was verified';
  return refused(
    new WritError(code, {
      message,
      detail: { ...(failing ? { check: failing.id, code: failing.code, ...failing.detail } : {}) },
      hints: hintsFor(failing),
    }),
    data,
    human,
  );
}

/** Refutations that a person has to do something about beside not believing it. */
const ownCodes: Readonly<Record<string, 'REPLACED' | 'LOG_FORKED'>> = {
  replaced: 'REPLACED',
  forked: 'LOG_FORKED',
};

/** What speaks against the most: a refutation, else what is missing; what nobody asked for says nothing. */
function findFailing(checks: readonly VerifyCheck[]): VerifyCheck | undefined {
  const waived: readonly unknown[] = ['not-required', 'not-comparable', 'per-repository'];
  const open = checks.filter(({ status }) => status !== 'passed' && status !== 'expired');
  return (
    open.find(({ status }) => status === 'failed') ??
    open.find(({ code }) => !waived.includes(code)) ??
    // Asked for by `--require`, or of exported evidence.
    open.find(({ code }) => code !== 'not-required')
  );
}

function hintsFor(failing: VerifyCheck | undefined): readonly string[] {
  const { code, detail } = failing ?? {};
  if (code === 'untrusted-signer' && typeof detail?.key_id === 'string')
    return [
      `if you trust this signer, get the key from them and give it: \`--key FILE\` (key id ${detail.key_id})`,
    ];
  if (code === 'untrusted-signer' && typeof detail?.identity === 'string')
    return [
      `if you trust this signer: \`--trusted-root FILE --identity ${detail.identity} --issuer ${String(detail.issuer)}\``,
    ];
  if (code === 'wrong-type' && detail?.member === 'predicateType')
    return [`if that is the type you want, ask for it: \`--type ${String(detail.found)}\``];
  if (code === 'not-judged')
    return [`to read what it says yourself, ask for the type: \`--type ${String(detail?.found)}\``];
  if (code === 'not-comparable')
    return [
      'export the evidence anew where the ledger is (`writ report RUN --bundle FILE`), or verify there',
    ];
  if (code === 'per-repository') return ['give your own list of who may approve: `--allowed-signers FILE`'];
  if (code === 'untrusted-log')
    return ['if you trust this log, get its key from who keeps it and give it: `--ledger-key KEY`'];
  return [];
}

/** One sentence; a status and a code of the same word are said once. */
function describe({ id, status, code, detail }: VerifyCheck): string {
  const reason = typeof detail?.reason === 'string' ? detail.reason : undefined;
  const found =
    reason === undefined && detail?.found !== undefined
      ? `found ${[detail.found].flat().join(', ')}`
      : undefined;
  const facts = [code === status ? undefined : code, reason, found].filter((fact) => fact !== undefined);
  return [`\`${id}\` ${status}`, ...facts].join(': ').slice(0, 500);
}
