import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { goNames } from '../../readers/source/names/go-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit } from '../direct-eval/hits.ts';
import { sastHit } from './rows.ts';

const ownVerification = /^Verify(?:PeerCertificate|Connection)$/;
const setting = 'InsecureSkipVerify';

/** What our rows say of Go. */
export function goSast(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const { names, ways } = goNames(reading);
  return collectHits(tree, {
    keyed_element(node) {
      if (text(childOf(node, 'key')) !== setting || !isTrue(childOf(node, 'value'))) return undefined;
      const isOwn = node.parent?.children.some((one) => ownVerification.test(text(childOf(one, 'key'))));
      return isOwn ? undefined : sastHit('sast/go-tls-unverified', node, `${setting}: true`);
    },
    assignment_statement(node) {
      const index = childOf(node, 'left')?.children.findIndex(
        (one) => text(childOf(one, 'field')) === setting,
      );
      return index !== undefined && isTrue(childOf(node, 'right')?.children[index])
        ? sastHit('sast/go-tls-unverified', node, `${setting} = true`)
        : undefined;
    },
    selector_expression(node) {
      if (text(childOf(node, 'field')) !== 'InsecureIgnoreHostKey') return undefined;
      const isSsh = ways(childOf(node, 'operand')).some(
        ({ path }) => path === 'golang.org/x/crypto/ssh' || (path === 'ssh' && !reading.isWhole),
      );
      return isSsh ? sastHit('sast/go-ssh-host-key', node, 'ssh.InsecureIgnoreHostKey') : undefined;
    },
  });

  /** Written so, or the only value of a name. */
  function isTrue(node: SyntaxNode | undefined): boolean {
    const inner = names.same(node);
    const given = inner ? names.bindingsOf(inner) : [];
    return (given.length === 1 ? given[0]?.value : inner)?.type === 'true';
  }
}
