import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Names } from './names.ts';
import type { Reading } from './reading.ts';

const types = [
  'class_declaration',
  'struct_declaration',
  'record_declaration',
  'interface_declaration',
  'enum_declaration',
];
const opens = [
  ...types,
  'method_declaration',
  'constructor_declaration',
  'accessor_declaration',
  'local_function_statement',
  'lambda_expression',
  'anonymous_method_expression',
  'block',
  'for_statement',
  'foreach_statement',
  'using_statement',
  'catch_clause',
];
const members = new Set(['method_declaration', 'constructor_declaration', 'accessor_declaration']);
const creations = new Set(['object_creation_expression', 'implicit_object_creation_expression']);
const told = /^(?:FileName|Arguments|ArgumentList(?:\.Add)?)$/;
const maxDepth = 12;
/** Of conditions within conditions. */
const maxWays = 6;
/** Of one object; a program is told once what to run. */
const maxSettings = 50;
/** A longer text is no name. */
const maxName = 200;

/** `info.Arguments = line` and `info.ArgumentList.Add(line)`, without the last name. */
export interface Setting {
  readonly property: string;
  readonly value: SyntaxNode;
}

/** What the names of a C# file stand for. */
export interface CsharpNames {
  /** Namespaces and types that the file uses. */
  readonly usings: readonly string[];
  /** What was set on the object under a name, in order; the name by what declares it, so that namesakes stay apart. */
  readonly settings: ReadonlyMap<SyntaxNode, ReadonlyMap<string, readonly Setting[]>>;
  argumentsOf(node: SyntaxNode): readonly SyntaxNode[];
  /** The expression behind a name or wrapper, where there is one. */
  behind(node: SyntaxNode | undefined): SyntaxNode | undefined;
  /** The same, each way of a condition apart. */
  ways(node: SyntaxNode | undefined): readonly SyntaxNode[];
  /** Whether the file gives that name where it is used. */
  isOwn(node: SyntaxNode): boolean;
  /** The simple name of an expression's type, as declared or as its value tells; `''` where the file does not tell. */
  typeOf(node: SyntaxNode | undefined): string;
  /** The simple name of a written type, aliases undone. */
  simple(type: string): string;
  /** Type and method of what is called: `Process.Start`; `.Start` where the type is not known. */
  pathOf(target: SyntaxNode): string;
  /** What an assignment or declaration gives a value to. */
  targetOf(value: SyntaxNode): { readonly owner: SyntaxNode; readonly name: string } | undefined;
}

