import { WritError } from '../../core/base/errors.ts';

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
