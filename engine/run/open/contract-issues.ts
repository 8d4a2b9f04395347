import type { Issue } from '../../../core/contract/issue.ts';
import { warning } from '../../../core/contract/issue.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { builtInLedger } from '../../spec/built-in-ledger.ts';
import { logUnusedCode, logWithoutUse } from '../state/log-without-use.ts';
import { contractJudgements } from './contract-judgements.ts';
import { judgeOpening } from './judgement.ts';
import { refusalIssues } from './refusal-issues.ts';

/** What a contract shows by itself of any run with the built-in plugins, as warnings; no repository is looked at. */
export async function contractIssues(admitted: AdmittedContract): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  await judgeOpening(contractJudgements, { ledger: builtInLedger(), admitted }, (judgement, fault) =>
    refused.push(...refusalIssues(judgement, fault)),
  );
  return [
    ...refused,
    ...logWithoutUse(admitted.effective).map((words) =>
      warning(logUnusedCode, '/provenance/transparencyLog/mode', words),
    ),
  ];
}
