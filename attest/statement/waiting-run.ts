import { sha256Hex } from '../../core/base/digest.ts';
import { type Statement, statementType } from './statement.ts';

export const waitingRunType = 'urn:writ:predicate:waiting-run:v1';

/** Says what a runner left for others to go on from: its journal and its gate report, by digest. */
type WaitingRunStatement = Statement<typeof waitingRunType, { readonly run_id: string }>;

/** The statement over these files; the same files give the same statement. */
export function buildWaitingRun(runId: string, files: ReadonlyMap<string, Uint8Array>): WaitingRunStatement {
  return {
    _type: statementType,
    subject: [...files].map(([name, bytes]) => ({ name, digest: { sha256: sha256Hex(bytes) } })),
    predicateType: waitingRunType,
    predicate: { run_id: runId },
  };
}
