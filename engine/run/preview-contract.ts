import { WritError } from '../../core/base/errors.ts';
import type { Issue } from '../../core/contract/issue.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { builtInLedger } from '../spec/built-in-ledger.ts';
import { keepObjectReaders } from '../vcs/object-reader.ts';
import type { AskedPlugins } from './open/asked-plugins.ts';
import { contractJudgements } from './open/contract-judgements.ts';
import { judgeOpening } from './open/judgement.ts';
import { noticesOf } from './open/notices.ts';
import type { OpeningPlace, OpeningRequest } from './open/opening.ts';
import { refusalIssues } from './open/refusal-issues.ts';
import { repositoryJudgements } from './open/repository-judgements.ts';

/** Stands for the id of a run: nothing is named after one that nobody has asked for. */
const ofNoRun = '00000000-0000-7000-8000-000000000000';

/**
 * What contract, repository and policy show of a run that nobody has asked for yet, as warnings: why any would be
 * refused, and what it would be told. Machine and change are not looked at.
 */
export async function previewContract(
  plugins: AskedPlugins,
  request: OpeningRequest,
  admitted: AdmittedContract,
): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  await using readers = keepObjectReaders();
  const place: OpeningPlace = {
    dry: true,
    onlyReads: true,
    keep: (repository) => readers.keep(repository),
    makeScratch: unasked,
    pluginCache: unasked,
  };
  const given = { plugins, ledger: builtInLedger(), request, place, runId: ofNoRun, admitted } as const;
  const known = await judgeOpening(
    [...contractJudgements, ...repositoryJudgements],
    { ...given, kind: 'patch', who: 'worker' },
    (judgement, fault) => refused.push(...refusalIssues(judgement, fault)),
  );
  const added = (known.contract?.warnings ?? []).slice(admitted.warnings.length);
  return [...refused, ...added, ...noticesOf(known)];
}

function unasked(): never {
  throw new WritError('INTERNAL', { message: 'a contract alone makes nothing' });
}
