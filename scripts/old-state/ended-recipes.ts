import { serveV2 } from '../../test/attest/public/log-servers.ts';
import { merge } from '../../test/engine/sample.ts';
import { publicLog, useLog, withServers } from './log-recipes.ts';
import { sampleIntent, samplePatch } from './place.ts';
import { type Recipe, runSample, unsealedClaims } from './recipe.ts';
import { addPeople, twoPeople } from './waiting-recipes.ts';

/** Runs that ended without a sealed commit. */
export const endedRecipes: Readonly<Record<string, Recipe>> = {
  'abandoned-by-a-check': {
    about: 'a run abandoned since a check failed',
    async make(place) {
      const quick = {
        ...{ id: 'fails', kind: 'command', command: 'false', timeoutSeconds: 60 },
        ...{ required: true, artifactsProduced: [] },
      };
      const plan = { acceptance: { verificationPlan: { integrationChecks: [quick] } } };
      const run = await runSample(place, plan, { exit: 1 });
      return [...unsealedClaims(run), { run: ['replay', run.run_id] }];
    },
  },
  'abandoned-by-a-rule': {
    about: 'a run abandoned since a rule reported an error',
    async make(place) {
      const patch = samplePatch(place, 'a-direct-eval-is-refused');
      const run = (await place.writ(['run', sampleIntent(place), '--patch', patch], { exit: 1 })) as never;
      return [...unsealedClaims(run), { run: ['replay', (run as { readonly run_id: string }).run_id] }];
    },
  },
  cancelled: {
    about: 'a run that waited for people and was cancelled',
    async make(place) {
      addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      await place.writ(['cancel', run.run_id, '--reason', 'not needed'], { exit: 'recorded' });
      return [...unsealedClaims(run), { run: ['replay', run.run_id] }];
    },
  },
  rejected: {
    about: 'a run that a person rejected',
    async make(place) {
      const { ann } = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      await place.writ(['approve', run.run_id, '--key', ann, '--reject'], { exit: 'recorded' });
      await place.writ(['resume', run.run_id], { exit: 'recorded' });
      return [...unsealedClaims(run), { run: ['replay', run.run_id] }];
    },
  },
  'rolled-back': {
    about: 'a run rolled back since its log refused the provenance',
    async make(place) {
      return await withServers(async (t) => {
        const log = await serveV2(t);
        log.lie(() => ({ status: 400, body: '{}' }));
        useLog(place, log, 'v2');
        const run = await runSample(place, merge(publicLog, rollback), { exit: 1 });
        return [...unsealedClaims(run), { run: ['replay', run.run_id] }];
      });
    },
  },
  revoked: {
    about: 'a run rolled back and revoked, since its log took the provenance and answered with an error',
    async make(place) {
      return await withServers(async (t) => {
        const log = await serveV2(t);
        let isFirst = true;
        log.lie((answer) => {
          if (!isFirst) return answer;
          isFirst = false;
          return { status: 400, body: '{}' };
        });
        useLog(place, log, 'v2');
        const run = await runSample(place, merge(publicLog, rollback), { exit: 1 });
        const revocation = place.git('show', `refs/ai/runs/${run.run_id}:revocation.sigstore.json`);
        const path = place.file('revocation.sigstore.json', `${revocation}\n`);
        return [
          ...unsealedClaims(run),
          { run: ['replay', run.run_id] },
          { run: ['verify', run.run_id, '--run', '--trusted-root', '../root.json'], exit: 3 },
          { run: ['verify', path, '--trusted-root', '../root.json'], exit: 1 },
        ];
      });
    },
  },
};

const rollback = { objmodel: { decisionPolicy: { rollbackOnProvenanceFail: true } } };
