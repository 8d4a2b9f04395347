/* The `writ plugin new`, `pack` and `test` commands. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { type GateCases, gateTester } from '../../plugins/testers/gate-tester.ts';
import { kebabCase, needsInWords } from '../../plugins/third-party/manifest-parts.ts';
import { outsideRules } from '../../plugins/third-party/open-plugins.ts';
import { packPlugin } from '../../plugins/third-party/pack-plugin.ts';
import { partFields, partKindNames } from '../../plugins/third-party/part-kinds.ts';
import { readDirectory } from '../../plugins/third-party/plugin-package.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { makeDirectory, outputFailed, writeOutput } from '../command-parts/write-output.ts';
import type { NewKind } from '../plugin/kind-words.ts';
import { namesOf, partsOf, readPlugin, requireFreeIds } from '../plugin/named-plugin.ts';
import { scaffolds } from '../plugin/scaffolds.ts';
import { casesFile, readCases, requireCaseNames, suites, type TestedPart } from '../plugin/suites.ts';
import { type CaseWatch, watchCases } from '../plugin/watch-cases.ts';
import { styled } from '../terminal/print.ts';

/** Length limit of a DNS label (RFC 1035, 2.3.4): the name becomes part of a host name that the new plugin declares. */
const maxLabel = 63;

/**
 * `writ plugin new KIND NAME`: a plugin with one part, its cases and its page, which passes its test at once. An
 * existing directory is left alone.
 */
export async function pluginNewCommand(context: CommandContext): Promise<CommandResult> {
  const { args, cwd, options } = context;
  const [kind = '', name = ''] = args;
  const kinds = Object.keys(scaffolds) as readonly NewKind[];
  const known = kinds.find((one) => one === kind);
  if (known === undefined)
    throw new WritError('USAGE', {
      message: `expected ${kinds.map((one) => `\`${one}\``).join(' or ')}, found ${quoted(kind)}`,
      detail: { command: 'plugin new', expected: kinds },
      hints: kinds.map((one) => `\`writ plugin new ${one} NAME\``),
    });
  if (!kebabCase.test(name) || name.length > maxLabel)
    throw new WritError('USAGE', {
      message: `expected a name in kebab-case, at most ${maxLabel} letters, found ${quoted(name)} (${name.length})`,
      detail: { command: 'plugin new' },
    });
  const made = scaffolds[known](name);
  await requireFreeIds(context, name, known === 'gate' ? { rules: [name] } : { [partFields[known]]: [name] });
  const given = options.value('dir') ?? name;
  const directory = resolve(cwd, given);
  await mkdir(dirname(directory), { recursive: true }).catch((cause) => {
    throw outputFailed(given, cause);
  });
  await makeDirectory(context, given);
  const files: string[] = [];
  for (const [path, text] of made) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    writeOutput(directory, path, text);
    files.push(path);
  }
  return succeeded({ path: directory, name, files }, (printer) => {
    printer.line(`made ${given}: ${files.join(', ')}`);
    printer.line(`  next  writ plugin test ${given}`);
  });
}

/**
 * `writ plugin pack DIR`: packs the files of a plugin for `writ plugin add`, as selected by `package.json`. Output is
 * reproducible. An existing file is not overwritten.
 */
export async function pluginPackCommand(context: CommandContext): Promise<CommandResult> {
  const { args, cwd, options } = context;
  const given = args[0] ?? '';
  const { tarball, pluginPackage, manifest, leftOut } = packPlugin(
    await readDirectory(resolve(cwd, given), given),
    given,
  );
  await requireFreeIds(context, manifest.name, namesOf(manifest));
  const out = options.value('out') ?? fileName(manifest);
  const path = writeOutput(cwd, out, tarball);
  const digest = `sha256:${pluginPackage.digest}`;
  const data = {
    path,
    name: manifest.name,
    version: manifest.version,
    digest,
    sha256: sha256Hex(tarball),
    size_bytes: tarball.length,
    files: [...pluginPackage.files].map(([file, bytes]) => ({ path: file, size_bytes: bytes.length })),
    left_out: [...leftOut],
    config: `[[plugins]]\npackage = ${JSON.stringify(manifest.packageName)}\ndigest = "${digest}"\n`,
    rules: manifest.rules.map(({ id }) => id),
    parts: partsOf(manifest),
    needs: [...needsInWords(manifest.needs)],
  };
  return succeeded(data, (printer) => {
    printer.line(
      `packed ${out}: ${manifest.name} ${manifest.version}, ${data.files.length} files, ${tarball.length} bytes`,
    );
    printer.line(`  sha256 of the file  ${data.sha256}`);
    printer.line(`  digest              ${digest}`);
    for (const file of leftOut) printer.line(`  left out            ${file} (it is called like a secret)`);
    for (const id of data.rules) printer.line(`  brings rule ${id}`);
    for (const { kind, name } of data.parts) printer.line(`  brings ${kind} ${name}`);
    for (const need of data.needs) printer.line(`  ${need}`);
    printer.line('  for .writ/config.toml');
    for (const line of data.config.trimEnd().split('\n')) printer.line(`    ${line}`);
    printer.line(`  next  writ plugin add ${out}`);
  });
}

/** As `npm pack` calls it. */
function fileName({
  packageName,
  version,
}: {
  readonly packageName: string;
  readonly version: string;
}): string {
  const plain = `${packageName.replace(/^@/, '').replace('/', '-')}-${version}`;
  return `${plain.replaceAll(/[^A-Za-z0-9._+-]/g, '-')}.tgz`;
}

interface TestedRule {
  readonly id: string;
  readonly cases: number;
  readonly failures: readonly string[];
}

/**
 * `writ plugin test DIR`: runs every rule on its cases and every other part through the test suite of its kind. Uses
 * the sandbox and the calls of a real run, with a deadline for each case. Exit 1 if a case fails, or if a rule lacks
 * a passing or a failing case.
 */
export async function pluginTestCommand(context: CommandContext): Promise<CommandResult> {
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
      for (const line of failures.flatMap((one) => one.split('\n'))) printer.line(`  ${line}`);
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
