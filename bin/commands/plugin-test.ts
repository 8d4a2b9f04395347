import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { needsInWords } from '../../engine/plugin-trust/manifest-parts.ts';
import { outsideRules } from '../../engine/plugin-trust/open-plugins.ts';
import { partFields, partKindNames } from '../../engine/plugin-trust/part-kinds.ts';
import { type GateCases, gateTester } from '../../plugins/testers/gate-tester.ts';
import { pickSandbox } from '../../workspace/process/pick-sandbox.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { namesOf, partsOf, readPlugin, requireFreeIds } from '../plugin/named-plugin.ts';
import { casesFile, readCases, requireCaseNames, suites, type TestedPart } from '../plugin/suites.ts';
import { type CaseWatch, watchCases } from '../plugin/watch-cases.ts';
import { styled } from '../terminal/print.ts';

interface TestedRule {
  readonly id: string;
  readonly cases: number;
  readonly failures: readonly string[];
}

/**
 * `writ plugin test DIR`: every rule over its cases, and every other part through the suite of its kind, in the
 * sandbox, as a run asks it, each case within its deadline. Exit 1 where one fails or a rule has no case on a side.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const given = context.args[0] ?? '';
  const { manifest, pluginPackage } = await readPlugin(context, given);
  await requireFreeIds(context, manifest.name, namesOf(manifest));
  const others = partsOf(manifest).map(({ name }) => name);
  requireCaseNames(pluginPackage, given, [...others, ...manifest.rules.map(({ id }) => id)]);
  const cases =
    manifest.rules.length === 0 ? new Map<string, GateCases>() : readCases(pluginPackage, given, others);
  const root = await mkdtemp(join(await realpath(tmpdir()), 'writ-plugin-'));
  await using engine = await openEngine(context);
  const rules: TestedRule[] = [];
  const parts: TestedPart[] = [];
  try {
    const watch = watchCases(context, () => pickSandbox('auto', engine.slots.sandbox));
    const ground = { cacheDir: root, sandbox: watch.sandbox };
    for (const rule of await outsideRules(manifest, pluginPackage, ground))
      rules.push(await testRule(rule, cases.get(rule.id), watch));
    const place = { place: given, ground, engine, env: context.env, watch };
    for (const kind of partKindNames)
      if (manifest[partFields[kind]].length > 0)
        parts.push(...(await suites[kind](manifest, pluginPackage, place)));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  const digest = `sha256:${pluginPackage.digest}`;
  const data = {
    name: manifest.name,
    version: manifest.version,
    digest,
    needs: [...needsInWords(manifest.needs)],
    rules: rules.map((rule) => ({ ...rule })),
    parts: parts.map((part) => ({ ...part })),
  };
  const told = [
    ...rules.map((rule) => ({ ...rule, label: rule.id })),
    ...parts.map((part) => ({ ...part, label: `${part.kind} ${part.name}` })),
  ];
  const human = (printer: CommandContext['print']): void => {
    for (const { label, cases: count, failures } of told) {
      printer.line(
        styled(failures.length === 0 ? 'green' : 'red', failures.length === 0 ? 'passed' : 'failed'),
        ` ${label} (${count} cases)`,
      );
      for (const failure of failures) printer.line(`  ${failure}`);
    }
    for (const need of data.needs) printer.line(`  ${need}`);
    printer.line(`${manifest.name} ${manifest.version}  ${digest}`);
  };
  const failed = told.filter(({ failures }) => failures.length > 0);
  if (failed.length === 0) return succeeded(data, human);
  const ids = failed.map(({ label }) => label);
  return refused(
    new WritError('PLUGIN_TEST_FAILED', {
      message: `${ids.map((id) => `\`${id}\``).join(', ')} of plugin \`${manifest.name}\` failed`,
      detail: { plugin: manifest.name, rules: ids },
    }),
    data,
    human,
  );
}

async function testRule(rule: Rule, given: GateCases | undefined, watch: CaseWatch): Promise<TestedRule> {
  const { valid = [], invalid = [] } = given ?? {};
  const failures: string[] = [];
  if (valid.length === 0 || invalid.length === 0)
    failures.push(`expected at least one \`valid\` and one \`invalid\` case in \`${casesFile}\``);
  const each: readonly GateCases[] = [
    ...valid.map((one) => ({ valid: [one], invalid: [] })),
    ...invalid.map((one) => ({ valid: [], invalid: [one] })),
  ];
  const failed = await watch.collect(`rule ${rule.id}`, async (runner) => {
    for (const one of each) {
      const [{ name } = { name: '' }] = [...(one.valid ?? []), ...(one.invalid ?? [])];
      await runner.test(`${rule.id}: ${name}`, () => gateTester(undefined, rule, one));
    }
  });
  return { id: rule.id, cases: each.length, failures: [...failures, ...failed] };
}
