import { openParts } from '../../engine/plugin-trust/open-parts.ts';
import { stageCheckTester } from '../../plugins/testers/stage-check-tester.ts';
import { parseStageCheckCases } from './cases/parse-stage-check-cases.ts';
import { leadTo } from './lead-to.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

/** What it is handed for every secret that it declares. */
const canary = 'canary-secret-0123456789';

/** Every stage check of a plugin through the suite of every stage check, in its own process and sandbox. */
export const testStageChecks: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  const tested: TestedPart[] = [];
  const { hosts, secrets } = manifest.needs;
  for (const { name } of manifest.stageChecks) {
    const { options, cases } = readPartCases(pluginPackage, place, name, (given) =>
      parseStageCheckCases(name, given),
    );
    let port = 0;
    const parts = await openParts(manifest, pluginPackage, options, {
      ...ground,
      access: {
        secret: async (one) => (secrets.includes(one) ? { value: canary, place: 'the suite' } : undefined),
      },
      outside: leadTo(() => port),
    });
    try {
      const check = parts.stageChecks.get(name);
      if (check === undefined) continue;
      const asked = {
        leadTo: (at: number) => {
          port = at;
        },
      };
      const failures = await watch.collect(`stage-check ${name}`, (runner) =>
        stageCheckTester(runner, { check, cases, secrets: [canary], ...(hosts.length === 0 ? {} : asked) }),
      );
      tested.push({ kind: 'stage-check', name, cases: cases.length, failures });
    } finally {
      await parts.close();
    }
  }
  return tested;
};
