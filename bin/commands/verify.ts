/* The `writ verify` command and its options. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { userSecrets } from '../../api/vault/user-secrets.ts';
import { noDemands, type Requirement, requirements } from '../../api/verify/demands.ts';
import type { TargetForm } from '../../api/verify/target-meanings.ts';
import { toVerificationData, verificationRefusal, warningsOf } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { type RequestedDemands, type VerifyContext, verifyTargets } from '../../api/verify/verify-targets.ts';
import { type GivenAnchors, keptRootPath } from '../../attest/verify/anchors.ts';
import type { SourceDemands } from '../../attest/verify/certified-source.ts';
import type { ExplainedClaim } from '../../attest/verify/explain.ts';
import type { GivenArtifact } from '../../attest/verify/given-artifact.ts';
import { isMistakenLevel, type SummaryDemands } from '../../attest/verify/predicates/summary.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { createStores } from '../../plugins/store/built-in-stores.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import {
  printExplanation,
  printRanges,
  printSkipped,
  printVerdict,
  printVerification,
} from '../report/scan.ts';
import { styled } from '../terminal/print.ts';

/**
 * `writ verify TARGET…`: verifies offline. Exit 0 all verified · 1 a claim is refuted · 3 nothing to verify, or no
 * trusted signer.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const demands = await readDemands(context);
  const verified = await verifyTargets(toAsker(context), context.args, demands);
  for (const { target, message } of verified.flatMap(warningsOf))
    context.print.note(styled('yellow', 'warning'), `: ${target}: ${message}`);
  if (!context.options.flag('explain')) return toResult(verified);
  const { explain } = await import('../../attest/verify/explain.ts');
  return toResult(verified, explain);
}

/**
 * Uses the stores of this module. The package bundles this command separately, and a kept git object reader is
 * visible only within one bundle.
 */
function toAsker(context: CommandContext): VerifyContext {
  const { cwd, env, signal, repoPath } = context;
  return {
    cwd,
    env,
    signal,
    stores: createStores(userSecrets(env)),
    ...(repoPath === undefined ? {} : { repoPath }),
    get stdin() {
      return context.stdin;
    },
  };
}

type Explain = (report: VerifyReport) => readonly ExplainedClaim[];

/** What was found, as the command's result; the worst target decides the exit code. */
function toResult(verified: readonly VerifiedTarget[], explain?: Explain): CommandResult {
  const data = toVerificationData(verified, explain);
  const human = (printer: CommandContext['print']): void => {
    for (const one of verified) {
      if (explain) printExplanation(printer, one, explain(one.report));
      else if (one.range !== undefined && one.report.verified) printVerdict(printer, one);
      else printVerification(printer, one);
    }
    printRanges(printer, verified);
    printSkipped(printer, verified);
  };
  const refusal = verificationRefusal(verified);
  return refusal ? refused(refusal, data, human) : succeeded(data, human);
}

const maxSignersBytes = 4 * 1024 * 1024;

/**
 * Reads the options that `writ verify` and `writ report` share (`trustOptions`, `demandOptions`). USAGE for an
 * incomplete combination of options; INPUT_UNREADABLE for unreadable files.
 */
export async function readTrust(context: CommandContext): Promise<RequestedDemands> {
  const { options, cwd } = context;
  const identity = readIdentity(context);
  const root = options.value('trusted-root');
  const signers = options.value('allowed-signers');
  const policy = options.value('policy');
  const ledgerKeys = options.values('ledger-key');
  const required = readRequirements(context);
  const source = readSourceDemands(context);
  return {
    ...noDemands,
    given: {
      keyFiles: options.values('key').map((path) => resolve(cwd, path)),
      ledgerKeys: ledgerKeys.map((one) => (one.includes('+') ? one : resolve(cwd, one))),
      ...(root === undefined ? {} : { trustedRoot: resolve(cwd, root) }),
      ...(identity && { identity }),
    },
    ...(signers === undefined ? {} : { allowedSigners: await readSigners(context, signers) }),
    replay: required.includes('replay'),
    required,
    ...(source && { source }),
    ...(policy === undefined ? {} : { policy }),
  };
}

/** Reads the options of `writ verify`. Throws as {@link readTrust} does. */
async function readDemands(context: CommandContext): Promise<RequestedDemands> {
  const { options } = context;
  const spec = options.value('spec');
  const subjectCommit = options.value('subject-commit');
  const form = readForm(context);
  const trust = await readTrust(context);
  return {
    ...trust,
    ...(form && { form }),
    ...(spec === undefined ? {} : { specDigest: await readSpecDigest(context, spec) }),
    artifacts: await readArtifacts(context),
    types: options.values('type'),
    replay: options.flag('replay') || trust.replay,
    summary: readSummaryDemands(context),
    ...(subjectCommit === undefined ? {} : { subjectCommit }),
  };
}

