import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

/** The version of the schema that stands beside this file. */
const known = [1, 0, 0] as const;

/** A document of a newer schema may say what this engine does not know; unknown properties are refused anyway. */
export function schemaVersion(spec: Partly<IntentSpec>): readonly Issue[] {
  const text = spec.lifecycle?.schemaVersion;
  const version = text
    ?.match(/^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/)
    ?.slice(1)
    .map(Number);
  if (!version) return [];
  const differing = version.findIndex((part, at) => part !== known[at]);
  if (differing === -1 || (version[differing] ?? 0) < (known[differing] ?? 0)) return [];
  return [
    warning(
      'SEMANTIC_SCHEMA_VERSION',
      '/lifecycle/schemaVersion',
      `expected at most \`${known.join('.')}\`, found \`${text}\`; it is read as \`${known.join('.')}\``,
    ),
  ];
}
