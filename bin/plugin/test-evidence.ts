import { parseCount, parseList, parseText, toFields } from '../../core/base/parse-fields.ts';
import { openParts, type PluginParts } from '../../engine/plugin-trust/open-parts.ts';
import { type EvidenceCase, evidenceTester } from '../../plugins/testers/evidence-tester.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

const maxCases = 200;

/** Every evidence policy of a plugin through the suite of the built-in ones, in its own process and sandbox. */
export const testEvidence: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  const opened = new Set<PluginParts>();
  try {
    const tested: TestedPart[] = [];
    for (const { name } of manifest.evidence) {
      const cases = readPartCases(pluginPackage, place, name, (given) =>
        parseList(given ?? [], parseCase, maxCases),
      );
      const failures = await watch.collect(`evidence ${name}`, (runner) =>
        evidenceTester(runner, {
          name,
          cases,
          // A policy that was silent once stays so: each promise has its own.
          async open(options) {
            for (const one of opened) await one.close();
            opened.clear();
            const parts = await openParts(manifest, pluginPackage, options, ground);
            opened.add(parts);
            const policy = parts.evidence.get(name);
            if (policy === undefined) throw new TypeError(`the plugin opened without \`${name}\``);
            return policy;
          },
        }),
      );
      tested.push({ kind: 'evidence', name, cases: cases.length, failures });
    }
    return tested;
  } finally {
    for (const one of opened) await one.close();
  }
};

function parseCase(item: unknown): EvidenceCase {
  const fields = toFields(item, 'a case', ['name', 'source', 'soFar', 'options', 'expect']);
  parseText(fields, 'name', 200);
  const source = toFields(fields.source ?? {}, 'an object `source`', [
    'name',
    'url',
    'trustTier',
    'isAllowedHost',
  ]);
  for (const field of ['name', 'url', 'trustTier'])
    if (source[field] !== undefined) parseText(source, field, 4096);
  if (fields.soFar !== undefined)
    parseCount(toFields(fields.soFar, 'an object `soFar`', ['repositoryUses']), 'repositoryUses', 0);
  if (fields.options !== undefined) toFields(fields.options, 'an object `options`');
  const expect = toFields(fields.expect, 'an object `expect`', ['refuse', 'order']);
  if (expect.refuse !== undefined) parseText(expect, 'refuse', 1000);
  if (expect.order !== undefined) parseCount(expect, 'order', 0);
  return fields as unknown as EvidenceCase;
}
