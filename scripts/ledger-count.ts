/* Printed after the tests: how much of the contract is enforced, and which part brings the rest. */
import { contractRows } from '../engine/spec/contract-rows.ts';
import { serviceRows } from '../test/ledger/service-rows.ts';

const later = new Map<string, number>();
for (const { enforcedBy, bringsIn } of contractRows) {
  if (enforcedBy === undefined) later.set(bringsIn ?? '', (later.get(bringsIn ?? '') ?? 0) + 1);
}
const enforced = contractRows.filter((row) => row.enforcedBy !== undefined).length;
const rest = [...later].map(([part, count]) => `${part} ${count}`).join(', ');
process.stdout.write(
  `contract ledger: ${enforced} / ${contractRows.length} rows enforced (later: ${rest}); of the service ${serviceRows.length} rows, each with its test\n`,
);
