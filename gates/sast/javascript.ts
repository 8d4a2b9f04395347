import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { isDeclared, javascriptNames } from '../../readers/source/names/javascript-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { type Call, type CallRow, callOf, collectHits, type Hit, hitOf } from '../direct-eval/hits.ts';
import { sastHit } from './rows.ts';

const servers = /(?:^|\.)create(?:Secure)?Server$/;

/** What our rows say of JavaScript and TypeScript, under whatever name it was imported or given. */
export function javascriptSast(reading: Reading): readonly Hit[] {
  const { text, literal } = reading;
  const { behind, keyOf, option, reaches, ways } = javascriptNames(reading);
  const rows: readonly CallRow[] = [
    [/^#?crypto\.create(?:Cipher|Decipher)$/, 'sast/javascript-cipher-without-iv'],
    [/^(?:#jsonwebtoken|jwt|jsonwebtoken)\.(?:verify|sign)$/, 'sast/javascript-jwt-none', allowsNone],
  ];
  return collectHits(reading.tree, {
    call_expression(node) {
      const target = childOf(node, 'function');
      const hit = target && hitOf(rows, callOf(node, target), ways(target));
      return hit && !isDeclared(node)
        ? { ...hit, start: node.start, call: hit.call.replace('#', '') }
        : undefined;
    },
    pair(node) {
      const key = keyOf(childOf(node, 'key'));
      return isForServer(node) ? undefined : settingHit(node, key, childOf(node, 'value'), ':');
    },
    assignment_expression: assignmentHit,
    augmented_assignment_expression: assignmentHit,
  });

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left');
    const property = keyOf(childOf(left, 'property')) ?? literal(behind(childOf(left, 'index')));
    return settingHit(node, property, childOf(node, 'right'), ' =');
  }

  function settingHit(
    node: SyntaxNode,
    name: string | undefined,
    value: SyntaxNode | undefined,
    sign: string,
  ): Hit | undefined {
    const given = behind(value);
    const isOff = name === 'rejectUnauthorized' && given?.type === 'false';
    if (isDeclared(node) || !(isOff || (name === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(given) === '0')))
      return undefined;
    const call = `${name}${sign} ${isOff ? 'false' : '0'}`;
    return sastHit('sast/javascript-tls-unverified', node, call, sign === ':' && given ? [given.start] : []);
  }

  /** A server that does without its clients' certificates still proves its own identity. */
  function isForServer({ parent: object }: SyntaxNode): boolean {
    if (object?.children.some((one) => keyOf(childOf(one, 'key')) === 'requestCert')) return true;
    const target =
      object?.parent?.type === 'arguments' ? childOf(object.parent.parent, 'function') : undefined;
    return servers.test(text(target)) || reaches(target, servers) !== undefined;
  }

  function allowsNone({ given }: Call): boolean {
    return ['algorithms', 'algorithm'].some((name) => {
      const value = option(given, name);
      const values = value?.type === 'array' ? value.children : [value];
      return values.some((item) => literal(behind(item))?.toLowerCase() === 'none');
    });
  }
}
