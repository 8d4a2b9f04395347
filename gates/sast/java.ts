/* The built-in static analysis for Java and Python. */
import {
  ancestorOf,
  argumentsOf,
  childOf,
  type SyntaxNode,
} from '../../readers/source/grammar/syntax-tree.ts';
import { jvmLanguages } from '../../readers/source/names/jvm-languages.ts';
import { originsOf, type Way } from '../../readers/source/names/paths.ts';
import { pythonNames } from '../../readers/source/names/python-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { simpleType, typedNames } from '../../readers/source/names/typed-names.ts';
import { type Call, type CallRow, callOf, collectHits, type Hit, hitOf } from '../direct-eval/hits.ts';
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

const offers = {
  pickle: ['load', 'loads', 'Unpickler'],
  marshal: ['load', 'loads'],
  dill: ['load', 'loads'],
  yaml: ['load', 'load_all', 'unsafe_load', 'unsafe_load_all', 'full_load', 'full_load_all', 'Loader'],
  tempfile: ['mktemp'],
  ssl: ['CERT_NONE', '_create_unverified_context'],
};
const pickles =
  /^(?:(?:(?:six\.moves\.)?c?Pickle|_?pickle|pickle5|dill|cloudpickle)\.(?:loads?|Unpickler)|marshal\.loads?|jsonpickle\.(?:decode|loads)|joblib\.load|(?:pandas|pd)\.read_pickle)$/;
const dumps =
  /^(?:(?:six\.moves\.)?cPickle|_?pickle|pickle5|dill|cloudpickle|marshal|jsonpickle)\.(?:dumps|encode)$/;
const yamlLoads = /^yaml\.(?:load|load_all|unsafe_load|unsafe_load_all|full_load|full_load_all)$/;
const unsafeLoaders = /^(?:yaml\.(?:loader\.|cyaml\.)?)?C?(?:Loader|UnsafeLoader|FullLoader)$/;
const temporary = /^(?:tempfile\.mktemp|os\.(?:tempnam|tmpnam))$/;
const verbs = /^(?:get|post|put|patch|delete|head|options|request|send|stream)$/;
const clients =
  /^(?:requests|httpx|niquests)(?:\.api|\.sessions)?\.(?:get|post|put|patch|delete|head|options|request|send|stream|Client|AsyncClient)$/;
const connectors = /^aiohttp\.(?:TCPConnector|request)$/;

