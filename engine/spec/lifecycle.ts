import { WritError } from '../../core/base/errors.ts';
import type { IntentSpec, LifecycleStatus } from '../../core/contract/intentspec.gen.ts';
import { supportedApiVersion } from './api-version.ts';

/** Where each status may go (resolutions A, Lifecycle); nothing leaves deprecated or closed. */
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

/** Refuses to plan or run what this engine does not support or what is not active; `status` is the current one. */
export function assertRunnable(spec: Pick<IntentSpec, 'apiVersion'>, status: LifecycleStatus): void {
  if (!supportedApiVersion(spec.apiVersion)) {
    throw new WritError('INTENTSPEC_UNSUPPORTED_VERSION', {
      message: `expected an \`apiVersion\` that ends in \`/v1alpha1\`, found \`${spec.apiVersion}\``,
      detail: { apiVersion: spec.apiVersion, supported: ['v1alpha1'] },
    });
  }
  if (status !== 'active') {
    throw new WritError('LIFECYCLE_NOT_ACTIVE', {
      message: `expected the status \`active\`, found \`${status}\``,
      detail: { status },
    });
  }
}
