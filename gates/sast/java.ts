import {
  ancestorOf,
  argumentsOf,
  childOf,
  type SyntaxNode,
} from '../../readers/source/grammar/syntax-tree.ts';
import { jvmLanguages } from '../../readers/source/names/jvm-languages.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { simpleType, typedNames } from '../../readers/source/names/typed-names.ts';
import { collectHits, type Hit } from '../direct-eval/hits.ts';
import { sastHit } from './rows.ts';

const readers = /^(?:ObjectInputStream|ObjectInput|XMLDecoder)$/;
const takers = /^(?:setHostnameVerifier|setDefaultHostnameVerifier|hostnameVerifier|setSSLHostnameVerifier)$/;
const takingAll =
  /(?:^|\.)(?:NoopHostnameVerifier\.INSTANCE|ALLOW_ALL_HOSTNAME_VERIFIER|TrustAllStrategy(?:\.INSTANCE)?)$/;
const takingAllTypes = /^(?:NoopHostnameVerifier|AllowAllHostnameVerifier|TrustAllStrategy)$/;

/** Findings of the built-in rows for Java. */
export function javaSast(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const { names, typeOf } = typedNames(reading, jvmLanguages.java);
  const { behind } = names;
  return collectHits(tree, {
    method_invocation: (node) => readsObject(node) ?? takesAnyHost(node) ?? fetchesEntities(node),
    method_declaration: trustsAll,
    field_access: (node) =>
      takingAll.test(text(node)) && !isPartOfAccess(node)
        ? sastHit('sast/java-tls-unverified', node, text(node))
        : undefined,
    object_creation_expression: (node) =>
      takingAllTypes.test(simpleType(text(childOf(node, 'type'))))
        ? sastHit('sast/java-tls-unverified', node, `new ${simpleType(text(childOf(node, 'type')))}`)
        : undefined,
  });

  function isPartOfAccess(node: SyntaxNode): boolean {
    return node.parent?.type === 'field_access';
  }

  function readsObject(node: SyntaxNode): Hit | undefined {
    const word = text(childOf(node, 'name'));
    if (!/^read(?:Object|Unshared)$/.test(word) || argumentsOf(node).length > 0) return undefined;
    const object = childOf(node, 'object');
    const type = typeOf(object);
    if (type === undefined || !readers.test(type)) return undefined;
    // A hook that the stream calls while it reads is not a separate entry point.
    const method = ancestorOf(node, 'method_declaration');
    if (/^read(?:Object|External)$/.test(text(childOf(method, 'name')))) return undefined;
    if (object?.type === 'identifier' && isFiltered(text(object))) return undefined;
    return sastHit('sast/java-unsafe-deserialization', node, `${type}.${word}`);
  }

  function isFiltered(name: string): boolean {
    return tree.nodes.some(
      (one) =>
        one.type === 'method_invocation' &&
        /^set(?:Object)?InputFilter$|^setObjectInputFilter$/.test(text(childOf(one, 'name'))) &&
        (text(childOf(one, 'object')) === name || argumentsOf(one).some((given) => text(given) === name)),
    );
  }

  function trustsAll(node: SyntaxNode): Hit | undefined {
    const name = childOf(node, 'name');
    const body = childOf(node, 'body');
    if (!name || !body) return undefined;
    const statements = body.children.filter(({ type }) => !type.endsWith('comment'));
    const word = text(name);
    if (word === 'checkServerTrusted') {
      const isEmpty = statements.every((one) => one.type === 'return_statement' && one.children.length === 0);
      return isEmpty ? { ...sastHit('sast/java-tls-unverified', node, word), start: name.start } : undefined;
    }
    const parameters = childOf(node, 'parameters')?.children ?? [];
    const isVerifier =
      word === 'verify' &&
      parameters.length === 2 &&
      simpleType(text(childOf(parameters[1], 'type'))) === 'SSLSession';
    return isVerifier && onlyTrue(body)
      ? { ...sastHit('sast/java-tls-unverified', node, word), start: name.start }
      : undefined;
  }

  /** `connection.setHostnameVerifier((host, session) -> true)`. */
  function takesAnyHost(node: SyntaxNode): Hit | undefined {
    const word = text(childOf(node, 'name'));
    if (!takers.test(word)) return undefined;
    const given = behind(argumentsOf(node)[0]);
    if (given?.type !== 'lambda_expression' || !onlyTrue(childOf(given, 'body'))) return undefined;
    return sastHit('sast/java-tls-unverified', node, word);
  }

  function onlyTrue(body: SyntaxNode | undefined): boolean {
    if (body?.type === 'true') return true;
    const statements = body?.children.filter(({ type }) => !type.endsWith('comment')) ?? [];
    const [only] = statements;
    return (
      body?.type === 'block' &&
      statements.length === 1 &&
      only?.type === 'return_statement' &&
      only.children[0]?.type === 'true'
    );
  }

  /** A hit for a reader from a local factory without settings: its parser fetches external entities. */
  function fetchesEntities(node: SyntaxNode): Hit | undefined {
    if (!/^createXML(?:Stream|Event)Reader$/.test(text(childOf(node, 'name'))) || !reading.isWhole)
      return undefined;
    const factory = childOf(node, 'object');
    const made = behind(factory);
    if (made?.type !== 'method_invocation' || argumentsOf(made).length > 0) return undefined;
    const isNew =
      text(childOf(made, 'object')).replace(/^.*\./s, '') === 'XMLInputFactory' &&
      /^(?:newInstance|newFactory|newDefaultFactory)$/.test(text(childOf(made, 'name')));
    if (!isNew || (factory && factory !== made && isTouched(text(factory)))) return undefined;
    return sastHit('sast/java-xml-external-entities', node, 'XMLInputFactory');
  }

  /** Whether code sets an option on a variable, or passes it to a method that may. */
  function isTouched(name: string): boolean {
    return tree.nodes.some((one) => {
      if (one.type !== 'method_invocation') return false;
      if (argumentsOf(one).some((given) => text(given) === name)) return true;
      return text(childOf(one, 'object')) === name && /^set/.test(text(childOf(one, 'name')));
    });
  }
}
