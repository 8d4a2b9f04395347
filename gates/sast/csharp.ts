import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { csharpNames } from '../../readers/source/names/csharp-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit } from '../direct-eval/hits.ts';
import { sastHit } from './rows.ts';

const formatters =
  /^(?:BinaryFormatter|NetDataContractSerializer|SoapFormatter|LosFormatter|ObjectStateFormatter)$/;
const callbacks = /^(?:ServerCertificate(?:Custom)?ValidationCallback|RemoteCertificateValidationCallback)$/;
const maxDepth = 12;

/** What our rows say of C#. */
export function csharpSast(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const { behind, methods, simple, typesOf } = csharpNames(reading);
  return collectHits(tree, {
    invocation_expression(node) {
      const target = childOf(node, 'function');
      const word = target?.type === 'member_access_expression' ? text(childOf(target, 'name')) : '';
      if (!/^(?:Unsafe)?Deserialize(?:MethodResponse)?$/.test(word)) return undefined;
      const type = typesOf(childOf(target, 'expression')).find((one) => formatters.test(one));
      return type === undefined
        ? undefined
        : sastHit('sast/csharp-unsafe-deserialization', node, `${type}.${word}`);
    },
    assignment_expression(node) {
      const name = callbackOf(node);
      return name && takesAny(childOf(node, 'right'))
        ? sastHit('sast/csharp-tls-unverified', node, name)
        : undefined;
    },
    // `new SslStream(stream, false, (a, b, c, d) => true)`; of what is assigned, the assignment is the place.
    object_creation_expression(node) {
      const type = simple(childOf(node, 'type'));
      const place = type === 'SslStream' ? 2 : type === 'RemoteCertificateValidationCallback' ? 0 : undefined;
      return place !== undefined && takesAny(argumentsOf(node)[place]) && !callbackOf(node.parent)
        ? sastHit('sast/csharp-tls-unverified', node, type)
        : undefined;
    },
  });

  /** The callback that an assignment sets. */
  function callbackOf(node: SyntaxNode | undefined): string | undefined {
    const left = node?.type === 'assignment_expression' ? childOf(node, 'left') : undefined;
    const name = text(left?.type === 'member_access_expression' ? childOf(left, 'name') : left);
    return callbacks.test(name) ? name : undefined;
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
