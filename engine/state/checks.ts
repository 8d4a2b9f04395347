/* The checks that configuration and risk factors add to a spec. */
import { canonicalize } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { nearestName, quoted } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { CheckObservation, StageName } from '../../core/interfaces/stage.ts';
import { type CheckList, checksOf } from '../../spec/checks-of.ts';
import { isAttested } from '../../spec/facts.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';
import type { ConfiguredCheck } from '../config/checks-section.ts';
import type { ScannerConfig, WritConfig } from '../config/config.ts';

type Mandatory = Pick<WritConfig, 'checks' | 'commit' | 'policies' | 'scanners'>;

/** A spec with the checks that the policy commit requires for every change, and the ids of the added checks. */
interface WithPolicyChecks {
  readonly spec: EffectiveIntentSpec;
  readonly ids: readonly string[];
}

/**
 * Adds `[[checks.always]]`, a check per hook of `[commit]` and `[scanner.NAME]`, and one per `[policy.<name>]` that no
 * required check of the spec runs as `ENGINE NAME`. All are required. Throws CONFIG_INVALID for an id that another
 * check has. Of the artifacts they list, only those that the spec declares count. Pure.
 */
export function withPolicyChecks(spec: EffectiveIntentSpec, config: Mandatory): WithPolicyChecks {
  const declared: ReadonlySet<string> = new Set(spec.artifacts.required.map(({ name }) => name));
  const added = [
    ...config.checks.always.map(({ stage, check }) => ({
      stage,
      check: { ...check, artifactsProduced: check.artifactsProduced.filter((name) => declared.has(name)) },
    })),
    ...hookChecks(config.commit),
    ...[...config.scanners.values()].map(scannerCheck),
    ...unaskedPolicies(spec, config),
  ];
  const taken = new Set(checksOf(spec).map(({ check }) => check.id));
  for (const { check } of added) {
    if (taken.has(check.id)) throw collision(check.id);
    taken.add(check.id);
  }
  return {
    spec: added.length === 0 ? spec : withChecks(spec, added),
    ids: added.map(({ check }) => check.id),
  };
}

function unaskedPolicies(spec: EffectiveIntentSpec, { policies }: Mandatory): readonly ConfiguredCheck[] {
  const asked = new Set(
    checksOf(spec).flatMap(({ check }) =>
      check.kind === 'policy' && check.required ? [(check.command ?? '').trim().replace(/[ \t]+/g, ' ')] : [],
    ),
  );
  return [...policies].flatMap(([name, { engine, stage }]) => {
    const command = `${engine} ${name}`;
    return asked.has(command)
      ? []
      : [requiredCheck(stage, { id: `policy-${name}`, kind: 'policy', command })];
  });
}

/** A required check that the configuration adds to every change. */
function requiredCheck(
  stage: StageName,
  own: Pick<ConfiguredCheck['check'], 'id' | 'kind' | 'command'>,
  timeoutSeconds = 900,
): ConfiguredCheck {
  const check = { ...own, timeoutSeconds, expectedExitCode: 0, required: true, artifactsProduced: [] };
  return { stage, check };
}

/** The id of the check that runs a scanner. */
export function scannerCheckId(name: string): string {
  return `scanner-${name}`;
}

function scannerCheck({ name, argv, stage, timeoutSeconds }: ScannerConfig): ConfiguredCheck {
  const command = argv.map(quotedArgument).join(' ');
  return requiredCheck(stage, { id: scannerCheckId(name), kind: 'command', command }, timeoutSeconds);
}

/** Quotes one argument for a POSIX shell; only `$REPORTS_DIR` in it is expanded. */
function quotedArgument(argument: string): string {
  return argument.split('$REPORTS_DIR').map(shellWord).join('"$REPORTS_DIR"');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]*$/.test(text) ? text : inShellQuotes(text);
}

/** The id of the check that runs a hook. */
export function hookCheckId(name: string): string {
  return `hook-${name}`;
}

/** The variable with the message of the sealed commit. */
export const messageVariable = 'COMMIT_MESSAGE';

/** A check for each hook whose file is known. */
function hookChecks({ hooks }: WritConfig['commit']): readonly ConfiguredCheck[] {
  return hooks.flatMap(({ name, path, runBy }) => {
    if (path === undefined || runBy === undefined) return [];
    const start = `${runBy} ${shellWord(path)}`;
    const file = '"$TMPDIR/COMMIT_EDITMSG"';
    const command =
      name === 'commit-msg' ? `printf '%s' "$${messageVariable}" > ${file} && ${start} ${file}` : start;
    return [requiredCheck('fast', { id: hookCheckId(name), kind: 'command', command })];
  });
}

function collision(id: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `the check \`${id}\`, which \`.writ/config.toml\` requires for every change, has the same id as another check`,
    detail: { check_id: id },
    hints: ['change the id of one of the two checks'],
  });
}

type Factors = Pick<WritConfig, 'factors'>;

/**
 * Adds the checks that the configuration lists for the spec's risk factors, after the spec's checks in each stage.
 * The spec's `toolAcl` applies to them. A check shared by two factors is added once; an id with another meaning is
 * CONFIG_INVALID. Pure.
 */
