import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { originsOf } from '../../readers/source/names/paths.ts';
import { type PythonNames, pythonNames } from '../../readers/source/names/python-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits } from '../direct-eval/hit.ts';
import { type SastHit, type SastRowId, sastHit } from './rows.ts';

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

/** What our rows say of Python, under whatever name it was imported or taken. */
export function pythonSast(reading: Reading): readonly SastHit[] {
  const { tree, text, literal } = reading;
  const names = pythonNames(reading, offers);
  return collectHits(tree, { call: callHit, assignment: assignmentHit });

  function callHit(node: SyntaxNode): SastHit | undefined {
    const target = childOf(node, 'function');
    if (!target) return undefined;
    const ways = names.ways(target);
    const path = ways[0]?.path;
    const member = target.type === 'attribute' ? text(childOf(target, 'attribute')) : '';
    const given = argumentsOf(node);
    const first = given.find(({ type }) => !/^(?:keyword_argument|dictionary_splat)$/.test(type));
    const hit = (row: SastRowId, call: string, option?: SyntaxNode) =>
      sastHit(row, node, call, [...ways.flatMap(originsOf), ...(option ? [option.start] : [])], target.start);
    for (const { path } of ways) {
      if (pickles.test(path) && given.length > 0 && !isOwnData(path, first))
        return hit('sast/python-unsafe-deserialization', path);
      if (/^shelve\.(?:open|DbfilenameShelf)$/.test(path)) return hit('sast/python-shelve', path);
      if (yamlLoads.test(path) && given.length > 0 && isUnsafeYaml(path, given))
        return hit('sast/python-yaml-load', path);
      if (temporary.test(path) && !isPipe(given)) return hit('sast/python-mktemp', path);
      if (path === 'ssl._create_unverified_context') return hit('sast/python-tls-unverified', path);
    }
    const verify = keyword(given, 'verify') ?? keyword(given, 'verify_ssl');
    if (
      verify &&
      isFalse(verify) &&
      (verbs.test(member) || clients.test(path ?? '') || connectors.test(path ?? ''))
    )
      return hit('sast/python-tls-unverified', `${path ?? member}(verify=False)`, verify);
    const ssl = keyword(given, 'ssl');
    if (ssl && isFalse(ssl) && (connectors.test(path ?? '') || verbs.test(member)))
      return hit('sast/python-tls-unverified', `${path ?? member}(ssl=False)`, ssl);
    const required = keyword(given, 'cert_reqs');
    if (required && isCertNone(required))
      return hit('sast/python-tls-unverified', `${path ?? member}(cert_reqs=CERT_NONE)`, required);
    const debug = keyword(given, 'debug');
    if (member === 'run' && debug?.type === 'true' && isFlask(childOf(target, 'object')))
      return hit('sast/python-flask-debug', 'run(debug=True)', debug);
    return undefined;
  }

  /** Bytes that stand in the source, or that the same expression has just made, are nobody else's. */
  function isOwnData(path: string, first: SyntaxNode | undefined): boolean {
    if (/Unpickler|read_pickle|joblib/.test(path)) return false;
    const value = names.behind(first);
    if (literal(value) !== undefined) return true;
    return first?.type === 'call' && names.reaches(childOf(first, 'function'), dumps) !== undefined;
  }

  /** Windows makes the name of a pipe for its server alone. */
  function isPipe(given: readonly SyntaxNode[]): boolean {
    return /\.\\{1,2}pipe\\/.test(text(keywordNode(given, 'prefix')));
  }

  function isUnsafeYaml(path: string, given: readonly SyntaxNode[]): boolean {
    if (!/\.load(?:_all)?$/.test(path)) return true;
    const positional = given.filter(({ type }) => type !== 'keyword_argument');
    if (given.some(({ type }) => type === 'dictionary_splat' || type === 'list_splat')) return false;
    const loader = keywordNode(given, 'Loader') ?? positional[1];
    if (!loader) return true;
    // A loader of the file's own may be a safe one: only those that are known not to be count.
    return names.reaches(loader, unsafeLoaders) !== undefined;
  }

  function assignmentHit(node: SyntaxNode): SastHit | undefined {
    const left = childOf(node, 'left');
    const right = childOf(node, 'right');
    if (!left || !right) return undefined;
    const hit = (row: SastRowId, call: string) => sastHit(row, node, call);
    if (right.type !== 'call' && names.reaches(right, /^ssl\._create_unverified_context$/))
      return hit('sast/python-tls-unverified', 'ssl._create_unverified_context');
    if (left.type !== 'attribute') return undefined;
    const member = text(childOf(left, 'attribute'));
    const object = childOf(left, 'object');
    if (member === 'verify_mode' && isCertNone(right))
      return hit('sast/python-tls-unverified', 'verify_mode = CERT_NONE');
    if (member === 'verify' && isFalse(names.behind(right) ?? right) && isSession(object))
      return hit('sast/python-tls-unverified', 'verify = False');
    if (member === 'debug' && (names.behind(right) ?? right).type === 'true' && isFlask(object))
      return hit('sast/python-flask-debug', 'debug = True');
    return undefined;
  }

  function isSession(node: SyntaxNode | undefined): boolean {
    const made = names.behind(node);
    if (made?.type === 'call')
      return names.reaches(childOf(made, 'function'), /^(?:requests|httpx|niquests)\./) !== undefined;
    return /(?:^|\.)_?(?:http_?)?session$/i.test(text(node).slice(0, 200));
  }

  /**
   * A Flask application for certain, or what everybody calls one where the file speaks of Flask or is not seen whole.
   */
  function isFlask(node: SyntaxNode | undefined): boolean {
    const made = names.behind(node);
    if (made?.type === 'call') {
      const maker = childOf(made, 'function');
      const makes = (form: RegExp) => form.test(text(maker)) || names.reaches(maker, form) !== undefined;
      if (makes(/(?:^|\.)Flask$/)) return true;
      if (!makes(/(?:^|\.)(?:create|make)_app$/)) return false;
    }
    const isCalledSo = /^(?:app|application|flask_app)$/.test(text(node));
    return isCalledSo && (!reading.isWhole || /\bflask\b/i.test(text(tree.root)));
  }

  function isCertNone(node: SyntaxNode): boolean {
    return (
      names.reaches(node, /^ssl\.CERT_NONE$/) !== undefined || literal(names.behind(node)) === 'CERT_NONE'
    );
  }

  function argumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
    const list = childOf(node, 'arguments');
    return list?.type === 'argument_list' ? list.children.filter(({ type }) => type !== 'comment') : [];
  }

  function keyword(given: readonly SyntaxNode[], name: string): SyntaxNode | undefined {
    return valueBehind(names, keywordNode(given, name));
  }

  /** The value of a keyword, also out of a dictionary that is spread. */
  function keywordNode(given: readonly SyntaxNode[], name: string): SyntaxNode | undefined {
    for (const argument of given) {
      if (argument.type === 'keyword_argument' && text(childOf(argument, 'name')) === name)
        return childOf(argument, 'value');
      if (argument.type !== 'dictionary_splat') continue;
      const spread = names.behind(argument.children[0]);
      if (spread?.type !== 'dictionary') continue;
      const entry = spread.children.find(
        (one) => one.type === 'pair' && literal(childOf(one, 'key')) === name,
      );
      if (entry) return childOf(entry, 'value');
    }
    return undefined;
  }
}

function valueBehind(names: PythonNames, node: SyntaxNode | undefined): SyntaxNode | undefined {
  return node && (names.behind(node) ?? node);
}

function isFalse({ type }: SyntaxNode): boolean {
  return type === 'false';
}
