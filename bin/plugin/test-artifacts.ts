import { openParts, type PluginParts } from '../../engine/plugin-trust/open-parts.ts';
import { artifactTester } from '../../plugins/testers/artifact-tester.ts';
import { parseArtifactCases } from './cases/parse-artifact-cases.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

/** Every artifact of a plugin through the suite that the built-in ones go through, in its own process and sandbox. */
export const testArtifacts: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  const opened = new Map<string, PluginParts>();
  try {
    const tested: TestedPart[] = [];
    for (const { name } of manifest.artifacts) {
      const cases = readPartCases(pluginPackage, place, name, parseArtifactCases);
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
