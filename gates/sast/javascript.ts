import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { isDeclared, javascriptNames, unescaped } from '../../readers/source/names/javascript-names.ts';
import { originsOf } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { SastRowId } from './rows.ts';
import type { SastHit } from './sast-row.ts';

const ciphers = /^(?:#?crypto)\.(createCipher|createDecipher)$/;
const tokens = /^(?:#jsonwebtoken|jwt|jsonwebtoken)\.(?:verify|sign)$/;
const servers = /(?:^|\.)create(?:Secure)?Server$/;
const cleaners = /saniti[sz]e|escape|purify|^encode|createHTML$|^(?:Number|parseInt|parseFloat)$/i;
const plainValues = /^(?:number|true|false|null|undefined)$/;
const maxDepth = 24;

/** What our rows say of JavaScript and TypeScript, under whatever name it was imported or taken. */
export function javascriptSast(reading: Reading): readonly SastHit[] {
  const { tree, text, literal } = reading;
  const names = javascriptNames(reading);
  /** Names that are given another value after their declaration. */
  const changed = new Set<string>();
  for (const node of tree.nodes) {
    const left = node.type.endsWith('assignment_expression') ? childOf(node, 'left') : undefined;
    if (left?.type === 'identifier') changed.add(text(left));
  }
  const hits: SastHit[] = [];
  for (const node of tree.nodes) {
    const hit = hitOf(node);
    if (hit && !isDeclared(node)) hits.push(hit);
  }
  return hits;

  function hitOf(node: SyntaxNode): SastHit | undefined {
    switch (node.type) {
      case 'pair':
        return pairHit(node);
      case 'assignment_expression':
      case 'augmented_assignment_expression':
        return assignmentHit(node);
      case 'call_expression':
        return callHit(node);
      case 'jsx_attribute':
        return attributeHit(node);
    }
    return undefined;
  }

  function at(row: SastRowId, node: SyntaxNode, call: string, also: readonly number[] = []): SastHit {
    return { row, start: node.start, end: node.end, also, call, why: '' };
  }

  function keyOf(node: SyntaxNode | undefined): string | undefined {
    if (node?.type === 'computed_property_name') return literal(names.behind(node.children[0]));
    return node && (literal(node) ?? unescaped(text(node)));
  }

  function pairHit(node: SyntaxNode): SastHit | undefined {
    const key = keyOf(childOf(node, 'key'));
    const value = childOf(node, 'value');
    const given = names.behind(value);
    if (key === 'rejectUnauthorized' && given?.type === 'false' && !isForServer(node))
      return at('sast/javascript-tls-unverified', node, 'rejectUnauthorized: false', [given.start]);
    if (key === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(given) === '0')
      return at('sast/javascript-tls-unverified', node, `${key}: 0`);
    if (key === '__html' && !isSafe(value)) return at('sast/javascript-dangerous-html', node, '__html');
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

  function assignmentHit(node: SyntaxNode): SastHit | undefined {
    const left = childOf(node, 'left');
    const right = childOf(node, 'right');
    if (!left || !right || !/^(?:member|subscript)_expression$/.test(left.type)) return undefined;
    const property = propertyOf(left);
    if (property === 'innerHTML' || property === 'outerHTML')
      return isSafe(right) ? undefined : at('sast/javascript-html-sink', node, property);
    if (property === 'rejectUnauthorized' && names.behind(right)?.type === 'false')
      return at('sast/javascript-tls-unverified', node, 'rejectUnauthorized = false');
    if (property === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(names.behind(right)) === '0')
      return at('sast/javascript-tls-unverified', node, `${property} = 0`);
    return undefined;
  }

  function callHit(node: SyntaxNode): SastHit | undefined {
    const target = childOf(node, 'function');
    const list = childOf(node, 'arguments');
    if (!target || list?.type !== 'arguments') return undefined;
    const given = list.children.filter(({ type }) => type !== 'comment');
    const property = propertyOf(target);
    if (property === 'insertAdjacentHTML' && given.length > 1 && !isSafe(given[1]))
      return at('sast/javascript-html-sink', node, property);
    for (const way of names.ways(target)) {
      const { path } = way;
      const hit = (row: SastRowId) => at(row, node, path.replace('#', ''), originsOf(way));
      if (/^document\.write(?:ln)?$/.test(path) && given.some((one) => !isSafe(one)))
        return hit('sast/javascript-html-sink');
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

  /** `dangerouslySetInnerHTML={markup}`; an object that is written down is judged by its own `__html`. */
  function attributeHit(node: SyntaxNode): SastHit | undefined {
    const [name, holder] = node.children;
    if (text(name) !== 'dangerouslySetInnerHTML' || !holder) return undefined;
    const value = holder.type === 'jsx_expression' ? names.behind(holder.children[0]) : undefined;
    if (!value || value.type === 'object' || isSafe(value)) return undefined;
    return at('sast/javascript-dangerous-html', node, 'dangerouslySetInnerHTML');
  }

  function propertyOf(node: SyntaxNode): string | undefined {
    if (node.type === 'member_expression') return unescaped(text(childOf(node, 'property')));
    if (node.type !== 'subscript_expression') return undefined;
    return literal(names.behind(childOf(node, 'index')));
  }

  /** Written down in the source, made safe by a function that says so, or a choice among such. */
  function isSafe(node: SyntaxNode | undefined, depth = 0): boolean {
    if (!node || depth > maxDepth) return false;
    if (literal(node) !== undefined || plainValues.test(node.type)) return true;
    switch (node.type) {
      case 'identifier': {
        const value = names.behind(node);
        if (!value || value === node || changed.has(text(node)) || value.type === 'identifier') return false;
        // Where only pieces of a file are seen, a variable may be given something else out of sight.
        return (isConstant(value) || reading.isWhole) && isSafe(value, depth + 1);
      }
      case 'parenthesized_expression':
      case 'as_expression':
      case 'non_null_expression':
      case 'await_expression':
        return isSafe(node.children[0], depth + 1);
      case 'assignment_expression':
        return isSafe(childOf(node, 'right'), depth + 1);
      case 'ternary_expression':
        return node.children.slice(1).every((one) => isSafe(one, depth + 1));
      case 'binary_expression':
        return node.children.every((one) => isSafe(one, depth + 1));
      case 'template_string':
        return node.children.every(
          (one) => one.type !== 'template_substitution' || isSafe(one.children[0], depth + 1),
        );
      case 'call_expression': {
        const target = childOf(node, 'function');
        const name = target && (propertyOf(target) ?? text(target));
        return (
          cleaners.test(name ?? '') ||
          names.ways(target).some(({ path }) => /purify|saniti[sz]e|escape/i.test(path))
        );
      }
    }
    return false;
  }

  function isConstant(value: SyntaxNode): boolean {
    const { parent } = value;
    return parent?.type === 'variable_declarator' && text(parent.parent).startsWith('const');
  }
}
