import { readContract } from '../../intent/admit-contract.ts';
import {
  changeJudgements,
  citingJudgement,
  modelJudgement,
  pluginModelJudgement,
  workerJudgement,
} from './change-judgements.ts';
import { contractJudgements } from './contract-judgements.ts';
import { type Judgement, judgement } from './judgement.ts';
import { machineJudgements } from './machine-judgements.ts';
import { repositoryJudgements } from './repository-judgements.ts';

const contractRead: Judgement = judgement({
  id: 'contract-read',
  sees: 'contract',
  needs: ['engine', 'request'],
  judge: async ({ engine, request }) => ({ admitted: await readContract(engine, request.specBytes) }),
});

/** What can be said before anybody looks at a repository. */
export const firstJudgements: readonly Judgement[] = [
  workerJudgement,
  contractRead,
  ...contractJudgements,
  citingJudgement,
];

/** What has to be looked up. */
export const laterJudgements: readonly Judgement[] = [
  ...repositoryJudgements,
  modelJudgement,
  ...machineJudgements,
  pluginModelJudgement,
  ...changeJudgements,
];
