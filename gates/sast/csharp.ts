import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { csharpNames } from '../../readers/source/names/csharp-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from '../direct-eval/hit.ts';
import { sastHit } from './rows.ts';

const formatters =
  /^(?:BinaryFormatter|NetDataContractSerializer|SoapFormatter|LosFormatter|ObjectStateFormatter)$/;
const callbacks = /^(?:ServerCertificate(?:Custom)?ValidationCallback|RemoteCertificateValidationCallback)$/;
const maxDepth = 12;

/** What our rows say of C#. */
export function csharpSast(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const { behind, methods, simple, typesOf } = csharpNames(reading);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    const hit = hitOf(node);
    if (hit) hits.push(hit);
  }
  return hits;

  function hitOf(node: SyntaxNode): Hit | undefined {
    if (node.type === 'invocation_expression') {
      const target = childOf(node, 'function');
      if (target?.type !== 'member_access_expression') return undefined;
      const word = text(childOf(target, 'name'));
      if (!/^(?:Unsafe)?Deserialize(?:MethodResponse)?$/.test(word)) return undefined;
      const type = typesOf(childOf(target, 'expression')).find((one) => formatters.test(one));
      return type !== undefined
        ? sastHit('sast/csharp-unsafe-deserialization', node, `${type}.${word}`)
        : undefined;
    }
    if (node.type === 'assignment_expression') {
      const left = childOf(node, 'left');
      const name = text(left?.type === 'member_access_expression' ? childOf(left, 'name') : left);
      return callbacks.test(name) && takesAny(childOf(node, 'right'))
        ? sastHit('sast/csharp-tls-unverified', node, name)
        : undefined;
    }
    if (node.type !== 'object_creation_expression') return undefined;
    const type = simple(text(childOf(node, 'type')));
    const list = argumentsOf(node);
    // `new SslStream(stream, false, (a, b, c, d) => true)`.
    const given =
      type === 'SslStream' ? list[2] : type === 'RemoteCertificateValidationCallback' ? list[0] : undefined;
    return given && takesAny(given) && !isAssigned(node)
      ? sastHit('sast/csharp-tls-unverified', node, type)
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
        return takesAny(argumentsOf(node)[0], depth + 1);
      case 'member_access_expression': {
        const name = text(childOf(node, 'name'));
        return (
          name === 'DangerousAcceptAnyServerCertificateValidator' ||
          isOnlyTrue(childOf(methods.get(name), 'body'))
        );
      }
      case 'identifier': {
        const value = behind(node);
        return value !== node
          ? takesAny(value, depth + 1)
          : isOnlyTrue(childOf(methods.get(text(node)), 'body'));
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
