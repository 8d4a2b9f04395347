import { openParts } from '../../engine/plugin-trust/open-parts.ts';
import { opensHost } from '../../engine/plugin-trust/opens-host.ts';
import { providerTester } from '../../plugins/testers/provider-tester.ts';
import { parseProviderCases } from './cases/parse-provider-cases.ts';
import { leadTo } from './lead-to.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

/** Through the egress and the sandbox's way out, pieces that are nearer come as one. */
const apartMs = 20;
/** Every provider of a plugin through the suite that the built-in ones go through, in its own process and sandbox. */
export const testProviders: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  let port = 0;
  const parts = await openParts(manifest, pluginPackage, {}, { ...ground, outside: leadTo(() => port) });
  try {
    const tested: TestedPart[] = [];
    for (const [name, source] of parts.providers) {
      const cases = readPartCases(pluginPackage, place, name, parseProviderCases);
      const base = plainBase(source.base, manifest.needs.hosts);
      const baseAt = (at: number): string => {
        port = at;
        return base;
      };
      const failures = await watch.collect(`provider ${name}`, (runner) =>
        providerTester(runner, { name, source, cases, isOtherBase: false, baseAt, apartMs }),
      );
      tested.push({ kind: 'provider', name, cases: cases.length, failures });
    }
    return tested;
  } finally {
    await parts.close();
  }
};

/** The same host over plain HTTP, at a port that is open: the suite's server has no certificate for it. */
function plainBase(base: string, hosts: readonly string[]): string {
  const url = new URL(base);
  const plain = `http://${url.host}${url.pathname.replace(/\/$/, '')}`;
  return opensHost(hosts, plain) ? plain : plain.replace(url.host, `${url.hostname}:443`);
}
