import { WritError } from '../core/base/errors.ts';
import type { LifecycleStatus } from '../core/interfaces/intentspec.gen.ts';

/** Allowed transitions of each status. `deprecated` and `closed` are final. */
export const lifecycleMoves: Readonly<Record<LifecycleStatus, readonly LifecycleStatus[]>> = {
  draft: ['active', 'closed'],
  active: ['deprecated', 'closed'],
  deprecated: [],
  closed: [],
};

/** Refuses an illegal move with `LIFECYCLE_ILLEGAL_TRANSITION` and `detail {from, to}`. */
export function assertLifecycleMove(from: LifecycleStatus, to: LifecycleStatus): void {
  if (lifecycleMoves[from].includes(to)) return;
  const allowed = lifecycleMoves[from].map((status) => `\`${status}\``).join(' or ') || 'nothing';
  throw new WritError('LIFECYCLE_ILLEGAL_TRANSITION', {
    message: `expected \`${from}\` to go to ${allowed}, found \`${to}\``,
    detail: { from, to },
  });
}

/** True for the versions that this engine plans and runs: `v1alpha1` of any domain. Form is the schema's business. */
export function supportedApiVersion(apiVersion: string): boolean {
  return apiVersion.endsWith('/v1alpha1');
}

/** INTENTSPEC_UNSUPPORTED_VERSION for any other. */
export function requireSupportedVersion(apiVersion: string): void {
  if (supportedApiVersion(apiVersion)) return;
  throw new WritError('INTENTSPEC_UNSUPPORTED_VERSION', {
    message: `expected an \`apiVersion\` that ends in \`/v1alpha1\`, found \`${apiVersion}\``,
    detail: { expected: 'v1alpha1', found: apiVersion },
  });
}
