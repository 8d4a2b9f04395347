/* Resolves names in C#. */
import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { type Match, Query } from '../query/query.ts';
import type { Reading } from './reading.ts';
import { type TypedLanguage, typedNames } from './typed-names.ts';

/** How C# gives names. */
export const csharpNaming: TypedLanguage = {
  declarations: new Query(`
    [(class_declaration) (struct_declaration) (record_declaration) (interface_declaration) (enum_declaration)]
      @scope @scope.class
    [(method_declaration) (constructor_declaration) (accessor_declaration)] @scope @scope.function
    [(local_function_statement) (lambda_expression) (anonymous_method_expression) (block) (for_statement)
      (foreach_statement) (using_statement) (catch_clause)] @scope
    (identifier) @plain
    (using_directive (_) @import .)
    (using_directive name: (_) @alias (_) @real)
    [(class_declaration name: (_) @own) (struct_declaration name: (_) @own) (record_declaration name: (_) @own)
      (interface_declaration name: (_) @own) (enum_declaration name: (_) @own)]
    [(method_declaration name: (_) @method) (local_function_statement name: (_) @method)]
    (variable_declaration type: (_) @type (variable_declarator name: (_) @name (_)? @value .))
    (property_declaration type: (_) @type name: (_) @name value: (_)? @value)
    (parameter type: (_)? @type name: (_) @name)
    (foreach_statement left: (identifier) @name) @in
    (assignment_expression left: (identifier) @name right: (_) @value (#set! in known))
    (assignment_expression
      left: (member_access_expression expression: (_) @object name: (_) @property) right: (_) @set)
    (invocation_expression
      function: (member_access_expression
        expression: (member_access_expression expression: (_) @object name: (_) @list) name: (_) @add)
      arguments: (argument_list . (argument (_) @set .))
      (#match? @list "^ArgumentList$") (#match? @add "^Add$"))`),
  expressions: new Query(`
    (parenthesized_expression . (_) @same)
    (cast_expression type: (_) @type)
    ; this.name
    (member_access_expression . name: (_) @own)`),
  calls: new Query(`
    (invocation_expression
      function: [(identifier) @name (member_access_expression expression: (_) @object name: (_) @name)])
    (object_creation_expression type: (_) @made)`),
};
const told = /^(?:FileName|Arguments|ArgumentList(?:\.Add)?)$/;
/** Of conditions within conditions. */
const maxWays = 6;
/** Limit for one object; a program is configured once. */
const maxSettings = 50;
/** A longer text is not a name. */
const maxName = 200;

/** `info.Arguments = line` and `info.ArgumentList.Add(line)`, without the last name. */
export interface Setting {
  readonly property: string;
  readonly value: SyntaxNode;
}

/** Resolves the names of a C# file. */
export function csharpNames(reading: Reading) {
  const { text } = reading;
  const statics: string[] = [];
  const ownTypes = new Set<string>();
  /** Methods and local functions by name; `undefined` where two share one. */
  const methods = new Map<string, SyntaxNode | undefined>();
  /** What was set on the object at a place, in order. */
  const settings = new Map<string, Setting[]>();
  const sets: Match[] = [];
  const typed = typedNames(reading, csharpNaming, (match) => {
    const method = match.one('method');
    const own = match.one('own');
    if (method) methods.set(text(method), methods.has(text(method)) ? undefined : match.node);
    if (match.one('set')) sets.push(match);
    if (own) ownTypes.add(text(own));
    if (/^(?:global\s+)?using\s+static\b/.test(text(match.node).slice(0, maxName)))
      statics.push(text(match.one('import')).replace(/\s/g, ''));
  });
  const { names, simple } = typed;
  // What is assigned comes before what is added.
  for (const match of sets) if (!match.one('list')) keep(match, text(match.one('property')));
  for (const match of sets) if (match.one('list')) keep(match, 'ArgumentList.Add');
  return {
    /** Namespaces and types that the file uses. */
    usings: typed.imports,
    methods,
    settings,
    behind: names.behind,
    ways,
    typesOf: typed.typesOf,
    /** The first of its types; `''` where the file does not show it. */
    typeOf: (node: SyntaxNode | undefined) => declaredType(node) ?? typed.typeOf(node) ?? '',
    /** The simple name of a written type, aliases undone. */
    simple,
    pathOf,
    targetOf,
  };

  /** What `new()` makes. */
  function declaredType(node: SyntaxNode | undefined): string | undefined {
    if (node?.type !== 'implicit_object_creation_expression') return undefined;
    const target = node.parent;
    const declared = target?.type === 'property_declaration' ? target : target?.parent;
    const left = childOf(target, 'left');
    return left ? typed.typeOf(left) : simple(childOf(declared, 'type'));
  }

  function keep(match: Match, property: string): void {
    const target = match.one('object');
    const value = match.one('set');
    const place = target && told.test(property) ? placeOf(target) : undefined;
    if (place === undefined || !value) return;
    const list = settings.get(place) ?? [];
    settings.set(place, list);
    if (list.length < maxSettings) list.push({ property, value });
  }

  /**
   * A name with what declares it, so that namesakes stay apart. A process and its start information are one:
   * `process.StartInfo.FileName`.
   */
  function placeOf(target: SyntaxNode): string | undefined {
    if (target.end - target.start > maxName) return undefined;
    const name = text(target)
      .replace(/\s/g, '')
      .replace(/^this\./, '')
      .replace(/\.StartInfo$/, '');
    const first = /^\w*/.exec(name)?.[0] ?? '';
    const { start, end } = names.ownerOf(first, target) ?? names.scopeOf(target, 'function');
    return `${start} ${end} ${name}`;
  }

  /** The place that an assignment or declaration gives a value to. */
  function targetOf({ parent, field }: SyntaxNode): string | undefined {
    const isAssigned = parent?.type === 'assignment_expression' && field === 'right';
    const isDeclared = /^(?:variable_declarator|property_declaration)$/.test(parent?.type ?? '');
    const target = isAssigned ? childOf(parent, 'left') : isDeclared ? childOf(parent, 'name') : undefined;
    return target && placeOf(target);
  }

  /** The expression behind a name or wrapper, each way of a condition apart. */
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

  /** Type and method of what is called: `Process.Start`; `.Start` where the type is not known. */
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
    if (object.type === 'identifier' && names.find(text(object), object)) return `.${name}`;
    const type = simple(object);
    return ownTypes.has(type) ? `.${name}` : `${type}.${name}`;
  }

  function bare(node: SyntaxNode | undefined): string {
    return text(node?.type === 'generic_name' ? node.children[0] : node);
  }
}
