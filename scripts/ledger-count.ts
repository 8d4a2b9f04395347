/* Printed after the tests: by what the rows of the contract, the service and the session are shown. */
import { contractRows } from '../spec/contract-rows.ts';
import { readProofs } from '../test/ledger/pairs/pair.ts';
import { serviceRows } from '../test/ledger/service-rows.ts';
import { sessionRest } from '../test/ledger/session-rows/rest.ts';
import { sessionRows } from '../test/ledger/session-rows/session-rows.ts';

const parts = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([part, count]) => `${part} ${count}`).join(', ');
const ofSession = new Map<string, number>();
for (const { later: part } of sessionRest) ofSession.set(part, (ofSession.get(part) ?? 0) + 1);
const proofs = readProofs();
const ordinary = proofs.filter(([, proof]) => 'test' in proof).length;
process.stdout.write(
  `contract ledger: ${contractRows.length} rows, each enforced, ${proofs.length - ordinary} by a pair of specs, ${ordinary} by a test; of the service ${serviceRows.length} rows, each with its test; of the session ${sessionRows.length} rows, each with its test (rest: ${parts(ofSession)})\n`,
);
