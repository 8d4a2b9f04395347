import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { isDeclared, javascriptNames, unescaped } from '../../readers/source/names/javascript-names.ts';
import { originsOf } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from '../direct-eval/hit.ts';
import { type SastRowId, sastHit } from './rows.ts';

const ciphers = /^(?:#?crypto)\.(createCipher|createDecipher)$/;
const tokens = /^(?:#jsonwebtoken|jwt|jsonwebtoken)\.(?:verify|sign)$/;
const servers = /(?:^|\.)create(?:Secure)?Server$/;
/** What our rows say of JavaScript and TypeScript, under whatever name it was imported or taken. */
export function javascriptSast(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const names = javascriptNames(reading);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    const hit = hitOf(node);
    if (hit && !isDeclared(node)) hits.push(hit);
  }
  return hits;

  function hitOf(node: SyntaxNode): Hit | undefined {
    switch (node.type) {
      case 'pair':
        return pairHit(node);
      case 'assignment_expression':
      case 'augmented_assignment_expression':
        return assignmentHit(node);
      case 'call_expression':
        return callHit(node);
    }
    return undefined;
  }

  function keyOf(node: SyntaxNode | undefined): string | undefined {
    if (node?.type === 'computed_property_name') return literal(names.behind(node.children[0]));
    return node && (literal(node) ?? unescaped(text(node)));
  }

  function pairHit(node: SyntaxNode): Hit | undefined {
    const key = keyOf(childOf(node, 'key'));
    const given = names.behind(childOf(node, 'value'));
    if (key === 'rejectUnauthorized' && given?.type === 'false' && !isForServer(node))
      return sastHit('sast/javascript-tls-unverified', node, 'rejectUnauthorized: false', [given.start]);
    if (key === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(given) === '0')
      return sastHit('sast/javascript-tls-unverified', node, `${key}: 0`);
    return undefined;
  }

  /** A server that does without its clients' certificates still proves who it is. */
  function isForServer(node: SyntaxNode): boolean {
    const object = node.parent;
    const asks = object?.children.some(
      (one) => one.type === 'pair' && keyOf(childOf(one, 'key')) === 'requestCert',
    );
    const call = object?.parent?.type === 'arguments' ? object.parent.parent : undefined;
    return (
      asks === true ||
      servers.test(text(childOf(call, 'function'))) ||
      names.reaches(childOf(call, 'function'), servers) !== undefined
    );
  }

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left');
    const right = childOf(node, 'right');
    if (!left || !right || !/^(?:member|subscript)_expression$/.test(left.type)) return undefined;
    const property = propertyOf(left);
    if (property === 'rejectUnauthorized' && names.behind(right)?.type === 'false')
      return sastHit('sast/javascript-tls-unverified', node, 'rejectUnauthorized = false');
    if (property === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(names.behind(right)) === '0')
      return sastHit('sast/javascript-tls-unverified', node, `${property} = 0`);
    return undefined;
  }

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const list = childOf(node, 'arguments');
    if (!target || list?.type !== 'arguments') return undefined;
    const given = list.children.filter(({ type }) => type !== 'comment');
    for (const way of names.ways(target)) {
      const { path } = way;
      const hit = (row: SastRowId) => sastHit(row, node, path.replace('#', ''), originsOf(way));
      if (ciphers.test(path) && given.length > 0) return hit('sast/javascript-cipher-without-iv');
      if (tokens.test(path) && given.some((one) => allowsNone(names.behind(one))))
        return hit('sast/javascript-jwt-none');
    }
    return undefined;
  }

  function allowsNone(options: SyntaxNode | undefined): boolean {
    if (options?.type !== 'object') return false;
    return options.children.some((one) => {
      const key = one.type === 'pair' ? keyOf(childOf(one, 'key')) : undefined;
      if (key !== 'algorithms' && key !== 'algorithm') return false;
      const value = names.behind(childOf(one, 'value'));
      const values = value?.type === 'array' ? value.children : value ? [value] : [];
      return values.some((item) => literal(names.behind(item))?.toLowerCase() === 'none');
    });
  }

  function propertyOf(node: SyntaxNode): string | undefined {
    if (node.type === 'member_expression') return unescaped(text(childOf(node, 'property')));
    if (node.type !== 'subscript_expression') return undefined;
    return literal(names.behind(childOf(node, 'index')));
  }
}
