import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { publicLogMode } from '../../attest/public/public-log-section.ts';
import { openParts } from '../../engine/plugin-trust/open-parts.ts';
import { execFileBounded } from '../../engine/tool/spawn.ts';
import { gitEnvironment, isolatedGitEnvironment } from '../../engine/vcs/git-environment.ts';
import { logTester } from '../../plugins/testers/log-tester.ts';
import { serveLog } from '../../plugins/testers/served-log.ts';
import { parseLogCase } from './cases/parse-log-case.ts';
import { leadTo } from './lead-to.ts';
import { readPartCases } from './read-part-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

/** Every log of a plugin through the suite of every log, in its own process and sandbox. */
export const testLogs: TestSuite = async (manifest, pluginPackage, { place, ground, engine, env, watch }) => {
  const source = await engine.slots.log.pick(publicLogMode);
  const tested: TestedPart[] = [];
  for (const { name, consistency } of manifest.logs) {
    const { wire, options } = readPartCases(pluginPackage, place, name, (given) =>
      parseLogCase(name, given, consistency),
    );
    await using served = await serveLog(await mkdtemp(join(ground.cacheDir, 'log-')), wire);
    const parts = await openParts(manifest, pluginPackage, options, {
      ...ground,
      outside: leadTo(() => served.port),
    });
    try {
      const failures = await watch.collect(`log ${name}`, (runner) =>
        logTester(runner, {
          name: publicLogMode,
          source,
          log: `plugin = "${name}"\nvkey = "${served.vkey}"`,
          outsideLog: (asked) => parts.logs.get(asked),
          async repository() {
            const root = await mkdtemp(join(ground.cacheDir, 'repository-'));
            const argv = ['git', 'init', '--quiet', root];
            await execFileBounded(argv, {
              cwd: root,
              env: { ...gitEnvironment(env), ...isolatedGitEnvironment },
              maxBytes: 65_536,
            });
            return root;
          },
        }),
      );
      tested.push({ kind: 'log', name, cases: 1, failures });
    } finally {
      await parts.close();
    }
  }
  return tested;
};
