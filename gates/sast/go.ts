import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { goNames } from '../../readers/source/names/go-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from '../direct-eval/hit.ts';
import { sastHit } from './rows.ts';

const ownVerification = /^Verify(?:PeerCertificate|Connection)$/;

/** What our rows say of Go. */
export function goSast(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const { names } = goNames(reading);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    const hit = hitOf(node);
    if (hit) hits.push(hit);
  }
  return hits;

  /** Written so, or the only value of a name. */
  function isTrue(node: SyntaxNode | undefined): boolean {
    const inner = names.same(node);
    const given = inner ? names.bindingsOf(inner) : [];
    return (given.length === 1 ? given[0]?.value : inner)?.type === 'true';
  }

  function hitOf(node: SyntaxNode): Hit | undefined {
    if (node.type === 'keyed_element') {
      if (text(childOf(node, 'key')) !== 'InsecureSkipVerify' || !isTrue(childOf(node, 'value')))
        return undefined;
      const isOwn = node.parent?.children.some((one) => ownVerification.test(text(childOf(one, 'key'))));
      return isOwn ? undefined : sastHit('sast/go-tls-unverified', node, 'InsecureSkipVerify: true');
    }
    if (node.type === 'assignment_statement') {
      const left = childOf(node, 'left')?.children ?? [];
      const right = childOf(node, 'right')?.children ?? [];
      const index = left.findIndex(
        (one) => one.type === 'selector_expression' && text(childOf(one, 'field')) === 'InsecureSkipVerify',
      );
      return index >= 0 && isTrue(right[index])
        ? sastHit('sast/go-tls-unverified', node, 'InsecureSkipVerify = true')
        : undefined;
    }
    if (node.type !== 'selector_expression') return undefined;
    const name = text(childOf(node, 'field'));
    if (name !== 'InsecureIgnoreHostKey') return undefined;
    const holder = text(childOf(node, 'operand'));
    const path = names.find(holder, node)?.find((one) => one.path)?.path;
    const isSsh =
      path === 'golang.org/x/crypto/ssh' || (path === undefined && holder === 'ssh' && !reading.isWhole);
    return isSsh ? sastHit('sast/go-ssh-host-key', node, `ssh.${name}`) : undefined;
  }
}
