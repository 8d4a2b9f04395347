/* The secrets of a run, which are masked everywhere. */
import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { ClassWords, PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import { isOwnVariable } from '../../workspace/process/find-program.ts';

/** Secrets that the user keeps (`writ vault`, `--env-file`). */
export interface SecretSource {
  /** Those that a scope gives, by the names of their variables. */
  ofScope(scope: string): Promise<ReadonlyMap<string, string>>;
  /** Every value that is known: none of them may be written. */
  known(): Promise<readonly string[]>;
  /** A secret or variable by name, for writ itself and no check. */
  named?(name: string): Promise<string | undefined>;
}

/** The secrets of a run. They are never stored. */
export interface RunSecrets {
  /** Secrets for checks, by variable (`security.secrets`). Checks receive no other secret of the user. */
  readonly given: Readonly<Record<string, string>>;
  /** Values that must not appear in any text that is written, shown or sent. */
  readonly values: readonly string[];
}

/** Minimum length of a secret. Shorter values occur in unrelated words, so they cannot be masked. */
const leastLength = 8;

/**
 * Returns the secrets that a spec gives its checks: those of its scopes; none under `deny-all`. Throws SECRET_UNKNOWN
 * for a scope without a secret, a secret with the name of a Scheduler variable, and one too short to mask.
 */
export async function openSecrets(
  { security: { secrets } }: Pick<EffectiveIntentSpec, 'security'>,
  source: SecretSource | undefined,
): Promise<RunSecrets> {
  if (secrets.policy === 'deny-all') return { given: {}, values: [] };
  const given = new Map<string, string>();
  for (const scope of secrets.allowedScopes) {
    const found = (await source?.ofScope(scope)) ?? new Map<string, string>();
    if (found.size === 0)
      throw unknown(scope, `no secret has the scope \`${scope}\``, [
        `set one: \`writ vault set NAME --scope ${scope}\``,
      ]);
    for (const [name, value] of found) {
      if (isOwnVariable(name)) throw unknown(scope, `\`${name}\` is a variable of the Scheduler, no secret`);
      if (value.length < leastLength)
        throw unknown(scope, `\`${name}\` has fewer than ${leastLength} characters and could not be masked`);
      given.set(name, value);
    }
  }
  const values = [...given.values(), ...((await source?.known()) ?? [])];
  return { given: Object.fromEntries(given), values: [...new Set(values)] };
}

/** Adds the secrets given to third-party plugins, so that they are masked too. */
export function withHanded({ given, values }: RunSecrets, handed: readonly string[]): RunSecrets {
  return { given, values: [...new Set([...values, ...handed])] };
}

/** The policy of a run that knows these values: they are secrets, whatever it allows; coded ones are looked into. */
export function withValues(policy: PrivacyPolicy, values: readonly string[]): PrivacyPolicy {
  const long = values.filter(({ length }) => length >= leastLength);
  if (long.length === 0) return policy;
  const secrets = [...new Set([...(policy.words.secrets ?? []), ...long])];
  const words: ClassWords = { ...policy.words, secrets };
  return { ...policy, words, remove: [...new Set([...policy.remove, 'secrets' as const])] };
}

function unknown(scope: string, message: string, hints?: readonly string[]): WritError {
  return new WritError('SECRET_UNKNOWN', { message, detail: { scope }, ...(hints ? { hints } : {}) });
}
