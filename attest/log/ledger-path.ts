import { join } from 'node:path';

/** Below a repository's common directory: the ledger that all its work trees share. */
export const ledgerPath = join('writ', 'ledger');
