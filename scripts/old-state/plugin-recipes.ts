import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makesFix } from '../../test/agent/planner/drafts.ts';
import { scriptModel } from '../../test/agent/scripted-model.ts';
import { killedClaims } from './killed-recipes.ts';
import { journalOf, type Place, sampleIntent, samplePatch } from './place.ts';
import { type Recipe, type RunData, runSample, sealedClaims, unsealedClaims } from './recipe.ts';
import { addPeople, twoPeople } from './waiting-recipes.ts';
import { modelRights } from './work-recipes.ts';

/** Runs that third-party plugins had a part in. Their packages are in the repository, their trust in the home. */
export const pluginRecipes: Readonly<Record<string, Recipe>> = {
  'sealed-with-plugins': {
    about: 'a run sealed with a gate, a stage check and an artifact of third-party plugins',
    sample: 1,
    async make(place) {
      await addPlugins(place);
      return [...sealedClaims(await runSample(place)), { run: ['plugin', 'list'] }];
    },
  },
  'abandoned-by-a-plugin': {
    about: 'a run that a gate of a third-party plugin refused',
    async make(place) {
      await addPlugins(place);
      const patch = readFileSync(join(place.root, samplePatch(place).slice(3)), 'utf8');
      const marked = patch.replace('count * cents;', 'count * cents; // DO NOT SHIP');
      const line = ['run', sampleIntent(place), '--patch', place.file('marked.diff', marked)];
      const run = (await place.writ(line, { exit: 1 })) as unknown as RunData;
      return [...unsealedClaims(run), { run: ['replay', run.run_id] }];
    },
  },
  'waiting-with-plugins': {
    about: 'a run with third-party plugins that waits for two people',
    async make(place) {
      const keys = addPeople(place);
      await addPlugins(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      return [
        ...unsealedClaims(run),
        { run: ['approve', run.run_id, '--key', keys.ann] },
        { run: ['approve', run.run_id, '--key', keys.ben] },
        { run: ['resume', run.run_id] },
        ...sealedClaims(run).slice(0, 2),
      ];
    },
  },
  'killed-with-plugins': {
    about: 'a run with third-party plugins that was killed when their answers were in its journal',
    async make(place) {
      await addPlugins(place);
      const line = ['run', sampleIntent(place), '--patch', samplePatch(place)];
      const settled = '"type":"step-ended","data":{"step":"candidate-1/epoch-1/fast/settled"';
      await place.kill(line, () => journalOf(place).includes(settled));
      const [first = ''] = journalOf(place).split('\n');
      const { runId, threadId } = (JSON.parse(first) as { data: { runId: string; threadId: string } }).data;
      return [...killedClaims(runId), ...sealedClaims({ run_id: runId, thread_id: threadId, state: '' })];
    },
  },
  'sealed-with-an-evidence-plugin': {
    about: "a model's run whose sources an evidence policy of a third-party plugin accepted",
    async make(place) {
      await place.writ(['plugin', 'new', 'evidence', 'house']);
      await place.writ(['plugin', 'add', 'house']);
      const config = readFileSync(join(place.repo, '.writ/config.toml'), 'utf8');
      writeFileSync(join(place.repo, '.writ/config.toml'), `${config}\n[evidence]\nplugins = ["house"]\n`);
      commitAll(place, 'Evidence policy');
      await place.writ(['plugin', 'trust', 'house', '--yes']);
      const looks = { calls: [['read_file', { path: 'src/price.js' }]] } as const;
      await using server = await scriptModel([looks, ...makesFix]);
      const line = ['run', sampleIntent(place, modelRights), '--provider', 'openai', '--model', 'scripted'];
      const env = { OPENAI_API_KEY: 'key-of-no-one-1234567890' };
      const run = await place.writ([...line, '--api-base', server.base], { env });
      return sealedClaims(run as unknown as RunData);
    },
  },
};

/** Adds and trusts a gate, a stage check and an artifact, each made by a third party. */
async function addPlugins(place: Place): Promise<void> {
  write(place, 'tools/no-ship/package.json', {
    ...{ name: 'no-ship', version: '0.1.0', type: 'module', files: ['rule.js', 'cases.json'] },
    writ: {
      api: 1,
      name: 'no-ship',
      rules: [{ id: 'no-ship', point: 'patch', reads: ['**'], module: './rule.js', timeoutSeconds: 30 }],
    },
  });
  write(place, 'tools/no-ship/rule.js', gate);
  write(place, 'tools/no-ship/cases.json', {});
  write(place, 'tools/small-change/package.json', {
    ...{ name: 'small-change', version: '0.1.0', type: 'module', files: ['check.js', 'cases.json'] },
    writ: {
      api: 1,
      stageChecks: [
        { name: 'small-change', module: './check.js', stages: ['fast', 'release'], timeoutSeconds: 30 },
      ],
    },
  });
  write(place, 'tools/small-change/check.js', stageCheck);
  write(place, 'tools/small-change/cases.json', {});
  await place.writ(['plugin', 'new', 'artifact', 'owners', '--dir', 'tools/owners']);
  const plugins = ['tools/no-ship', 'tools/small-change', 'tools/owners'];
  for (const plugin of plugins) await place.writ(['plugin', 'add', plugin]);
  commitAll(place, 'Plugins');
  for (const plugin of plugins) await place.writ(['plugin', 'trust', plugin, '--yes']);
}

function write(place: Place, path: string, content: string | object): void {
  mkdirSync(dirname(join(place.repo, path)), { recursive: true });
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 1)}\n`;
  writeFileSync(join(place.repo, path), text);
}

function commitAll(place: Place, message: string): void {
  place.git('add', '--all', '.');
  place.git('add', '--force', '.writ/config.toml');
  place.git('commit', '--quiet', '-m', message);
}

const gate = `export const judge = ({ files }) =>
  Object.entries(files).flatMap(([path, { candidate }]) =>
    candidate !== undefined && Buffer.from(candidate).toString('utf8').includes('DO NOT SHIP')
      ? [{ rule: 'no-ship', severity: 'error', message: 'finish it first', path }]
      : [],
  );
`;

const stageCheck = `export async function judge({ patch }) {
  if (patch.files.length > 10) return [{ severity: 'error', message: 'too many files' }];
  return [{ severity: 'note', message: 'a small change' }];
}
`;
