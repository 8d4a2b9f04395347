/* The names of a file and their scopes. */
import { argumentsOf, childOf, firstOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Match, Query } from '../query/query.ts';
import type { Reading } from './reading.ts';

/** Of patterns within patterns. */
const maxPatternDepth = 24;
/** A longer list is not destructured by position. */
const maxPlaces = 50;
/** A longer type is not a name. */
const maxType = 200;

/**
 * Reads the names that a file binds, according to the language's declarations. `@name` receives `@value`, with the
 * type `@type`. `@names` receive `@values` by position; if the counts differ, each receives a part of the single
 * value. A name that is not plain is a pattern.
 *
 * The scope is the node captured as `@in`, or follows the setting `in`. With `file` it is the file, with `function`
 * the function around, with `parent` the parent. With `known` it is the scope that already has the name, else the one
 * in the setting `else`, or none. Without either, it is the innermost scope. Matches without such captures, or with a
 * `@module`, go to `other` in the order of the text. Names with `known` are read after all others.
 *
 * A pattern destructures the value into `@inner`: the part named `@key`, or the part at its position if the setting
 * `part` is `place`. If the setting `value` is `none`, the part is unknown. `@otherwise` is the value if the part is
 * missing.
 */
export function readNames(
  reading: Reading,
  language: NamingLanguage,
  other: (match: Match, names: Names) => void = () => {},
): Names {
  const { tree, text, literal } = reading;
  const names = new Names(reading, language);
  const late: Match[] = [];
  for (const node of tree.nodes) {
    if (!language.declarations.mayFit(node)) continue;
    for (const match of language.declarations.at(node, text))
      if (match.settings.in === 'known') late.push(match);
      else read(match);
  }
  for (const match of late) read(match);
  return names;

  function read(match: Match): void {
    const values = match.one('values')?.children ?? match.all('value');
    const [value] = values;
    const listed = match.one('names')?.children ?? match.all('name');
    if (listed.length === 0 || match.one('module')) {
      other(match, names);
      return;
    }
    let { type } = match.settings;
    for (const one of match.all('type')) type = (type ?? '') + text(one).slice(0, maxType);
    listed.forEach((name, index) => {
      const scope = scopeOf(match, name);
      const isOwn = values.length === listed.length;
      const pick = isOwn || values.length !== 1 ? undefined : String(index);
      if (scope)
        takeApart(name, scope, {
          value: isOwn ? values[index] : pick === undefined ? undefined : value,
          pick,
          type,
        });
    });
  }

  function scopeOf(match: Match, name: SyntaxNode): SyntaxNode | undefined {
    const { in: place, else: otherwise } = match.settings;
    const owner = place === 'known' ? names.ownerOf(names.nameOf(name), name) : match.one('in');
    if (owner) return owner;
    switch (place === 'known' ? otherwise : place) {
      case 'file':
        return tree.root;
      case 'function':
        return names.scopeOf(match.node, 'scope.function');
      case 'parent':
        return match.node.parent;
    }
    return place === 'known' ? undefined : names.scopeOf(match.node);
  }

  function takeApart(pattern: SyntaxNode, scope: SyntaxNode, given: Omit<Binding, 'at'>, depth = 0): void {
    if (names.isPlain(pattern)) names.give(scope, names.nameOf(pattern), { ...given, at: pattern.start });
    else if (names.isMember(pattern)) {
      if (given.value && given.pick === undefined) names.giveMember(pattern, given.value);
    } else if (depth <= maxPatternDepth)
      language.patterns?.at(pattern, text).forEach((match, place, all) => {
        const inner = match.one('inner');
        if (!inner) return;
        const key = match.one('key');
        const isPlace = match.settings.part === 'place';
        const isOpen = match.settings.value === 'none' || (isPlace && !isDense(pattern, all.length));
        const part = key ? (keyOf(key) ?? '') : isPlace ? String(place) : undefined;
        const pick = part === undefined ? given.pick : [given.pick, part].filter(Boolean).join('.');
        takeApart(inner, scope, isOpen ? {} : { ...given, pick }, depth + 1);
        const otherwise = match.one('otherwise');
        if (otherwise) takeApart(inner, scope, { value: otherwise }, depth + 1);
      });
  }

  function keyOf(key: SyntaxNode): string | undefined {
    const inner = key.children[0];
    return literal(key) ?? (inner ? literal(inner) : text(key));
  }

  /** Places that are left empty have no node. */
  function isDense(pattern: SyntaxNode, places: number): boolean {
    return places < maxPlaces && !/^\[\s*,|,\s*,/.test(text(pattern).slice(0, 2_000));
  }
}

/** What a name was given: a value to look into, or a known path; neither is something of the file's own. */
export interface Binding {
  readonly value?: SyntaxNode | undefined;
  readonly path?: string | undefined;
  /** The part of `value` that the name receives (`const { exec } = …`). */
  readonly pick?: string | undefined;
  /** Its declared type, where the language has them. */
  readonly type?: string | undefined;
  /** Where it was given. */
  readonly at: number;
}

/** A language's naming rules, in tree-sitter's query language. */
export interface NamingLanguage {
  /**
   * Patterns that bind names (for their captures see `readNames`) and that open a scope, `@scope`. A function's scope
   * is also `@scope.function`, a class's `@scope.class`. Functions inside a `@scope.blind` do not see its names; a
   * `@scope.open` inside it still does. `@plain` is a name, `@member` a part of a value.
   */
  readonly declarations: Query;
  /** Bindings of a destructuring pattern; for their captures see `readNames`. */
  readonly patterns?: Query | undefined;
  /** What an expression is: no more than another one, `@same`, or a name of the class around, `@own`. */
  readonly expressions: Query;
  /** What an expression may be; for its captures see `PathLanguage`. */
  readonly values?: Query | undefined;
  /** A name as it is meant; absent: as it is written. */
  readonly nameOf?: ((written: string) => string) | undefined;
}

const maxDepth = 300;
const maxMembers = 10_000;
const maxBindings = 200;
/** Types of lists, and of what only wraps an item of one. */
const lists =
  /^(?:list|tuple|array|(?:implicit_)?array_creation_expression|array_initializer|composite_literal|element_binding_expression)$/;
const wraps = /^(?:argument|variadic_argument|literal_element|array_element_initializer)$/;
/** Of tables and lists that are spread in one, which may be among them itself. */
const maxSpread = 20;
/** Of expressions behind one, and of names behind names. */
const maxSteps = 200;
const maxValueDepth = 12;
/** Of a table. */
const maxEntries = 100;

/** The names that a file binds, and their scopes. Built once for a file, then queried. */
export class Names {
  readonly reading: Reading;
  /** `api.run = eval`, by the text left of the sign, without blanks. */
  readonly #members = new Map<string, SyntaxNode[]>();
  readonly #language: NamingLanguage;
  /** By name, and by the scopes that give it: most names of a file none gives, and most others one. */
  readonly #given = new Map<string, Map<SyntaxNode, Binding[]>>();

  constructor(reading: Reading, language: NamingLanguage) {
    this.reading = reading;
    this.#language = language;
  }

  /** Whether nodes of a type are captured so: they open scopes, or are names. */
  #is(type: string, capture: string): boolean {
    return this.#language.declarations.typesOf(capture).has(type);
  }

  /** Whether a node is a name by itself. */
  isPlain(node: SyntaxNode | undefined): node is SyntaxNode {
    return node !== undefined && this.#is(node.type, 'plain');
  }

  /** Whether a node is a part of something, which is given values as names are. */
  isMember({ type }: SyntaxNode): boolean {
    return this.#is(type, 'member');
  }

  /** A name as it is meant. */
  nameOf(node: SyntaxNode): string {
    const written = this.reading.text(node);
    return this.#language.nameOf?.(written) ?? written;
  }

  /** The innermost scope around a node, or the innermost function or class; else the file. */
  scopeOf(node: SyntaxNode, of: 'scope' | 'scope.function' | 'scope.class' = 'scope'): SyntaxNode {
    let at = node;
    do at = at.parent ?? at;
    while (at.parent && !this.#is(at.type, of));
    return at;
  }

  give(scope: SyntaxNode, name: string, binding: Binding): void {
    const scopes = this.#given.get(name) ?? new Map<SyntaxNode, Binding[]>();
    this.#given.set(name, scopes);
    const known = scopes.get(scope);
    // More values of one name are not followed.
    if (!known) scopes.set(scope, [binding]);
    else if (known.length < maxBindings) known.push(binding);
  }

  /** Remembers what a member was given. */
  giveMember(member: SyntaxNode, value: SyntaxNode, before = ''): void {
    if (this.#members.size >= maxMembers || !isShort(member)) return;
    const name = before + this.reading.text(member).replace(/\s/g, '');
    const values = this.#members.get(name) ?? [];
    this.#members.set(name, values);
    if (values.length < maxBindings) values.push(value);
  }

  /** What a member was given, by its text. */
  membersOf(member: SyntaxNode): readonly SyntaxNode[] {
    return this.#members.size > 0 && isShort(member)
      ? (this.#members.get(this.reading.text(member).replace(/\s/g, '')) ?? [])
      : [];
  }

  /** The scope in which a name is given, as seen from a node. */
  ownerOf(name: string, from: SyntaxNode): SyntaxNode | undefined {
    const scopes = this.#given.get(name);
    if (!scopes) return undefined;
    // Seen from everywhere, and given nowhere else.
    if (
      scopes.size === 1 &&
      this.#language.declarations.typesOf('scope.blind').size === 0 &&
      scopes.has(this.reading.tree.root)
    )
      return this.reading.tree.root;
    let crossed = false;
    for (let at: SyntaxNode | undefined = from; at; at = at.parent) {
      if (scopes.has(at) && !(crossed && this.#is(at.type, 'scope.blind'))) return at;
      // Leaving a function's body: a class around it does not lend its names.
      const isLeft = at !== from && this.#is(at.type, 'scope') && !this.#is(at.type, 'scope.open');
      if (isLeft && !this.#is(at.type, 'scope.blind')) crossed = true;
    }
    return undefined;
  }

  /** Everything given under that name where it is seen from a node; `undefined` where the file gives none. */
  find(name: string, from: SyntaxNode): readonly Binding[] | undefined {
    const owner = this.ownerOf(name, from);
    return owner && this.#given.get(name)?.get(owner);
  }

  /** Everything that a name was given, or a name of the class around (`this.name`); none for other expressions. */
  bindingsOf(node: SyntaxNode): readonly Binding[] {
    if (this.isPlain(node)) return this.find(this.nameOf(node), node) ?? [];
    const own = this.#taken(node, 'own');
    return own ? (this.find(this.nameOf(own), this.scopeOf(own, 'scope.class')) ?? []) : [];
  }

  /** Returns the expression that this one merely wraps. */
  same(node: SyntaxNode | undefined): SyntaxNode | undefined {
    let at = node;
    for (let depth = 0; at && depth < maxDepth; depth += 1) {
      const inner = this.#taken(at, 'same');
      if (!inner) break;
      at = inner;
    }
    return at;
  }

  /** The expression behind a name or wrapper, where there is one. */
  readonly behind = (node: SyntaxNode | undefined): SyntaxNode | undefined => this.#behind(node, 0);

  /** The value of a name among arguments or in a table: `shell=True`, `shell: true`, `**{'shell': True}`. */
  entry(entries: readonly SyntaxNode[], name: string, work = { spread: 0 }): SyntaxNode | undefined {
    return firstOf(entries, (one) => {
      if (/^(?:spread_element|dictionary_splat)$/.test(one.type))
        return work.spread++ < maxSpread
          ? this.entry(this.entriesOf(one.children[0]), name, work)
          : undefined;
      const isShort = one.type === 'shorthand_property_identifier' && this.nameOf(one) === name;
      return isShort || this.keyOf(one) === name ? (childOf(one, 'value') ?? one) : undefined;
    });
  }

  /** The entries of a table that is written down: `{ … }`, `dict(…)`. */
  entriesOf(node: SyntaxNode | undefined): readonly SyntaxNode[] {
    const table = this.behind(node);
    if (table?.type === 'call' && this.reading.text(childOf(table, 'function')) === 'dict')
      return argumentsOf(table);
    return table && /^(?:object|dictionary)$/.test(table.type) ? table.children : [];
  }

  /** What a list that is written down holds; `undefined` for other expressions. */
  itemsOf(node: SyntaxNode | undefined): readonly SyntaxNode[] | undefined {
    const list = this.behind(node);
    if (list && this.reading.text(childOf(list, 'function')) === 'append') return argumentsOf(list);
    if (!list || !lists.test(list.type)) return undefined;
    const initial = list.children.find(({ type }) => type === 'initializer_expression');
    const { children } = childOf(list, 'body') ?? childOf(list, 'value') ?? initial ?? list;
    return children.map(unwrapped);
  }

  /** Arguments as words of a command, lists among them flattened; `undefined` for what is not written down. */
  wordsOf(
    given: readonly SyntaxNode[],
    said: Reading['literal'] = this.reading.literal,
    work = { spread: 0 },
  ): readonly (string | undefined)[] {
    return given.flatMap((one) => {
      if (one.type === 'keyword_argument') return [];
      const value = this.behind(unwrapped(one));
      const items = work.spread < maxSpread ? this.itemsOf(value) : undefined;
      if (items) work.spread += 1;
      return items ? this.wordsOf(items, said, work) : [said(value)];
    });
  }

  /** The name of an entry or named argument, where it is written down. */
  keyOf(entry: SyntaxNode | undefined): string | undefined {
    const key = childOf(entry, 'key') ?? childOf(entry, 'name');
    const { literal } = this.reading;
    if (key?.type === 'computed_property_name') return literal(this.behind(key.children[0]));
    return key && (literal(key) ?? this.nameOf(key));
  }

  #behind(node: SyntaxNode | undefined, depth: number): SyntaxNode | undefined {
    const inner = this.same(node);
    if (!inner || depth > maxDepth) return inner;
    const value = this.bindingsOf(inner).find((one) => one.value && one.pick === undefined)?.value;
    return value && value !== inner ? this.#behind(value, depth + 1) : inner;
  }

  /** What an expression may be, in the language's terms. */
  valueOf(node: SyntaxNode): Match | undefined {
    return this.#language.values?.at(node, this.reading.text)[0];
  }

  /**
   * The expressions that one may be: of a name all that it was given, of a choice each, of a part of a table each entry
   * under its key; of others themselves. The last given are last.
   */
  valuesOf(start: SyntaxNode | undefined): readonly SyntaxNode[] {
    const found: SyntaxNode[] = [];
    const pending = start ? [{ node: start, depth: 0 }] : [];
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const next = pending.shift();
      if (!next) break;
      const behind = next.depth < maxValueDepth ? this.#valuesBehind(next.node) : [];
      if (behind.length === 0) found.push(next.node);
      for (const node of behind) pending.push({ node, depth: next.depth + 1 });
    }
    return found;
  }

  #valuesBehind(node: SyntaxNode): readonly SyntaxNode[] {
    const same = this.#taken(node, 'same');
    if (same) return [same];
    const given = this.bindingsOf(node).flatMap(({ value, pick }) => (value && !pick ? [value] : []));
    const match = given.length > 0 ? undefined : this.valueOf(node);
    if (!match) return given.length > 0 ? given : this.membersOf(node);
    const object = match.one('object');
    if (!object) return match.all('choice');
    const { literal } = this.reading;
    const key = literal(match.one('key'));
    return this.#valuesBehind(object)
      .flatMap(({ type, children }) =>
        type === 'array_creation_expression' ? children.slice(0, maxEntries) : [],
      )
      .filter(({ children }) => children.length < 2 || key === undefined || literal(children[0]) === key)
      .flatMap(({ children }) => children.slice(-1));
  }

  #taken(node: SyntaxNode, name: string): SyntaxNode | undefined {
    const { expressions } = this.#language;
    return expressions.mayFit(node) ? expressions.at(node, this.reading.text)[0]?.one(name) : undefined;
  }
}

/** What an item or argument is, without what only marks it as one. */
function unwrapped(item: SyntaxNode): SyntaxNode {
  return wraps.test(item.type) ? (item.children.at(-1) ?? item) : item;
}

/** Chains can hold whole programs; their text is not a name. */
function isShort(node: SyntaxNode): boolean {
  return node.end - node.start < 200;
}
