import { compileMetricsSchema } from '../../frame/run-metrics.ts';
import { requireNotEnded } from '../../intent/require-not-ended.ts';
import { requireDistinctObjectives } from '../../plan/duplicate-objectives.ts';
import { requireSupportedVersion } from '../../spec/api-version.ts';
import { type Judgement, judgement } from './judgement.ts';

/** What a contract that was read shows by itself. Light: `spec validate` asks these where there is no repository. */
export const contractJudgements: readonly Judgement[] = [
  judgement({
    id: 'version-supported',
    sees: 'contract',
    about: '/apiVersion',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireSupportedVersion(admitted.document.apiVersion),
  }),
  judgement({
    id: 'rows-enforced',
    sees: 'contract',
    needs: ['ledger', 'admitted'],
    judge: async ({ ledger, admitted, worker }) =>
      ledger.check(admitted.effective, { model: worker?.usesModel === true }),
  }),
  judgement({
    id: 'not-ended',
    sees: 'contract',
    about: '/lifecycle/status',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireNotEnded(admitted.document),
  }),
  judgement({
    id: 'metrics-readable',
    sees: 'contract',
    about: '/objmodel/runPolicy/metricsSchema',
    needs: ['admitted'],
    judge: async ({ admitted }) => {
      await compileMetricsSchema(admitted.effective.objmodel.runPolicy.metricsSchema);
    },
  }),
  judgement({
    id: 'objectives-differ',
    sees: 'contract',
    about: '/intent/objectives',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireDistinctObjectives(admitted.effective.intent.objectives),
  }),
];
