import type { EffectiveIntentSpec } from './intentspec.gen.ts';

/** A format as a contract declares it: `cyclonedx-json`, `cyclonedx-json; version=1.7`. */
export interface DeclaredFormat {
  /** Lower case; empty where the contract declares none. */
  readonly name: string;
  readonly version?: string;
}

/** Takes a declared format apart; what is no `name; version=…` is a name as a whole. */
export function parseFormat(format: string): DeclaredFormat {
  const text = format.trim().toLowerCase();
  const [, name = text, version] = /^([^;]*[^;\s])\s*;\s*version\s*=\s*"?([\w.]+)"?$/.exec(text) ?? [];
  return { name, ...(version === undefined ? {} : { version }) };
}

/** `artifacts.required[].format` of an artifact. */
export function declaredFormat(
  spec: Pick<EffectiveIntentSpec, 'artifacts'>,
  artifact: string,
): DeclaredFormat {
  return parseFormat(spec.artifacts.required.find(({ name }) => name === artifact)?.format ?? '');
}
