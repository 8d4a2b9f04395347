/* The built-in static analysis for C#, Go, PHP, Ruby and JavaScript. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { csharpNames } from '../../readers/source/names/csharp-names.ts';
import { goNames } from '../../readers/source/names/go-names.ts';
import { isDeclared, javascriptNames } from '../../readers/source/names/javascript-names.ts';
import { phpNames } from '../../readers/source/names/php-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { rubyNames } from '../../readers/source/names/ruby-names.ts';
import { type Call, type CallRow, callOf, collectHits, type Hit, hitOf } from '../direct-eval/hits.ts';
import { sastHit } from './rows.ts';

const formatters =
  /^(?:BinaryFormatter|NetDataContractSerializer|SoapFormatter|LosFormatter|ObjectStateFormatter)$/;
const callbacks = /^(?:ServerCertificate(?:Custom)?ValidationCallback|RemoteCertificateValidationCallback)$/;
const maxDepth = 12;

/** Findings of the built-in rows for C#. */
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

const ownVerification = /^Verify(?:PeerCertificate|Connection)$/;
const setting = 'InsecureSkipVerify';

/** Findings of the built-in rows for Go. */
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

const verifying = /^\\?CURLOPT_SSL_VERIFY(?:PEER|HOST|STATUS)$/;

/**
 * Findings of the built-in rows for PHP. Function names are case-insensitive; methods and definitions of the same
 * name do not count.
 */
export function phpSast(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const { behind, reached } = phpNames(reading);
  const rows: readonly CallRow[] = [
    [/^unserialize$/, 'sast/php-unserialize', ({ given }) => isForeign(given[0]) && !limitsClasses(given[1])],
    [
      /^curl_(?:share_|multi_)?setopt$/,
      'sast/php-tls-unverified',
      ({ given: [, option, value] }) =>
        verifying.test(text(option)) && isOff(option, value) && { call: text(option) },
    ],
  ];
  return collectHits(tree, {
    function_call_expression: (node) => {
      const target = childOf(node, 'function');
      return target && hitOf(rows, callOf(node, target), reached(target).slice(-1));
    },
    array_element_initializer: elementHit,
  });

  /** `[CURLOPT_SSL_VERIFYPEER => false]`, `['verify_peer' => false]`. */
  function elementHit(node: SyntaxNode): Hit | undefined {
    const [key, value] = node.children;
    if (!key || !value) return undefined;
    const said = literal(key) ?? text(key);
    if (!verifying.test(text(key)) && !/^verify_peer(?:_name)?$/.test(literal(key) ?? '')) return undefined;
    if (!isOff(key, value)) return undefined;
    return sastHit('sast/php-tls-unverified', node, said);
  }

  /** For the host name, 1 is off too: it only looks whether there is one. */
  function isOff(option: SyntaxNode | undefined, value: SyntaxNode | undefined): boolean {
    const said = text(behind(value)).toLowerCase();
    return said === 'false' || said === '0' || (said === '1' && /VERIFYHOST$/.test(text(option)));
  }

  function isForeign(node: SyntaxNode | undefined): boolean {
    const value = behind(node);
    const target = childOf(value, 'function');
    const isDumped = target && reached(target).at(-1)?.path === 'serialize';
    return value !== undefined && !isDumped && literal(value) === undefined;
  }

  function limitsClasses(node: SyntaxNode | undefined): boolean {
    const options = behind(node);
    if (!options) return false;
    // Options that are made elsewhere may limit them: only what is written down counts.
    if (options.type !== 'array_creation_expression') return true;
    return options.children.some((one) => {
      const [key, value] = one.children;
      return literal(key) === 'allowed_classes' && text(value).toLowerCase() !== 'true';
    });
  }
}

/** Findings of the built-in rows for Ruby. */
export function rubySast(reading: Reading): readonly Hit[] {
  const { text, literal } = reading;
  const { behind } = rubyNames(reading);
  const rows: readonly CallRow[] = [
    [/^Marshal\.(?:load|restore)$/, 'sast/ruby-unsafe-deserialization', ({ given }) => isForeign(given[0])],
    [/^(?:YAML|Psych)\.unsafe_load_(?:file|stream)$/, 'sast/ruby-yaml-load'],
    [
      /^(?:YAML|Psych)\.unsafe_load$/,
      'sast/ruby-yaml-load',
      ({ given: [first] }) => first && literal(behind(first)) === undefined,
    ],
  ];
  return collectHits(reading.tree, {
    call: (node) => {
      const receiver = childOf(node, 'receiver');
      const name = childOf(node, 'method');
      if (!receiver || !name) return undefined;
      const path = `${constantOf(receiver)}.${text(name)}`;
      const hit = hitOf(rows, { node, target: receiver, given: argumentsOf(node) }, [{ path }]);
      return hit && { ...hit, also: [name.start] };
    },
  });

  /** `Marshal`, also as `::Marshal` or behind a name that was given it. */
  function constantOf(node: SyntaxNode): string {
    return text(behind(node)).slice(0, 100).replace(/^::/, '');
  }

  /** Neither text of the source nor what the same expression has just dumped: `Marshal.load(Marshal.dump(x))`. */
  function isForeign(node: SyntaxNode | undefined): boolean {
    const value = node && behind(node);
    if (!value || literal(value) !== undefined) return false;
    const receiver = value.type === 'call' ? childOf(value, 'receiver') : undefined;
    return !(receiver && constantOf(receiver) === 'Marshal' && text(childOf(value, 'method')) === 'dump');
  }
}

const servers = /(?:^|\.)create(?:Secure)?Server$/;

/** Findings of the built-in rows for JavaScript and TypeScript, under any imported or assigned name. */
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
