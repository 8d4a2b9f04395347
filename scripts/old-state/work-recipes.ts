import { makesFix, priceDraft, submits } from '../../test/agent/planner/drafts.ts';
import { scriptModel } from '../../test/agent/scripted-model.ts';
import { merge } from '../../test/engine/sample.ts';
import { killedClaims } from './killed-recipes.ts';
import { journalOf, type Place, sampleIntent } from './place.ts';
import { type Recipe, type RunData, sealedClaims, unsealedClaims } from './recipe.ts';

const request = 'A price is one cent too high: make it exact.';
const model = (base: string) => ['--provider', 'openai', '--model', 'scripted', '--api-base', base];
const env = { OPENAI_API_KEY: 'key-of-no-one-1234567890' };

/** Runs whose change was made by a worker: a recording, or a model. */
export const workRecipes: Readonly<Record<string, Recipe>> = {
  'sealed-of-three-tasks': {
    about: 'a recorded run of three tasks, with a failed attempt and a retry',
    async make(place) {
      const line = threeTasks(place, 0);
      return sealedClaims((await place.writ(line)) as unknown as RunData);
    },
  },
  'killed-in-an-attempt': {
    about: 'a recorded run of three tasks that was killed in its second attempt',
    async make(place) {
      const line = threeTasks(place, 1500);
      await place.kill(line, () => /"step-begun","data":\{"step":"[^"]*attempt[^"]*2/.test(journalOf(place)));
      const [first = ''] = journalOf(place).split('\n');
      const { runId, threadId } = (JSON.parse(first) as { data: { runId: string; threadId: string } }).data;
      return [...killedClaims(runId), ...sealedClaims({ run_id: runId, thread_id: threadId, state: '' })];
    },
  },
  'waiting-at-its-cost-cap': {
    about: 'a recorded run that used up its cost units and waits for more',
    async make(place) {
      const more = { constraints: { resources: { maxCostUnits: 10 } } };
      const line = threeTasks(place, 0, more);
      const run = (await place.writ(line, { exit: 4 })) as unknown as RunData;
      return [
        ...unsealedClaims(run),
        { run: ['resume', run.run_id, '--more-cost-units', '1000'] },
        ...sealedClaims(run).slice(0, 2),
      ];
    },
  },
  'sealed-by-a-model': {
    about: 'a run whose change a model made, sealed, and the recorded traffic of the model',
    async make(place) {
      await using server = await scriptModel(makesFix);
      const line = ['run', sampleIntent(place, modelRights), ...model(server.base), '--record', '../traffic'];
      return sealedClaims((await place.writ(line, { env })) as unknown as RunData);
    },
  },
  'traffic-of-a-model': {
    about: 'recorded traffic of a model that drafted a spec and fulfilled it, replayed as a run of its own',
    async make(place) {
      await using server = await scriptModel([submits(priceDraft), ...makesFix]);
      const line = ['run', '--request', request, '--yes', ...model(server.base), '--record', '../traffic'];
      const base = place.git('rev-parse', 'HEAD');
      await place.writ(line, { env });
      place.git('reset', '--quiet', '--hard', base);
      return [
        { run: ['run', '--request', request, '--yes', '--provider', 'replay:../traffic'] },
        { run: ['verify', 'HEAD', '--replay'] },
        { run: ['fsck'] },
      ];
    },
  },
  'drafted-and-waiting': {
    about: 'a spec that a model drafted and that no person has confirmed',
    async make(place) {
      const draft = { ...priceDraft, risk: { ...priceDraft.risk, level: 'medium' } };
      await using server = await scriptModel([submits(draft)]);
      const line = ['run', '--request', request, ...model(server.base)];
      const run = (await place.writ(line, { env, exit: 4 })) as unknown as RunData;
      return [
        ...unsealedClaims(run),
        { run: ['cancel', run.run_id], exit: 'recorded' },
        { run: ['runs'] },
        { run: ['fsck'] },
      ];
    },
  },
};

/** What a model needs to change files; the command is what the sample's checks need. */
export const modelRights = {
  security: {
    toolAcl: {
      allow: [
        { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['node'] } },
        { tool: 'workspace.fs', actions: ['read', 'write', 'delete'] },
      ],
    },
  },
};

/** Writes a spec of three tasks and a recording that fulfils it; the third task fails once. Returns its argv. */
function threeTasks(place: Place, delayMs: number, more: Parameters<typeof sampleIntent>[1] = {}): string[] {
  const spec = {
    intent: {
      changeType: 'feature',
      objectives: ['write src/list.js', 'write src/two.js', 'write src/three.js'],
    },
    execution: { retry: { maxRetries: 1 }, replan: { triggers: [] } },
  };
  const answers = [
    { task: 1, attempt: 1, patch: added('src/list.js', '// 1'), costUnits: 12, tokensUsed: 900, delayMs },
    { task: 2, attempt: 1, patch: added('src/two.js', '// 2'), costUnits: 12, tokensUsed: 900, delayMs },
    { task: 3, attempt: 1, nothing: 'no idea', costUnits: 3, tokensUsed: 90, delayMs },
    { task: 3, attempt: 2, patch: added('src/three.js', '// 3'), costUnits: 3, tokensUsed: 90, delayMs },
  ];
  const recording = place.file(
    'recording.json',
    JSON.stringify({ format: 'urn:writ:recording:v1', answers }, null, 1),
  );
  return ['run', sampleIntent(place, merge(spec, more)), '--recording', recording];
}

/** A patch that adds a file of one line. */
function added(path: string, line: string): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,1 @@\n+${line}\n`;
}
