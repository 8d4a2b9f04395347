import { openParts, type PluginParts } from '../../engine/plugin-trust/open-parts.ts';
import { evidenceTester } from '../../plugins/testers/evidence-tester.ts';
import { parseEvidenceCases } from './cases/parse-evidence-cases.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

/** Every evidence policy of a plugin through the suite of the built-in ones, in its own process and sandbox. */
export const testEvidence: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  const opened = new Set<PluginParts>();
  try {
    const tested: TestedPart[] = [];
    for (const { name } of manifest.evidence) {
      const cases = readPartCases(pluginPackage, place, name, parseEvidenceCases);
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
