/* Direct execution by `scala.sys.process`. */
import type { SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { TypedCall, TypedNames } from '../../readers/source/names/typed-names.ts';
import type { Hit } from './hits.ts';

const why = 'hands a built command line to the system';
/** Methods that run a text as a command. */
export const runs = /^(?:!!?<?|lineStream|lineStream_!|lazyLines|lazyLines_!|lines_!|run)$/;
const lists = /^(?:Seq|List|Vector|Array|IndexedSeq|Process|:::?|\+\+:?|\+:|:\+)$/;
const textMethods = /^(?:format|formatted|concat|replace|mkString)$/;
const maxDepth = 8;
/** Maximum length of a name, in characters. */
const maxName = 200;

/** Finds commands of `scala.sys.process` built at run time. A sequence is an argument list and not a hit. */
export function scalaProcessHit(
  { text, literal, tree }: Reading,
  { names, own, callAt, simple }: TypedNames,
): ((call: TypedCall) => Hit | undefined) | undefined {
  if (!/\bsys\s*\.\s*process\b/.test(text(tree.root))) return undefined;
  return ({ node, object, name, given, kind }) => {
    const method = text(name);
    const maker = object && method === 'apply' ? object : name;
    const isFree = maker !== name || !object || /\bprocess\s*$/.test(text(object).slice(-maxName));
    const isMaker = kind === 'call' && isFree && /^(?:Process|stringToProcess)$/.test(simple(maker));
    if (isMaker && !own.has(text(maker)))
      return given[0] && isBuilt(given[0])
        ? { start: maker.start, end: node.end, call: text(maker), why }
        : undefined;
    if (!object || !runs.test(method) || !isBuilt(object)) return undefined;
    // Before a message (`actor ! text`) only a text is certain to be a command.
    return node.type !== 'infix_expression' || isText(object)
      ? { start: object.start, end: name.end, call: `….${method}`, why }
      : undefined;
  };

  function isText({ type }: SyntaxNode): boolean {
    return type === 'string' || type === 'interpolated_string_expression';
  }

  function isBuilt(given: SyntaxNode, depth = 0): boolean {
    const node = names.same(given);
    if (!node || depth > maxDepth) return false;
    switch (node.type) {
      case 'interpolated_string_expression':
        return node.children.some(({ children }) => children.length > 0);
      case 'identifier': {
        const [{ type = '', value } = {}] = names.bindingsOf(node);
        return type === '' ? !value || isBuiltValue(value, depth + 1) : type === 'String';
      }
      case 'infix_expression': {
        const [left, operator, right] = node.children;
        if (text(operator) === '+') return literal(node) === undefined;
        return !lists.test(text(operator)) && [left, right].some((one) => one && isBuilt(one, depth + 1));
      }
      case 'if_expression':
        return node.children.slice(1).some((one) => isBuilt(one, depth + 1));
      case 'field_expression':
        return true;
    }
    const { name, object } = callAt(node) ?? {};
    const method = text(name);
    return textMethods.test(method) && object !== undefined && (method === 'mkString' || isText(object));
  }

  /** What a name was declared as: a list is known, and a literal; all else may be built. */
  function isBuiltValue(value: SyntaxNode, depth: number): boolean {
    const { name, object } = callAt(value) ?? {};
    if (name && !object) return !lists.test(text(name));
    return value.type === 'string' ? false : value.type !== 'infix_expression' || isBuilt(value, depth);
  }
}