/** Reads the names that a file gives. */
export function csharpNames({ tree, text, state }: Reading): CsharpNames {
  const names = new Names(opens);
  const aliases = new Map<string, string>();
  const usings: string[] = [];
  const statics: string[] = [];
  const ownTypes = new Set<string>();
  const settings = new Map<SyntaxNode, Map<string, Setting[]>>();
  const assignments: SyntaxNode[] = [];
  const calls: SyntaxNode[] = [];
  for (const node of tree.nodes) readNode(node);
  for (const node of assignments) readAssignment(node);
  for (const node of calls) readAddition(node);
  return { usings, settings, argumentsOf, behind, ways, isOwn, typeOf, simple, pathOf, targetOf };

  function readNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'using_directive': {
        const alias = childOf(node, 'name');
        const path = text(node.children.find((child) => child !== alias)).replace(/\s/g, '');
        usings.push(path);
        if (alias && node.children.length > 1) aliases.set(text(alias), path);
        else if (/^(?:global\s+)?using\s+static\b/.test(text(node))) statics.push(path);
        return;
      }
      case 'variable_declarator': {
        const name = childOf(node, 'name');
        const value = node.children.find(
          (child) => child !== name && child.type !== 'bracketed_argument_list',
        );
        give(name, text(childOf(node.parent, 'type')), value);
        return;
      }
      case 'property_declaration':
        give(childOf(node, 'name'), text(childOf(node, 'type')), childOf(node, 'value'));
        return;
      case 'parameter':
        give(childOf(node, 'name'), text(childOf(node, 'type')), undefined);
        return;
      case 'foreach_statement': {
        const left = childOf(node, 'left');
        if (left?.type === 'identifier') names.give(node, text(left), { at: left.start });
        return;
      }
      case 'assignment_expression':
        assignments.push(node);
        return;
      case 'invocation_expression':
        calls.push(node);
        return;
      default:
        if (types.includes(node.type)) ownTypes.add(text(childOf(node, 'name')));
    }
  }

  function give(name: SyntaxNode | undefined, type: string, value: SyntaxNode | undefined): void {
    if (name) names.give(names.scopeOf(name), text(name), { value, type, at: name.start });
  }

  function readAssignment(node: SyntaxNode): void {
    const left = childOf(node, 'left');
    const right = childOf(node, 'right');
    if (!left || !right) return;
    if (left.type === 'identifier') {
      const owner = names.ownerOf(text(left), left);
      if (owner) names.give(owner, text(left), { value: right, at: left.start });
    } else if (left.type === 'member_access_expression')
      keep(childOf(left, 'expression'), text(childOf(left, 'name')), right);
  }

  function readAddition(node: SyntaxNode): void {
    const target = childOf(node, 'function');
    const list = target && childOf(target, 'expression');
    if (text(childOf(target, 'name')) !== 'Add' || list?.type !== 'member_access_expression') return;
    const value = argumentsOf(node)[0];
    if (value && text(childOf(list, 'name')) === 'ArgumentList')
      keep(childOf(list, 'expression'), 'ArgumentList.Add', value);
  }

  function keep(target: SyntaxNode | undefined, property: string, value: SyntaxNode): void {
    const place = target && told.test(property) ? placeOf(target) : undefined;
    if (!place) return;
    const known = settings.get(place.owner) ?? new Map<string, Setting[]>();
    settings.set(place.owner, known);
    const list = known.get(place.name) ?? [];
    known.set(place.name, list);
    if (list.length < maxSettings) list.push({ property, value });
    else state.gaveUp = true;
  }

  /** A process and its start information are one: `process.StartInfo.FileName`. */
  function placeOf(target: SyntaxNode): { readonly owner: SyntaxNode; readonly name: string } | undefined {
    if (target.end - target.start > maxName) return undefined;
    const name = text(target)
      .replace(/\s/g, '')
      .replace(/^this\./, '')
      .replace(/\.StartInfo$/, '');
    const first = /^\w*/.exec(name)?.[0] ?? '';
    return { owner: names.ownerOf(first, target) ?? names.scopeOf(target, members), name };
  }

  function targetOf(value: SyntaxNode): { readonly owner: SyntaxNode; readonly name: string } | undefined {
    const { parent, field } = value;
    if (parent?.type === 'assignment_expression' && field === 'right') {
      const left = childOf(parent, 'left');
      return left && placeOf(left);
    }
    const name =
      parent?.type === 'variable_declarator' || parent?.type === 'property_declaration'
        ? childOf(parent, 'name')
        : undefined;
    return name && placeOf(name);
  }

  function argumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
    const list = childOf(node, 'arguments') ?? node.children.find(({ type }) => type === 'argument_list');
    return (
      list?.children.filter(({ type }) => type === 'argument').map((one) => one.children.at(-1) ?? one) ?? []
    );
  }

  function behind(node: SyntaxNode | undefined, depth = 0): SyntaxNode | undefined {
    if (node?.type === 'parenthesized_expression') return behind(node.children[0], depth + 1);
    if (node?.type !== 'identifier' || depth > maxDepth) return node;
    const value = names.find(text(node), node)?.find((one) => one.value)?.value;
    return value && value !== node ? behind(value, depth + 1) : node;
  }

  function ways(node: SyntaxNode | undefined, depth = 0): readonly SyntaxNode[] {
    if (!node || depth > maxWays) return [];
    if (node.type === 'identifier') {
      const values = names.find(text(node), node)?.flatMap(({ value }) => (value ? [value] : [])) ?? [];
      return values.length === 0 ? [node] : values.slice(0, 4).flatMap((value) => ways(value, depth + 2));
    }
    if (node.type === 'parenthesized_expression') return ways(node.children[0], depth + 1);
    if (node.type !== 'conditional_expression') return [node];
    return node.children.slice(1).flatMap((child) => ways(child, depth + 1));
  }

  function isOwn(node: SyntaxNode): boolean {
    return names.find(text(node), node) !== undefined;
  }

  function typeOf(node: SyntaxNode | undefined, depth = 0): string {
    if (!node || depth > maxDepth) return '';
    if (node.type === 'parenthesized_expression') return typeOf(node.children[0], depth + 1);
    if (node.type === 'object_creation_expression') return simple(text(childOf(node, 'type')));
    if (node.type === 'invocation_expression') return madeBy(node);
    if (creations.has(node.type)) {
      const target = node.parent;
      const declared = target?.type === 'property_declaration' ? target : target?.parent;
      const left = childOf(target, 'left');
      return left ? typeOf(left, depth + 1) : simple(text(childOf(declared, 'type')));
    }
    const name = text(node)
      .slice(0, maxName)
      .replace(/^this\./, '');
    for (const { type, value } of names.find(name, node) ?? []) {
      if (type !== undefined && type !== '' && type !== 'var') return simple(type);
      const found = value === node ? '' : typeOf(value, depth + 1);
      if (found !== '') return found;
    }
    return '';
  }

  /** `PowerShell.Create()`, `Python.CreateEngine()`. */
  function madeBy(call: SyntaxNode): string {
    const target = childOf(call, 'function');
    const path = target?.type === 'member_access_expression' ? pathOf(target) : '';
    if (path === 'PowerShell.Create') return 'PowerShell';
    return path === 'Python.CreateEngine' ? 'ScriptEngine' : '';
  }

  function simple(type: string): string {
    const written = type
      .slice(0, maxName)
      .replace(/[\s?]/g, '')
      .replace(/^global::/, '');
    const path = aliases.get(written) ?? written;
    return path.slice(path.lastIndexOf('.') + 1);
  }

  function pathOf(target: SyntaxNode): string {
    if (target.type === 'conditional_access_expression')
      return `.${bare(childOf(target.children.at(-1), 'name'))}`;
    if (target.type !== 'member_access_expression') {
      const name = bare(target);
      if (names.find(name, target)) return '';
      const holder = statics.find((path) => /(?:^|\.)(?:Process|\w+Script)$/.test(path));
      return holder ? `${holder.slice(holder.lastIndexOf('.') + 1)}.${name}` : '';
    }
    const object = childOf(target, 'expression');
    const name = bare(childOf(target, 'name'));
    if (!object) return '';
    if (object.type === 'identifier' && isOwn(object)) return `.${name}`;
    const type = simple(text(object));
    return ownTypes.has(type) ? `.${name}` : `${type}.${name}`;
  }

  function bare(node: SyntaxNode | undefined): string {
    return text(node?.type === 'generic_name' ? node.children[0] : node);
  }
}
