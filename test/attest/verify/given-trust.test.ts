import { createPublicKey } from 'node:crypto';
import t from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { toAnchors } from '../../../attest/verify/anchors.ts';
import { makeFoundry } from '../material/foundry.ts';

const pem = toSigner(generateKey('ed25519'), false).publicKeyPem;
const ledger = ledgerKeyFor('log.example/one', createPublicKey(pem));
const identity = { identity: 'https://example.org/builder', issuer: 'https://issuer.example.org' };

t.test('given keys, logs, policies and a root are the only trust anchors', async (t) => {
  t.strictSame(await toAnchors({}), { signers: [], ledgers: [], ownLedgers: [] });
  const { root } = await makeFoundry();
  const { vkey } = ledger;
  const all = await toAnchors({
    keys: [`${pem}${pem}`, pem],
    ledgerKeys: [vkey],
    witnessPolicies: [`log ${vkey}\nquorum none\n`],
    trustedRoot: JSON.stringify(root),
  });
  t.equal(all.signers.length, 3, 'one text may hold several keys');
  t.match(all.ledgers[0], { name: 'log.example/one', from: 'given' });
  t.equal(all.witnessPolicies?.length, 1);
  t.ok(all.trustedRoot);
  t.equal(all.identity, undefined);
  const named = await toAnchors({ trustedRoot: JSON.stringify(root), identity });
  t.strictSame(named.identity, identity);
  const both = await toAnchors({ trustedRoot: JSON.stringify(root), identity, keys: [pem] });
  t.match(both, { identity, signers: [{ from: 'given' }] }, 'a key and an identity together');
});

t.test('an unusable or incomplete trust anchor is refused with its name', async (t) => {
  const rows: readonly (readonly [trust: Parameters<typeof toAnchors>[0], anchor: string])[] = [
    [{ keys: [pem, 'none'] }, 'keys[1]'],
    [{ ledgerKeys: ['none'] }, 'ledgerKeys[0]'],
    [{ witnessPolicies: ['none'] }, 'witnessPolicies[0]'],
    [{ trustedRoot: '{}' }, 'trustedRoot'],
    [{ identity }, 'identity'],
  ];
  for (const [trust, anchor] of rows)
    await t.rejects(toAnchors(trust), { code: 'ANCHOR_UNUSABLE', detail: { anchor } }, anchor);
});
