/** True for the versions that this engine plans and runs: `v1alpha1` of any domain. Form is the schema's business. */
export function supportedApiVersion(apiVersion: string): boolean {
  return apiVersion.endsWith('/v1alpha1');
}
