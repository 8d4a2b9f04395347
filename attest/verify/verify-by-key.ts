import type { KeyObject } from 'node:crypto';
import type { AnyBundle, HintedSignature } from '../bundle/any-bundle.ts';
import { type Anchors, type SigningAnchor, signerNamed, signersFor } from './anchors.ts';
import type { CheckList } from './check-list.ts';
import { judgeSignature, type Signed } from './judge-signature.ts';
import { refuted, unavailable } from './report.ts';

/**
 * Requires that one of the signatures is by a key that is believed, and gives that key. Signatures of others say
 * nothing, either way: hints name keys, and nobody vouches for a hint. Refuted is only what names a believed key that
 * did not sign, where no other believed key did.
 */
export async function verifyByKey(
  list: CheckList,
  bundle: AnyBundle,
  anchors: Anchors,
  signed: Signed,
): Promise<KeyObject | undefined> {
  const signer = await list.judge(
    'signature',
    () => findSigner(signaturesOf(bundle), anchors, signed),
    (anchor) => ({ key_id: anchor.keyId, anchor: anchor.from }),
  );
  if (signer) list.grounds.signer = { key_id: signer.keyId, anchor: signer.from };
  return signer?.key;
}

function signaturesOf({ content, material }: AnyBundle): readonly HintedSignature[] {
  const outer = material.kind === 'key' ? material.hint : '';
  if (content.kind === 'message') return [{ hint: outer, signature: content.signature }];
  const [first, ...more] = content.signatures;
  return [{ ...first, hint: first.hint || outer }, ...more];
}

function findSigner(signatures: readonly HintedSignature[], anchors: Anchors, signed: Signed): SigningAnchor {
  const tried = new Set<string>();
  let isUnjudged = false;
  for (const { hint, signature } of signatures) {
    for (const anchor of signersFor(anchors, hint)) {
      tried.add(anchor.keyId);
      const verdict = judgeSignature(anchor.key, signed, signature);
      if (verdict === 'holds') return anchor;
      if (verdict === 'cannot') isUnjudged = true;
    }
  }
  if (isUnjudged)
    throw unavailable('missing', {
      expected: 'the artifact as a file: nothing can be said of this signature by these digests',
    });
  const named = signatures
    .map(({ hint }) => signerNamed(anchors, hint))
    .find((anchor) => anchor !== undefined);
  if (named) throw refuted('bad-signature', { key_id: named.keyId });
  throw unavailable('untrusted-signer', {
    key_id: signatures.map(({ hint }) => hint).join(' '),
    tried: [...tried],
  });
}