function readRequirements({ options }: CommandContext): readonly Requirement[] {
  const words = options.values('require').flatMap((value) => value.split(','));
  return [...new Set(words)].map((word) => {
    const known = requirements.find((one) => one === word);
    if (known) return known;
    throw usage(
      `\`--require\` expected some of ${requirements.map((one) => `\`${one}\``).join(', ')}, found \`${printable(word)}\``,
    );
  });
}

function readSourceDemands(context: CommandContext): SourceDemands | undefined {
  const repository = readWord(context, 'source-repository', 'a URI');
  const ref = readWord(context, 'source-ref', 'a full ref such as `refs/heads/main`');
  if (repository === undefined && ref === undefined) return undefined;
  return { ...(repository !== undefined && { repository }), ...(ref !== undefined && { ref }) };
}

function readWord({ options }: CommandContext, name: string, form: string): string | undefined {
  const value = options.value(name);
  if (value === undefined || /^[!-~]{1,2048}$/.test(value)) return value;
  throw usage(`\`--${name}\` expected ${form}, found \`${printable(value)}\``);
}

function readSummaryDemands(context: CommandContext): SummaryDemands {
  const { options } = context;
  const [verifierId, resourceUri] = ['verifier-id', 'resource-uri'].map((name) =>
    readWord(context, name, 'a URI'),
  );
  const levels = [...new Set(options.values('level'))];
  const unknown = levels.find(
    (level) => !/^[!-~]{1,256}$/.test(level) || level === 'FAILED' || isMistakenLevel(level),
  );
  if (unknown !== undefined)
    throw usage(
      `\`--level\` expected a level such as \`SLSA_BUILD_LEVEL_2\`, found \`${printable(unknown)}\``,
    );
  return { ...(verifierId && { verifierId }), ...(resourceUri && { resourceUri }), levels };
}

async function readArtifacts(context: CommandContext): Promise<readonly GivenArtifact[]> {
  const names = context.options.values('artifact');
  if (names.length === 0) return [];
  const { readArtifact } = await import('../../api/verify/artifact.ts');
  return Promise.all(names.map((name) => readArtifact(context, name)));
}

function readIdentity({ options, env }: CommandContext): GivenAnchors['identity'] {
  const identity = options.value('identity');
  const issuer = options.value('issuer');
  if (identity === undefined && issuer === undefined) return undefined;
  if (identity === undefined || issuer === undefined)
    throw usage(
      '`--identity` and `--issuer` are given together: a name means something only by who vouches for it',
    );
  if (options.value('trusted-root') === undefined && !existsSync(keptRootPath(env)))
    throw usage('`--identity` needs `--trusted-root FILE`: whose certificates are believed');
  return { identity, issuer };
}

function readForm({ options }: CommandContext): TargetForm | undefined {
  const [form, ...more] = (['commit', 'run', 'file'] as const).filter((name) => options.flag(name));
  if (more.length === 0) return form;
  throw usage('`--commit`, `--run` and `--file` exclude each other: they say what every target is');
}

async function readSpecDigest(context: CommandContext, path: string): Promise<string> {
  const [{ isShortSpec, readSpecBytes }, { canonicalDigest }, { parseStrictJson }] = await Promise.all([
    import('../../api/intent/read-spec.ts'),
    import('../../core/base/canonical.ts'),
    import('../../core/base/strict-json.ts'),
  ]);
  try {
    const bytes = await readSpecBytes(context, path);
    if (!isShortSpec(bytes)) return canonicalDigest(parseStrictJson(bytes).value);
  } catch (fault) {
    // An unreadable option file is not a verdict on the target.
    if (!isWritError(fault, 'INTENTSPEC_MALFORMED')) throw fault;
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${printable(path)}\` is not a spec: ${fault.message}`,
      detail: { path, option: '--spec' },
      cause: fault,
    });
  }
  throw new WritError('INPUT_UNREADABLE', {
    message: `\`${printable(path)}\` is a short spec, but a seal covers the full spec that writ made from it`,
    detail: { path, option: '--spec' },
    hints: ['pass the full spec: `git show refs/ai/runs/RUN:spec.json` prints it'],
  });
}

async function readSigners(context: CommandContext, path: string): Promise<Buffer> {
  const bytes = await readInput(context, path, { maxBytes: maxSignersBytes });
  const { requireSigners } = await import('../../api/verify/demands.ts');
  requireSigners(bytes, path, '--allowed-signers');
  return bytes;
}

function usage(message: string): WritError {
  return new WritError('USAGE', {
    message,
    detail: { command: 'verify' },
    hints: ['`writ verify --help` shows the options'],
  });
}