/** Findings of the built-in rows for Python, under any imported or assigned name. */
export function pythonSast(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const names = pythonNames(reading, offers);
  const { option, reaches } = names;
  const unverified = 'sast/python-tls-unverified';
  const rows: readonly CallRow[] = [
    [
      pickles,
      'sast/python-unsafe-deserialization',
      ({ given }, { path }) => given.length > 0 && !isOwnData(path, given),
    ],
    [/^shelve\.(?:open|DbfilenameShelf)$/, 'sast/python-shelve', () => true],
    [
      yamlLoads,
      'sast/python-yaml-load',
      ({ given }, { path }) => given.length > 0 && isUnsafeYaml(path, given),
    ],
    // Windows makes the name of a pipe for its server alone.
    [temporary, 'sast/python-mktemp', ({ given }) => !/\.\\{1,2}pipe\\/.test(text(option(given, 'prefix')))],
    [/^ssl\._create_unverified_context$/, unverified, () => true],
  ];
  return collectHits(tree, { call: callHit, assignment: assignmentHit });

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    if (!target) return undefined;
    const call = callOf(node, target);
    const ways = names.ways(target);
    return hitOf(rows, call, ways) ?? optionHit(call, ways);
  }

  function optionHit({ node, target, given }: Call, ways: readonly Way[]): Hit | undefined {
    const member = text(childOf(target, 'attribute'));
    const path = ways[0]?.path ?? '';
    const isConnector = verbs.test(member) || connectors.test(path);
    const isUnverified = ({ type }: SyntaxNode) => type === 'false' && (isConnector || clients.test(path));
    const isDebug = ({ type }: SyntaxNode) =>
      type === 'true' && member === 'run' && isFlask(childOf(target, 'object'));
    const tests: readonly (readonly [name: string, said: string, isBad: (value: SyntaxNode) => boolean])[] = [
      ['verify', 'verify=False', isUnverified],
      ['verify_ssl', 'verify=False', isUnverified],
      ['ssl', 'ssl=False', ({ type }) => type === 'false' && isConnector],
      ['cert_reqs', 'cert_reqs=CERT_NONE', isCertNone],
      ['debug', 'debug=True', isDebug],
    ];
    for (const [name, said, isBad] of tests) {
      const value = option(given, name);
      if (!value || !isBad(value)) continue;
      const row = name === 'debug' ? 'sast/python-flask-debug' : unverified;
      const call = `${name === 'debug' ? member : path || member}(${said})`;
      return sastHit(row, node, call, [...ways.flatMap(originsOf), value.start], target.start);
    }
    return undefined;
  }

  /** Literal bytes, or bytes that the same expression just serialized, are trusted. */
  function isOwnData(path: string, given: readonly SyntaxNode[]): boolean {
    if (/Unpickler|read_pickle|joblib/.test(path)) return false;
    const first = given.find(({ type }) => !/^(?:keyword_argument|dictionary_splat)$/.test(type));
    return (
      literal(names.behind(first)) !== undefined || reaches(childOf(first, 'function'), dumps) !== undefined
    );
  }

  function isUnsafeYaml(path: string, given: readonly SyntaxNode[]): boolean {
    if (!/\.load(?:_all)?$/.test(path)) return true;
    const positional = given.filter(({ type }) => type !== 'keyword_argument');
    if (given.some(({ type }) => type === 'dictionary_splat' || type === 'list_splat')) return false;
    const loader = option(given, 'Loader') ?? positional[1];
    if (!loader) return true;
    // A loader of the file's own may be a safe one: only those that are known not to be count.
    return reaches(loader, unsafeLoaders) !== undefined;
  }

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left');
    const right = childOf(node, 'right');
    if (!left || !right) return undefined;
    if (right.type !== 'call' && reaches(right, /^ssl\._create_unverified_context$/))
      return sastHit(unverified, node, 'ssl._create_unverified_context');
    const member = text(childOf(left, 'attribute'));
    const object = childOf(left, 'object');
    const value = names.behind(right)?.type;
    if (member === 'verify_mode' && isCertNone(right))
      return sastHit(unverified, node, 'verify_mode = CERT_NONE');
    if (member === 'verify' && value === 'false' && isSession(object))
      return sastHit(unverified, node, 'verify = False');
    return member === 'debug' && value === 'true' && isFlask(object)
      ? sastHit('sast/python-flask-debug', node, 'debug = True')
      : undefined;
  }

  function isSession(node: SyntaxNode | undefined): boolean {
    const made = names.behind(node);
    if (made?.type === 'call')
      return reaches(childOf(made, 'function'), /^(?:requests|httpx|niquests)\./) !== undefined;
    return /(?:^|\.)_?(?:http_?)?session$/i.test(text(node).slice(0, 200));
  }

  /**
   * A Flask application for certain, or what everybody calls one where the file speaks of Flask or is not seen whole.
   */
  function isFlask(node: SyntaxNode | undefined): boolean {
    const made = names.behind(node);
    if (made?.type === 'call') {
      const maker = childOf(made, 'function');
      const makes = (form: RegExp) => form.test(text(maker)) || reaches(maker, form) !== undefined;
      if (makes(/(?:^|\.)Flask$/)) return true;
      if (!makes(/(?:^|\.)(?:create|make)_app$/)) return false;
    }
    const isCalledSo = /^(?:app|application|flask_app)$/.test(text(node));
    return isCalledSo && (!reading.isWhole || /\bflask\b/i.test(text(tree.root)));
  }

  function isCertNone(node: SyntaxNode): boolean {
    return reaches(node, /^ssl\.CERT_NONE$/) !== undefined || literal(names.behind(node)) === 'CERT_NONE';
  }
}
