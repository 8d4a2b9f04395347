import { WritError } from '../../core/base/errors.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import { builtInLedger } from '../../spec/built-in-ledger.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { RunPlugins } from './open-parties.ts';
import {
  checkSpec,
  given,
  type OpeningPlace,
  type OpeningRequest,
  openChecks,
  refusalIssues,
  resultsOf,
} from './opening.ts';
import { noticesOf } from './plan-environment.ts';
import { checkRepository } from './repository-checks.ts';

/** Placeholder for a run id, because a preview creates no names from it. */
const ofNoRun = '00000000-0000-7000-8000-000000000000';

/**
 * Returns warnings for a run that is only previewed, from spec, repository and policy: its refusals and its notices.
 * Does not read the machine or the change.
 */
export async function previewContract(
  plugins: RunPlugins,
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
  const check = openChecks((asked, fault) => refused.push(...refusalIssues(asked, fault)));
  const read = given(admitted);
  await checkSpec(check, builtInLedger(), read);
  const about = { plugins, request, place, runId: ofNoRun, kind: 'patch', who: 'worker' } as const;
  const found = resultsOf({ admitted: read, ...(await checkRepository(check, about, read)) });
  const added = (found.contract?.warnings ?? []).slice(admitted.warnings.length);
  return [...refused, ...added, ...noticesOf(found)];
}

function unasked(): never {
  throw new WritError('INTERNAL', { message: 'a contract alone makes nothing' });
}
