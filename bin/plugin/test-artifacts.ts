import { parseList, parseText, toFields } from '../../core/base/parse-fields.ts';
import { openParts, type PluginParts } from '../../engine/plugin-trust/open-parts.ts';
import type { ArtifactCase } from '../../plugins/testers/artifact-case.ts';
import { artifactTester } from '../../plugins/testers/artifact-tester.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

const maxCases = 200;

/** Every artifact of a plugin through the suite that the built-in ones go through, in its own process and sandbox. */
export const testArtifacts: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  const opened = new Map<string, PluginParts>();
  try {
    const tested: TestedPart[] = [];
    for (const { name } of manifest.artifacts) {
      const cases = readPartCases(pluginPackage, place, name, (given) =>
        parseList(given ?? [], parseCase, maxCases),
      );
      const failures = await watch.collect(`artifact ${name}`, (runner) =>
        artifactTester(runner, {
          name,
          cases,
          async open(options) {
            const key = JSON.stringify(options);
            const parts = opened.get(key) ?? (await openParts(manifest, pluginPackage, options, ground));
            opened.set(key, parts);
            const producer = parts.artifacts.get(name);
            if (producer === undefined) throw new TypeError(`the plugin opened without \`${name}\``);
            return producer;
          },
        }),
      );
      tested.push({ kind: 'artifact', name, cases: cases.length, failures });
    }
    return tested;
  } finally {
    await Promise.all([...opened.values()].map((parts) => parts.close()));
  }
};

/** What a case holds beyond this is judged by what it is given to. */
function parseCase(item: unknown): ArtifactCase {
  const fields = toFields(item, 'a case', ['name', 'files', 'spec', 'stages', 'options', 'expect']);
  parseText(fields, 'name', 200);
  for (const file of Object.values(toFields(fields.files ?? {}, 'an object `files`'))) {
    const sides = toFields(file, 'the sides of a file', [
      'base',
      'candidate',
      'oldPath',
      'oldMode',
      'newMode',
    ]);
    for (const side of Object.keys(sides)) parseText(sides, side, 4 * 1024 * 1024, 0);
  }
  for (const field of ['spec', 'options'])
    if (fields[field] !== undefined) toFields(fields[field], `an object \`${field}\``);
  const expect = toFields(fields.expect, 'an object `expect`', ['includes', 'json', 'unmade']);
  if (expect.includes !== undefined) parseList(expect.includes, (text) => parseText({ text }, 'text', 4096));
  if (expect.unmade !== undefined) parseText(expect, 'unmade', 1000);
  return fields as unknown as ArtifactCase;
}
