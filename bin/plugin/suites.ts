/* The test suites that `writ plugin test` runs, by kind of part. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { publicLogMode } from '../../attest/log/log-sections.ts';
import { anything, mapOf, parse as parseAs } from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { artifactTester } from '../../plugins/testers/artifact-tester.ts';
import { evidenceTester } from '../../plugins/testers/evidence-tester.ts';
import type { GateCases } from '../../plugins/testers/gate-tester.ts';
import { logTester, serveLog } from '../../plugins/testers/log-tester.ts';
import { providerTester } from '../../plugins/testers/provider-tester.ts';
import { stageCheckTester } from '../../plugins/testers/stage-check-tester.ts';
import { openParts, type PluginEnvironment, type PluginParts } from '../../plugins/third-party/open-parts.ts';
import type { PartKind } from '../../plugins/third-party/part-kinds.ts';
import { opensHost } from '../../plugins/third-party/plugin-access.ts';
import type { PluginManifest } from '../../plugins/third-party/plugin-manifest.ts';
import { invalidFile, invalidPackage, type PluginPackage } from '../../plugins/third-party/plugin-package.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { type Outside, realOutside } from '../../workspace/egress/outside.ts';
import { gitEnvironment, isolatedGitEnvironment } from '../../workspace/git/git.ts';
import { execFileBounded } from '../../workspace/process/spawn.ts';
import {
  parseArtifactCases,
  parseEvidenceCases,
  parseGateCases,
  parseLogCase,
  parseProviderCases,
  parseStageCheckCases,
  within,
} from './cases/parse-cases.ts';
import type { CaseWatch } from './watch-cases.ts';

/** How a part of a plugin fared in the suite of its kind. */
export interface TestedPart {
  readonly kind: PartKind;
  readonly name: string;
  readonly cases: number;
  readonly failures: readonly string[];
}

/** Environment in which a suite finds and runs a plugin. */
interface SuitePlace {
  /** As the user named it. */
  readonly place: string;
  readonly ground: Omit<PluginEnvironment, 'outside'>;
  readonly engine: WritEngine;
  readonly env: Environment;
  /** Holds each case to its deadline. */
  readonly watch: CaseWatch;
}

/** Every part of one kind of a plugin through the suite of that kind, in its own process and sandbox. */
type TestSuite = (
  manifest: PluginManifest,
  pluginPackage: PluginPackage,
  place: SuitePlace,
) => Promise<readonly TestedPart[]>;

/** Any public address: what is connected to is a suite's own server. */
const somewhere = '1.1.1.1';

/** A network in which every name leads to one port of the loopback: what a plugin under test is shown. */
export function leadTo(port: () => number): Outside {
  return {
    resolve: async () => [somewhere],
    connect: () => realOutside.connect('127.0.0.1', port()),
    ownAddresses: () => [],
  };
}

/** Value of every declared secret during tests. */
const canary = 'canary-secret-0123456789';

/** Every stage check of a plugin through the suite of every stage check, in its own process and sandbox. */
const testStageChecks: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
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

/** Through the egress and the sandbox's way out, pieces that are nearer come as one. */
const apartMs = 20;
/** Every provider of a plugin through the suite that the built-in ones go through, in its own process and sandbox. */
const testProviders: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
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

/** Every log of a plugin through the suite of every log, in its own process and sandbox. */
const testLogs: TestSuite = async (manifest, pluginPackage, { place, ground, engine, env, watch }) => {
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

/** Every evidence policy of a plugin through the suite of the built-in ones, in its own process and sandbox. */
const testEvidence: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
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

/** Every artifact of a plugin through the suite that the built-in ones go through, in its own process and sandbox. */
const testArtifacts: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
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

/** Test suites of `writ plugin test` by kind of part. */
export const suites: Readonly<Record<PartKind, TestSuite>> = {
  provider: testProviders,
  log: testLogs,
  'stage-check': testStageChecks,
  artifact: testArtifacts,
  evidence: testEvidence,
};

/**
 * Parses a part's entry in `cases.json` with `parse`, which receives `undefined` if the entry is missing.
 * PLUGIN_INVALID if the file is missing or invalid.
 */
function readPartCases<T>(
  { files }: PluginPackage,
  place: string,
  name: string,
  parse: (given: unknown) => T,
): T {
  const bytes = files.get(casesFile);
  if (bytes === undefined) throw invalidPackage(place, `it has no \`${casesFile}\` to be tested with`);
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    const all = parseAs(casesByName, value);
    return parse(Object.hasOwn(all, name) ? all[name] : undefined);
  } catch (cause) {
    throw invalidFile(place, casesFile, cause);
  }
}

const casesByName = mapOf('an object', anything);

/** The file of a plugin that `writ plugin test` and the plugin's own test read. */
export const casesFile = 'cases.json';

/** Gate cases by rule id, none of `others`; a plugin without the file, or with nonsense in it, is PLUGIN_INVALID. */
export function readCases(
  { files }: PluginPackage,
  place: string,
  others: readonly string[],
): ReadonlyMap<string, GateCases> {
  const bytes = files.get(casesFile);
  if (bytes === undefined) throw invalidPackage(place, `it has no \`${casesFile}\` to be tested with`);
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    return new Map(
      Object.entries(parseAs(casesByName, value)).flatMap(([id, cases]) => {
        if (others.includes(id)) return [];
        return [[id, within(id, () => parseGateCases(cases))] as const];
      }),
    );
  } catch (cause) {
    throw invalidFile(place, casesFile, cause);
  }
}

/** PLUGIN_INVALID if `cases.json` has an entry for any other name, because its cases would never run. */
export function requireCaseNames({ files }: PluginPackage, place: string, names: readonly string[]): void {
  const bytes = files.get(casesFile);
  if (bytes === undefined) return;
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    const stray = Object.keys(parseAs(casesByName, value)).find((name) => !names.includes(name));
    if (stray !== undefined)
      throw new TypeError(
        `expected cases of what the plugin brings (${names.map((name) => `\`${name}\``).join(', ')}), got \`${stray.slice(0, 128)}\``,
      );
  } catch (cause) {
    throw invalidFile(place, casesFile, cause);
  }
}
