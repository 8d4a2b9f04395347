import type { EffectiveIntentSpec } from '../../core/spec/intentspec.gen.ts';

/** Formats that the contract names as conventional (document 1, Artifacts); any other text is only a label. */
const conventional: ReadonlySet<string> = new Set([
  'git-diff',
  'junit+xml',
  'sarif',
  'spdx-json',
  'cyclonedx-json',
  'in-toto+json',
  'rekor-style inclusion-proof',
  'markdown',
  'text',
]);

/** True where the contract asks for the artifact in a conventional format that is none of `made`: then nothing must be made. */
export function demandsOtherFormat(
  spec: EffectiveIntentSpec,
  name: string,
  made: readonly string[],
): boolean {
  return spec.artifacts.required.some(
    (artifact) =>
      artifact.name === name && conventional.has(artifact.format) && !made.includes(artifact.format),
  );
}
