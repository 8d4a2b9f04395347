import { type RowReader, readersIn } from './row-reader.ts';

/** Top level. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/spec/api-version.ts', [
    ['apiVersion', "apiVersion.endsWith('/v1alpha1')", 'apiVersion.length > 0', 'v1alpha1 of any domain'],
  ]),
  ...readersIn('engine/spec/schema-violations.ts', [
    [
      'kind',
      "if (node.const !== undefined && node.const !== value) broken('const');",
      '',
      'every word of a choice is accepted and another is refused',
    ],
    [
      'document#unknown-properties',
      "if (additionalProperties === false) broken('additionalProperties', name);",
      'if (additionalProperties === false) continue;',
      'every object refuses an unknown property',
    ],
  ]),
  ...readersIn('engine/spec/rules/extension-keys.ts', [
    ['extensions', 'Object.keys(spec.extensions ?? {})', 'Object.keys({})', 'every invalid fixture'],
  ]),
  ...readersIn('core/base/strict-json.ts', [
    ['document#strict', 'options.maxDepth ?? 64', 'options.maxDepth ?? 6400', 'depth and size are bounded'],
  ]),
  ...readersIn('engine/spec/apply-defaults.ts', [
    [
      'document#defaults',
      'Object.hasOwn(author, key) ? author[key] : property.default',
      'author[key]',
      'every default of the schema is in the effective document',
    ],
  ]),
  ...readersIn('engine/spec/read-intent-spec.ts', [
    [
      'document#all-issues',
      'inDocumentOrder([...schemaIssues, ...semanticIssues], text)',
      'schemaIssues',
      'semantic rules run on whatever parts are well typed',
    ],
  ]),
];
