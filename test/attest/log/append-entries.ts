/* A child process of the ledger tests: appends entries, one by one or in batches, and says so after each. */
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parsePrivateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { openLedger } from './ledger-fixture.ts';

const [root = '', name = '', count = '0', batch = '1'] = process.argv.slice(2);
const pem = readFileSync(join(root, 'key.pem'), 'utf8');
const signer = toSigner(parsePrivateKey(pem, 'ed25519', 'test'), false);
const ledger = openLedger({ root, directory: join(root, 'ledger'), signer });
const size = Number(batch);
for (let n = 0; n < Number(count); n += size) {
  if (size === 1) {
    const { logIndex } = await ledger.append(Buffer.from(`${name} ${n}`));
    writeSync(1, `${logIndex} ${name} ${n}\n`);
    continue;
  }
  const { start } = await ledger.appendAll(
    Array.from({ length: size }, (_, at) => Buffer.from(`${name} ${n + at}`)),
  );
  writeSync(1, `${start} ${name} ${n}\n`);
}
