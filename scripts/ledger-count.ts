/* Printed after the tests: how much of the contract is enforced, and which part brings the rest. */
import { contractRows } from '../spec/contract-rows.ts';
import { readProofs } from '../test/ledger/pairs/pair.ts';
import { serviceRows } from '../test/ledger/service-rows.ts';
import { sessionRest } from '../test/ledger/session-rows/rest.ts';
import { sessionRows } from '../test/ledger/session-rows/session-rows.ts';

const later = new Map<string, number>();
for (const { enforcedBy, bringsIn } of contractRows) {
  if (enforcedBy === undefined) later.set(bringsIn ?? '', (later.get(bringsIn ?? '') ?? 0) + 1);
}
const enforced = contractRows.filter((row) => row.enforcedBy !== undefined).length;
const parts = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([part, count]) => `${part} ${count}`).join(', ');
const ofSession = new Map<string, number>();
for (const { later: part } of sessionRest) ofSession.set(part, (ofSession.get(part) ?? 0) + 1);
const proofs = readProofs();
const ordinary = proofs.filter(([, proof]) => 'test' in proof).length;
process.stdout.write(
  `contract ledger: ${enforced} / ${contractRows.length} rows enforced (later: ${parts(later)}), ${proofs.length - ordinary} by a pair of specs, ${ordinary} by a test; of the service ${serviceRows.length} rows, each with its test; of the session ${sessionRows.length} rows, each with its test (rest: ${parts(ofSession)})\n`,
);