export function withFactorChecks(spec: EffectiveIntentSpec, config: Factors): EffectiveIntentSpec {
  const own = new Set(checksOf(spec).map(({ check }) => check.id));
  const added = new Map<string, ConfiguredCheck>();
  for (const factor of new Set(spec.risk.factors)) {
    for (const entry of config.factors.get(factor) ?? []) {
      const { id } = entry.check;
      const before = added.get(id);
      if (own.has(id)) throw factorCollision(factor, id, 'the spec');
      if (before && canonicalize(before) !== canonicalize(entry))
        throw factorCollision(factor, id, 'another factor');
      added.set(id, entry);
    }
  }
  if (added.size === 0) return spec;
  return withChecks(spec, [...added.values()]);
}

/** Risk factors of the spec without a configuration entry: they add no checks, and plan and run report that. */
export function factorsWithoutChecks(spec: EffectiveIntentSpec, config: Factors): readonly string[] {
  return [...new Set(spec.risk.factors)].filter((factor) => !config.factors.has(factor));
}

export function factorWithoutChecks(factor: string): string {
  return `\`risk.factors\` names ${quoted(factor)}, for which \`.writ/config.toml\` at the policy commit adds no checks`;
}

function factorCollision(factor: string, id: string, other: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `the check \`${id}\` of the risk factor \`${factor}\` has the same id as another check, of ${other}`,
    detail: { factor, check_id: id },
    hints: ['change its id in `.writ/config.toml`, or remove the check from the spec'],
  });
}

/** Code of the warning. */
export const checkUnknownCode = 'CHECK_UNKNOWN';

const most = 8;

/**
 * Warns about `[checks.<id>]` tables with an id that no check of the run has: they have no effect, and a mistyped id
 * leaves its check unconfigured. Only a warning, because one configuration serves many specs. Text without the code.
 * Pure.
 */
export function checksWithoutUse(
  spec: EffectiveIntentSpec,
  { checks: { reports } }: Pick<WritConfig, 'checks'>,
): readonly string[] {
  const known = new Set(checksOf(spec).flatMap(({ check }) => check.id ?? []));
  const unused = [...reports.keys()].filter((id) => !known.has(id));
  const told = unused.slice(0, most).map((id) => {
    const near = nearestName(id, known);
    const meant = near === undefined ? '' : `; the nearest is \`${near}\``;
    return `\`[checks.${toKey(id)}]\` in \`.writ/config.toml\` at the policy commit expected a check of that id, found none in this run${meant}`;
  });
  return unused.length > most
    ? [...told, `and ${unused.length - most} more tables of checks that this run has not`]
    : told;
}

/** As TOML writes it. */
function toKey(id: string): string {
  return /^[\w-]+$/.test(id) ? id : JSON.stringify(id);
}

const listOf: Readonly<Record<StageName, CheckList>> = {
  fast: 'fastChecks',
  integration: 'integrationChecks',
  security: 'securityChecks',
  release: 'releaseChecks',
};

/** The spec with more checks, each after the existing checks of its stage. Pure. */
function withChecks(
  spec: EffectiveIntentSpec,
  added: readonly Pick<ConfiguredCheck, 'stage' | 'check'>[],
): EffectiveIntentSpec {
  const plan = { ...spec.acceptance.verificationPlan };
  for (const { stage, check } of added) plan[listOf[stage]] = [...plan[listOf[stage]], check];
  return { ...spec, acceptance: { ...spec.acceptance, verificationPlan: plan } };
}

/** Effects of a patch found by tracing the spec's checks at the policy commit. */
export interface ObservedChecks {
  /** Paths that the patch creates and that influence a check if they exist, each with its cause. */
  readonly filled: Readonly<Record<string, string>>;
  /** Of each check, what it looked for in vain below directories that `prepare` makes: at most 5,000 paths. */
  readonly unprepared: Readonly<Record<string, readonly string[]>>;
  /** Of each check that was traced, paths of the patch that it read. */
  readonly reads?: Readonly<Record<string, readonly string[]>>;
  /**
   * Verification inputs that `prepare` steps use, from traces of every step that the patch concerns. Absent without
   * these traces.
   */
  readonly prepared?: readonly string[];
  /** Why steps of `prepare` that the patch concerns were not observed, by their command. */
  readonly unseenSteps?: Readonly<Record<string, string>>;
  /** How each check was observed. */
  readonly checks: Readonly<Record<string, CheckObservation>>;
}

/** Code of the warning. */
export const logUnusedCode = 'LOG_UNUSED';

/**
 * Warns if the spec names a log but requires no provenance, so no entry would be logged. Text without the code. Pure.
 */
export function logWithoutUse(spec: EffectiveIntentSpec): readonly string[] {
  const { mode } = spec.provenance.transparencyLog;
  if (mode === 'none' || isAttested(spec)) return [];
  return [
    `\`provenance.transparencyLog.mode\` is \`${mode}\`, and nothing is logged: what is logged is the provenance, and \`requireSlsaProvenance\` is \`false\``,
  ];
}
