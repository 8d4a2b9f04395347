/* Parses a spec and checks that writ supports it. */
import { WritError } from '../../core/base/errors.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec, IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { requireSupportedVersion } from '../../spec/checks-of.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { withoutOwnSecrets } from '../../spec/own-secrets.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { commandProblems } from '../../workspace/command-acl/acl.ts';

/** A spec that writ may work on: valid, supported, active, and with an enforcing plugin for each requirement. */
export interface AdmittedContract {
  /** As the author gave it, to the byte. */
  readonly bytes: Uint8Array;
  readonly document: IntentSpec;
  readonly effective: EffectiveIntentSpec;
  readonly digest: string;
  readonly warnings: readonly Issue[];
  /** Ids of the checks in `effective` that the policy commit demands of every change; none before it is known. */
  readonly mandatory: readonly string[];
}

/**
 * Parses bytes into a spec. Throws INTENTSPEC_MALFORMED, INTENTSPEC_INVALID with every issue, or
 * INTENTSPEC_UNSUPPORTED_VERSION.
 */
export async function readContract(engine: WritEngine, bytes: Uint8Array): Promise<AdmittedContract> {
  const names = [...engine.rules.ids, ...engine.slots.policy.names];
  const plain = readIntentSpec(bytes, { commandProblems: (spec) => commandProblems(spec, names) });
  const read = await withoutOwnSecrets(bytes, plain);
  if (!read.ok) throw read.malformed ?? invalid(read.issues);
  const added = await engine.hooks.spec.check.call({ spec: read.effective });
  const issues = [...read.issues, ...added];
  if (added.some((issue) => issue.severity === 'error')) throw invalid(issues);
  requireSupportedVersion(read.document.apiVersion);
  const { document, effective, digest } = read;
  return { bytes, document, effective, digest, warnings: issues, mandatory: [] };
}

function invalid(issues: readonly Issue[]): WritError {
  const errors = issues.filter((issue) => issue.severity === 'error');
  const first = errors[0];
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new WritError('INTENTSPEC_INVALID', {
    message: `\`${first?.path ?? ''}\`: ${first?.message ?? 'invalid'}${rest}`,
    detail: { issues },
    hints: ['`writ spec validate FILE` lists every fault'],
  });
}
