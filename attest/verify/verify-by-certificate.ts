import { isWritError } from '../../core/base/errors.ts';
import type { AnyBundle } from '../bundle/any-bundle.ts';
import type { Anchors } from './anchors.ts';
import { maySignStatements, readCertificateClaims } from './certificate-claims.ts';
import type { CheckList } from './check-list.ts';
import type { Signed } from './judge-signature.ts';
import { unavailable } from './report.ts';
import { type SigstoreProof, verifyWithSigstore } from './verify-with-sigstore.ts';

/**
 * Chain, time, logs and signature by the sigstore library; whose certificate it must be is compared here, literally.
 * Returns what was proven where all of it holds; what is missing of a log (`logRequired`, or a ledger that was given)
 * speaks for itself.
 */
export async function verifyByCertificate(
  list: CheckList,
  bundle: AnyBundle,
  der: Buffer,
  anchors: Anchors,
  signed: Signed,
  logRequired = false,
): Promise<SigstoreProof | undefined> {
  const { trustedRoot: root, identity: wanted } = anchors;
  const { identity = 'none', issuer = 'none' } = readCertificateClaims(der);
  let proven: SigstoreProof | undefined;
  let fault: unknown;
  try {
    if (root === undefined || wanted === undefined)
      throw unavailable('untrusted-signer', {
        expected: '`--trusted-root FILE`, `--identity` and `--issuer`',
        identity,
        issuer,
      });
    const shown = await verifyWithSigstore(bundle, { root, signed });
    if (!maySignStatements(der))
      throw unavailable('untrusted-signer', {
        found: 'a certificate that is not for code signing',
        identity,
        issuer,
      });
    proven = shown;
  } catch (thrown) {
    fault = thrown;
  }
  if (proven === undefined) {
    const refused = (): never => {
      throw fault;
    };
    await list.judge(isWritError(fault) && fault.detail.at === 'log' ? 'log' : 'signature', refused);
    return undefined;
  }
  // The library read the certificate by itself; ours must agree.
  const found = { identity, issuer: proven.issuer === issuer ? issuer : 'none' };
  list.settle('signature', 'passed', undefined, found);
  const ledgers = anchors.ledgers.filter(({ from }) => from === 'given');
  // Entries of our ledgers are by keys: none of them is of what a certificate signs.
  if (ledgers.length > 0)
    list.settle('log', 'missing', 'not-logged', { expected: ledgers.map(({ name }) => name) });
  else if (proven.root.tlogs.length === 0 && logRequired) list.settle('log', 'missing', 'not-logged');
  else if (proven.root.tlogs.length === 0) list.waive('log', 'not-required');
  else list.settle('log', 'passed', undefined, { entries: proven.entries });
  const isSame = await list.judge('identity', () => {
    for (const name of ['identity', 'issuer'] as const) {
      if (found[name] === 'none' || found[name] !== wanted?.[name])
        throw unavailable('untrusted-signer', {
          expected: [wanted?.identity ?? '', wanted?.issuer ?? ''],
          found: [found.identity, found.issuer],
        });
    }
    return true;
  });
  if (isSame !== true) return undefined;
  list.grounds.signer = found;
  return proven;
}
