import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { Names } from '../../readers/source/names/names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { SastRowId } from './rows.ts';
import type { SastHit } from './sast-row.ts';

const opens = [
  'class_declaration',
  'struct_declaration',
  'record_declaration',
  'method_declaration',
  'constructor_declaration',
  'local_function_statement',
  'lambda_expression',
  'anonymous_method_expression',
  'block',
  'for_statement',
  'foreach_statement',
  'using_statement',
  'catch_clause',
];
const formatters =
  /^(?:BinaryFormatter|NetDataContractSerializer|SoapFormatter|LosFormatter|ObjectStateFormatter)$/;
const callbacks = /^(?:ServerCertificate(?:Custom)?ValidationCallback|RemoteCertificateValidationCallback)$/;
const maxDepth = 12;

/** What our rows say of C#. */
export function csharpSast(reading: Reading): readonly SastHit[] {
  const { tree, text } = reading;
  const names = new Names(opens);
  const aliases = new Map<string, string>();
  /** Methods and local functions by name; `undefined` where two share one. */
  const methods = new Map<string, SyntaxNode | undefined>();
  for (const node of tree.nodes) readNode(node);
  const hits: SastHit[] = [];
  for (const node of tree.nodes) {
    const hit = hitOf(node);
    if (hit) hits.push(hit);
  }
  return hits;

  function readNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'using_directive': {
        const alias = childOf(node, 'name');
        if (alias && node.children.length > 1)
          aliases.set(text(alias), simple(text(node.children.find((child) => child !== alias))));
        return;
      }
      case 'variable_declarator': {
        const name = childOf(node, 'name');
        const value = node.children.find(
          (child) => child !== name && child.type !== 'bracketed_argument_list',
        );
        const type = text(childOf(node.parent, 'type'));
        if (name) names.give(names.scopeOf(node), text(name), { value, type, at: name.start });
        return;
      }
      case 'parameter': {
        const name = childOf(node, 'name');
        const type = text(childOf(node, 'type'));
        if (name) names.give(names.scopeOf(node), text(name), { type, at: name.start });
        return;
      }
      case 'method_declaration':
      case 'local_function_statement': {
        const name = text(childOf(node, 'name'));
        methods.set(name, methods.has(name) ? undefined : node);
      }
    }
  }

  function simple(type: string): string {
    const name = type.replace(/<.*$/s, '').replace(/[\s?]/g, '');
    const last = name.slice(name.lastIndexOf('.') + 1);
    return aliases.get(last) ?? last;
  }

  function typeOf(node: SyntaxNode | undefined, depth = 0): string | undefined {
    if (!node || depth > maxDepth) return undefined;
    switch (node.type) {
      case 'parenthesized_expression':
        return typeOf(node.children[0], depth + 1);
      case 'object_creation_expression':
      case 'cast_expression':
        return simple(text(childOf(node, 'type')));
      case 'implicit_object_creation_expression':
        return undefined;
      case 'member_access_expression':
        return text(childOf(node, 'expression')) === 'this'
          ? typeOfName(text(childOf(node, 'name')), node, depth)
          : undefined;
      case 'identifier':
        return typeOfName(text(node), node, depth);
    }
    return undefined;
  }

  function typeOfName(name: string, from: SyntaxNode, depth: number): string | undefined {
    for (const { type, value } of names.find(name, from) ?? []) {
      if (type !== undefined && type !== '' && type !== 'var') {
        const found = simple(type);
        if (formatters.test(found) || !value) return found;
      }
      const found = typeOf(value, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function at(row: SastRowId, node: SyntaxNode, call: string): SastHit {
    return { row, start: node.start, end: node.end, call, why: '' };
  }

  function hitOf(node: SyntaxNode): SastHit | undefined {
    if (node.type === 'invocation_expression') {
      const target = childOf(node, 'function');
      if (target?.type !== 'member_access_expression') return undefined;
      const word = text(childOf(target, 'name'));
      if (!/^(?:Unsafe)?Deserialize(?:MethodResponse)?$/.test(word)) return undefined;
      const type = typeOf(childOf(target, 'expression'));
      return type !== undefined && formatters.test(type)
        ? at('sast/csharp-unsafe-deserialization', node, `${type}.${word}`)
        : undefined;
    }
    if (node.type === 'assignment_expression') {
      const left = childOf(node, 'left');
      const name = text(left?.type === 'member_access_expression' ? childOf(left, 'name') : left);
      return callbacks.test(name) && takesAny(childOf(node, 'right'))
        ? at('sast/csharp-tls-unverified', node, name)
        : undefined;
    }
    if (node.type !== 'object_creation_expression') return undefined;
    const type = simple(text(childOf(node, 'type')));
    const list = childOf(node, 'arguments')?.children ?? [];
    // `new SslStream(stream, false, (a, b, c, d) => true)`.
    const given =
      type === 'SslStream' ? list[2] : type === 'RemoteCertificateValidationCallback' ? list[0] : undefined;
    return given && takesAny(given.children.at(-1)) && !isAssigned(node)
      ? at('sast/csharp-tls-unverified', node, type)
      : undefined;
  }

  /** Then the assignment is the place. */
  function isAssigned(node: SyntaxNode): boolean {
    const left = node.parent?.type === 'assignment_expression' ? childOf(node.parent, 'left') : undefined;
    return (
      left !== undefined &&
      callbacks.test(text(left.type === 'member_access_expression' ? childOf(left, 'name') : left))
    );
  }

  function takesAny(node: SyntaxNode | undefined, depth = 0): boolean {
    if (!node || depth > maxDepth) return false;
    switch (node.type) {
      case 'lambda_expression':
        return isOnlyTrue(childOf(node, 'body'));
      case 'anonymous_method_expression':
        return isOnlyTrue(node.children.find(({ type }) => type === 'block'));
      case 'object_creation_expression':
        return takesAny(childOf(node, 'arguments')?.children[0]?.children.at(-1), depth + 1);
      case 'member_access_expression': {
        const name = text(childOf(node, 'name'));
        return (
          name === 'DangerousAcceptAnyServerCertificateValidator' ||
          isOnlyTrue(childOf(methods.get(name), 'body'))
        );
      }
      case 'identifier': {
        const value = names.find(text(node), node)?.find((one) => one.value)?.value;
        return value ? takesAny(value, depth + 1) : isOnlyTrue(childOf(methods.get(text(node)), 'body'));
      }
    }
    return false;
  }

  function isOnlyTrue(body: SyntaxNode | undefined): boolean {
    const parts = body?.children.filter(({ type }) => type !== 'comment') ?? [];
    const [only] = parts;
    if (body?.type === 'boolean_literal') return text(body) === 'true';
    if (parts.length !== 1 || !only) return false;
    if (body?.type === 'arrow_expression_clause') return text(only) === 'true';
    return body?.type === 'block' && only.type === 'return_statement' && text(only.children[0]) === 'true';
  }
}
