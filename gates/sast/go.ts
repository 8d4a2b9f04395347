import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { SastRowId } from './rows.ts';
import type { SastHit } from './sast-row.ts';

const ownVerification = /^Verify(?:PeerCertificate|Connection)$/;

/** What our rows say of Go. */
export function goSast(reading: Reading): readonly SastHit[] {
  const { tree, text, literal } = reading;
  const packages = new Map<string, string>();
  /** Constants and variables that are `true` by their only value. */
  const values = new Map<string, SyntaxNode | undefined>();
  for (const node of tree.nodes) readNode(node);
  const hits: SastHit[] = [];
  for (const node of tree.nodes) {
    const hit = hitOf(node);
    if (hit) hits.push(hit);
  }
  return hits;

  function readNode(node: SyntaxNode): void {
    if (node.type === 'import_spec') {
      const path = literal(childOf(node, 'path')) ?? '';
      const alias = childOf(node, 'name');
      packages.set(alias ? text(alias) : path.slice(path.lastIndexOf('/') + 1), path);
    } else if (node.type === 'const_spec' || node.type === 'var_spec') {
      const given = childOf(node, 'value')?.children ?? [];
      node.children
        .filter(({ field }) => field === 'name')
        .forEach((name, index) => {
          give(text(name), given[index]);
        });
    } else if (node.type === 'short_var_declaration' || node.type === 'assignment_statement') {
      const right = childOf(node, 'right')?.children ?? [];
      (childOf(node, 'left')?.children ?? []).forEach((name, index) => {
        if (name.type === 'identifier') give(text(name), right[index]);
      });
    } else if (node.type === 'parameter_declaration') {
      for (const name of node.children) if (name.field === 'name') values.set(text(name), undefined);
    }
  }

  /** Two values under one name are as good as none. */
  function give(name: string, value: SyntaxNode | undefined): void {
    values.set(name, values.has(name) ? undefined : value);
  }

  function isTrue(node: SyntaxNode | undefined): boolean {
    const inner = node?.type === 'literal_element' ? node.children[0] : node;
    if (inner?.type === 'true') return true;
    return inner?.type === 'identifier' && values.get(text(inner))?.type === 'true';
  }

  function at(row: SastRowId, node: SyntaxNode, call: string): SastHit {
    return { row, start: node.start, end: node.end, call, why: '' };
  }

  function hitOf(node: SyntaxNode): SastHit | undefined {
    if (node.type === 'keyed_element') {
      if (text(childOf(node, 'key')) !== 'InsecureSkipVerify' || !isTrue(childOf(node, 'value')))
        return undefined;
      const isOwn = node.parent?.children.some((one) => ownVerification.test(text(childOf(one, 'key'))));
      return isOwn ? undefined : at('sast/go-tls-unverified', node, 'InsecureSkipVerify: true');
    }
    if (node.type === 'assignment_statement') {
      const left = childOf(node, 'left')?.children ?? [];
      const right = childOf(node, 'right')?.children ?? [];
      const index = left.findIndex(
        (one) => one.type === 'selector_expression' && text(childOf(one, 'field')) === 'InsecureSkipVerify',
      );
      return index >= 0 && isTrue(right[index])
        ? at('sast/go-tls-unverified', node, 'InsecureSkipVerify = true')
        : undefined;
    }
    if (node.type !== 'selector_expression') return undefined;
    const name = text(childOf(node, 'field'));
    if (name !== 'InsecureIgnoreHostKey') return undefined;
    const holder = text(childOf(node, 'operand'));
    const path = packages.get(holder);
    const isSsh =
      path === 'golang.org/x/crypto/ssh' || (path === undefined && holder === 'ssh' && !reading.isWhole);
    return isSsh ? at('sast/go-ssh-host-key', node, `ssh.${name}`) : undefined;
  }
}
