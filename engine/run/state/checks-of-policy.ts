import { WritError } from '../../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { ScannerConfig, WritConfig } from '../../config/config.ts';
import type { ConfiguredCheck } from '../../config/configured-check.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { withChecks } from './with-checks.ts';

type Mandatory = Pick<WritConfig, 'checks' | 'policies' | 'scanners'>;

/** A contract with what the policy commit demands of every change, and the ids of the checks that this added. */
export interface WithPolicyChecks {
  readonly spec: EffectiveIntentSpec;
  readonly ids: readonly string[];
}

/**
 * Adds `[[checks.always]]`, a check for each `[scanner.NAME]`, and one for each `[policy.<name>]` that no required
 * check of the contract asks as `ENGINE NAME`. All of them are required. An id that another check has is
 * CONFIG_INVALID. Of artifacts that they claim, those count that the contract declares. Pure.
 */
export function withPolicyChecks(spec: EffectiveIntentSpec, config: Mandatory): WithPolicyChecks {
  const declared: ReadonlySet<string> = new Set(spec.artifacts.required.map(({ name }) => name));
  const added = [
    ...config.checks.always.map(({ stage, check }) => ({
      stage,
      check: { ...check, artifactsProduced: check.artifactsProduced.filter((name) => declared.has(name)) },
    })),
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
    if (asked.has(command)) return [];
    const check = {
      id: `policy-${name}`,
      kind: 'policy',
      command,
      timeoutSeconds: 900,
      expectedExitCode: 0,
      required: true,
      artifactsProduced: [],
    } as const;
    return [{ stage, check }];
  });
}

/** The id of the check that runs a scanner. */
export function scannerCheckId(name: string): string {
  return `scanner-${name}`;
}

function scannerCheck({ name, argv, stage, timeoutSeconds }: ScannerConfig): ConfiguredCheck {
  const check = {
    id: scannerCheckId(name),
    kind: 'command',
    command: argv.map(quotedArgument).join(' '),
    timeoutSeconds,
    expectedExitCode: 0,
    required: true,
    artifactsProduced: [],
  } as const;
  return { stage, check };
}

/** One argument for a POSIX shell; only `$REPORTS_DIR` in it means something. */
function quotedArgument(argument: string): string {
  return argument
    .split('$REPORTS_DIR')
    .map((part) => (/^[\w@%+=:,./-]*$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`))
    .join('"$REPORTS_DIR"');
}

function collision(id: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `the check \`${id}\`, which \`.writ/config.toml\` demands of every change, has the id of another check`,
    detail: { check_id: id },
    hints: ['give the check in the spec, or the one in `.writ/config.toml`, an id of its own'],
  });
}
