import { stripTypeScriptTypes } from 'node:module';
import type { Node } from 'web-tree-sitter';
import { shippedGrammar } from '../../gates/source/shipped-grammar.ts';
import type { Mutant } from './mutant.ts';

type Change = Pick<Mutant, 'start' | 'end' | 'to' | 'operator'>;

/** Nothing in these runs. */
const typesOnly: ReadonlySet<string> = new Set([
  'ambient_declaration',
  'import_statement',
  'interface_declaration',
  'literal_type',
  'type_alias_declaration',
  'type_annotation',
  'type_arguments',
  'type_parameters',
  'type_predicate_annotation',
]);

const otherOperator: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
};

/** Calls of which the thing that they are asked of is left. */
const leftOut: ReadonlySet<string> = new Set([
  'filter',
  'sort',
  'toSorted',
  'trim',
  'toLowerCase',
  'reverse',
]);
const otherMethod: Readonly<Record<string, string>> = { some: 'every', every: 'some' };

/** Sentences are for people: tests assert codes and records. */
const prose: ReadonlySet<string> = new Set(['message', 'hints', 'hint', 'text', 'title', 'help', 'why']);

/** A number that is larger is a limit, of which one more or less is not asked. */
const largestCount = 16;

/** Every mutant of a TypeScript source, in the order of the text. Changes that leave the same program are none. */
export async function mutateSource(file: string, text: string): Promise<readonly Mutant[]> {
  const { parser } = await shippedGrammar('typescript');
  const tree = parser.parse(text);
  if (tree === null) throw new Error(`\`${file}\` cannot be parsed`);
  const changes: Change[] = [];
  visit(tree.rootNode, changes);
  tree.delete();
  const plain = runs(text);
  const isChange = ({ start, end, to }: Change): boolean => {
    const mutated = runs(text.slice(0, start) + to + text.slice(end));
    return mutated !== undefined && mutated !== plain;
  };
  return changes
    .filter(isChange)
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((change) => ({ file, line: lineAt(text, change.start), ...change }));
}

/** What of a source runs, without blanks; `undefined` where it does not compile. */
function runs(text: string): string | undefined {
  try {
    return stripTypeScriptTypes(text).replace(/\s+/g, '');
  } catch {
    return undefined;
  }
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

function visit(node: Node, changes: Change[]): void {
  if (typesOnly.has(node.type)) return;
  changes.push(...changesOf(node));
  // Of `x as T` and `x satisfies T` only the thing runs.
  const isTyped = node.type === 'as_expression' || node.type === 'satisfies_expression';
  for (const child of isTyped ? node.namedChildren.slice(0, 1) : node.namedChildren)
    if (child !== null && !isSaid(node, child)) visit(child, changes);
}

/** `message: …`: what a person is told. */
function isSaid(parent: Node, child: Node): boolean {
  return (
    parent.type === 'pair' &&
    parent.childForFieldName('value')?.id === child.id &&
    prose.has(parent.childForFieldName('key')?.text ?? '')
  );
}

function changesOf(node: Node): readonly Change[] {
  const replace = (operator: string, to: string, at: Node = node): Change => ({
    start: at.startIndex,
    end: at.endIndex,
    to,
    operator,
  });
  switch (node.type) {
    case 'if_statement': {
      const condition = node.childForFieldName('condition');
      const negated = condition === null ? [] : [replace('negated', `(!${condition.text})`, condition)];
      const isWhole = node.childForFieldName('alternative') === null && node.parent?.type !== 'else_clause';
      return isWhole ? [...negated, replace('if removed', ';')] : negated;
    }
    case 'ternary_expression': {
      const condition = node.childForFieldName('condition');
      return condition === null ? [] : [replace('negated', `!(${condition.text})`, condition)];
    }
    case 'binary_expression': {
      const operator = node.childForFieldName('operator');
      const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
      if (operator === null || left === null || right === null) return [];
      if (operator.type === '??') return [replace('default removed', left.text)];
      const isSum = operator.type === '+' || operator.type === '-';
      const other = otherOperator[operator.type];
      if (other === undefined || (isSum && left.type !== 'number' && right.type !== 'number')) return [];
      return [replace('operator', other, operator)];
    }
    case 'true':
    case 'false':
      return [replace('constant', node.type === 'true' ? 'false' : 'true')];
    case 'number': {
      const value = Number(node.text);
      const isCounted = ['binary_expression', 'arguments', 'subscript_expression'].includes(
        node.parent?.type ?? '',
      );
      return isCounted && Number.isInteger(value) && value <= largestCount
        ? [replace('off by one', String(value + 1))]
        : [];
    }
    case 'string':
      return isOfMachine(node) ? [replace('empty text', "''")] : [];
    case 'array':
      return elementsOf(node).map((element) => without(node, element));
    case 'call_expression':
      return changesOfCall(node, replace);
    case 'throw_statement':
      return [replace('throw removed', ';')];
    case 'expression_statement': {
      const [inner] = node.namedChildren;
      if (inner?.type === 'await_expression') return [replace('awaited call removed', ';')];
      return inner?.type === 'call_expression' ? [replace('call removed', ';')] : [];
    }
    default:
      return [];
  }
}

/** What holds a blank is for people, what begins with `/` says where something was found; modules are no texts. */
function isOfMachine({ text, parent }: Node): boolean {
  const isModule =
    parent?.type === 'export_statement' || parent?.parent?.childForFieldName('function')?.type === 'import';
  return /^.[^\s/][^\s]*.$/.test(text) && !isModule;
}

function changesOfCall(
  node: Node,
  replace: (operator: string, to: string, at?: Node) => Change,
): readonly Change[] {
  const called = node.childForFieldName('function');
  const method = called?.type === 'member_expression' ? called.childForFieldName('property') : null;
  const object = called?.childForFieldName('object');
  if (method === null || object === null || object === undefined) return [];
  const other = otherMethod[method.text];
  if (other !== undefined) return [replace('quantifier', other, method)];
  return leftOut.has(method.text) ? [replace(`${method.text} removed`, object.text)] : [];
}

function elementsOf(array: Node): readonly Node[] {
  return array.namedChildren.filter((child) => child !== null && child.type !== 'comment') as Node[];
}

/** An element with the comma behind it, or before it where it is the last. */
function without(array: Node, element: Node): Change {
  const behind = element.nextSibling;
  const before = element.previousSibling;
  if (behind?.type === ',')
    return { start: element.startIndex, end: behind.endIndex, to: '', operator: 'element removed' };
  const start = before?.type === ',' ? before.startIndex : element.startIndex;
  const end = Math.min(element.endIndex, array.endIndex - 1);
  return { start, end, to: '', operator: 'element removed' };
}
