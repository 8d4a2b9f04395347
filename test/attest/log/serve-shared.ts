/* A child process of the tests: serves the shared ledger of a place until stdin ends. */
import { writeSync } from 'node:fs';
import { acceptEntries, serveLedger } from '../../../attest/log/serve-ledger.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openShared, openSharedPlace, policyOf } from './shared-fixture.ts';

const [root = '', policy = ''] = process.argv.slice(2);
const place = openSharedPlace(root);
const ledger = await openShared(place, policy === '' ? undefined : policyOf(policy.split('\n')));
const add = acceptEntries(place.directory, ledger, systemClock, () => undefined);
const server = await serveLedger(ledger.read, { port: 0, add, maxConnections: 4_096 });
writeSync(1, `${server.url}\n`);
process.stdin.resume().once('end', async () => {
  await ledger.close();
  await server.close();
});
