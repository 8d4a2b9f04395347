import { messageOf } from '../../core/base/errors.ts';
import { parseList, parseText, parseWord, toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { stageNames } from '../../core/contract/stage.ts';
import { openParts } from '../../engine/plugin-trust/open-parts.ts';
import { invalidPackage, type PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import type { StageCheckCase } from '../../plugins/testers/stage-check-case.ts';
import { stageCheckTester } from '../../plugins/testers/stage-check-tester.ts';
import { leadTo } from './lead-to.ts';
import { casesFile } from './read-cases.ts';
import type { TestedPart, TestSuite } from './test-suite.ts';

/** What `cases.json` says of a stage check: its cases, and the options that lead the plugin to its declared host. */
interface StageCheckCases {
  readonly options: Readonly<Record<string, unknown>>;
  readonly cases: readonly StageCheckCase[];
}

/** What it is handed for every secret that it declares. */
const canary = 'canary-secret-0123456789';
const maxCases = 200;
const caseFields = [
  'name',
  'stage',
  'spec',
  'files',
  'checks',
  'findings',
  'artifacts',
  'answer',
  'wire',
  'expect',
];

/** Every stage check of a plugin through the suite of every stage check, in its own process and sandbox. */
export const testStageChecks: TestSuite = async (manifest, pluginPackage, { place, ground, watch }) => {
  const tested: TestedPart[] = [];
  const { hosts, secrets } = manifest.needs;
  for (const { name } of manifest.stageChecks) {
    const { options, cases } = readStageCheckCases(pluginPackage, place, name);
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

function readStageCheckCases({ files }: PluginPackage, place: string, name: string): StageCheckCases {
  const bytes = files.get(casesFile);
  if (bytes === undefined) throw invalidPackage(place, `it has no \`${casesFile}\` to be tested with`);
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    const all = toFields(value, 'an object');
    const own = Object.hasOwn(all, name) ? all[name] : {};
    const fields = toFields(own, `an object \`${name}\``, ['options', 'cases']);
    return {
      options: toFields(fields.options ?? {}, 'an object `options`'),
      cases: parseList(fields.cases ?? [], parseCase, maxCases),
    };
  } catch (cause) {
    throw invalidPackage(place, `\`${casesFile}\`: ${messageOf(cause)}`, cause);
  }
}

/** What a case holds beyond this is judged by what it is given to. */
function parseCase(item: unknown): StageCheckCase {
  const fields = toFields(item, 'a case', caseFields);
  parseText(fields, 'name', 200);
  if (fields.stage !== undefined) parseWord(fields, 'stage', stageNames);
  parseList(fields.expect, (one) =>
    toFields(one, 'an expected finding', ['severity', 'message', 'path', 'line', 'column', 'detail']),
  );
  for (const list of ['checks', 'findings', 'artifacts'])
    if (fields[list] !== undefined) parseList(fields[list], (one) => toFields(one, `one of \`${list}\``));
  for (const file of Object.values(toFields(fields.files ?? {}, 'an object `files`')))
    toFields(file, 'the sides of a file', ['base', 'candidate', 'oldPath', 'oldMode', 'newMode']);
  if (fields.answer !== undefined)
    toFields(fields.answer, 'an object `answer`', ['status', 'headers', 'json', 'text']);
  return fields as unknown as StageCheckCase;
}
