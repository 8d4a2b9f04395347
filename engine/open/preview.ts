import { WritError } from '../../core/base/errors.ts';
import { type Issue, warning } from '../../core/interfaces/finding.ts';
import { builtInLedger } from '../../spec/built-in-ledger.ts';
import { contractRows } from '../../spec/contract-rows.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { logUnusedCode, logWithoutUse } from '../state/checks.ts';
import type { RunPlugins } from './open-parties.ts';
import {
  checkSpec,
  given,
  type OpeningCheck,
  type OpeningPlace,
  type OpeningRequest,
  openChecks,
  resultsOf,
} from './opening.ts';

/** Returns warnings about any run of a spec with the built-in plugins, without reading a repository. */
export async function contractIssues(admitted: AdmittedContract): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  const check = openChecks((asked, fault) => refused.push(...refusalIssues(asked, fault)));
  await checkSpec(check, builtInLedger(), given(admitted));
  return [
    ...refused,
    ...logWithoutUse(admitted.effective).map((words) =>
      warning(logUnusedCode, '/provenance/transparencyLog/mode', words),
    ),
  ];
}

/**
 * Converts a run's refusal to warnings for a user who validates the spec, because the document itself may be valid.
 * One warning for each unenforced row, and for each issue that the refusal names.
 */
function refusalIssues({ about }: OpeningCheck, { code, message, detail }: WritError): readonly Issue[] {
  const words = (what: string): string => `${what}; a run is refused`;
  if (code === 'SPEC_UNENFORCED') {
    const rows = new Set(detail.rows as readonly string[]);
    return contractRows
      .filter(({ id }) => rows.has(id))
      .map(({ id, path, rule }) =>
        warning(code, path.replace(/\/\*.*$/, ''), words(`nothing loaded here enforces \`${id}\` (${rule})`)),
      );
  }
  if (code === 'INTENTSPEC_INVALID')
    return (detail.issues as readonly Issue[]).map((issue) =>
      warning(issue.code, issue.path, words(issue.message)),
    );
  return [warning(code, about, words(message))];
}

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
  // `contractIssues` needs none of these.
  const [{ keepObjectReaders }, { noticesOf }, { checkRepository }] = await Promise.all([
    import('../../workspace/git/object-reader.ts'),
    import('./plan-environment.ts'),
    import('./repository-checks.ts'),
  ]);
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
