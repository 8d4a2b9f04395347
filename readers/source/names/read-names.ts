/* Reads the names that a file binds, by a language's queries. */
import type { SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Match } from '../query/query.ts';
import { type Binding, Names, type NamingLanguage } from './names.ts';
import type { Reading } from './reading.ts';

/** Of patterns within patterns. */
const maxDepth = 24;
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
        return names.scopeOf(match.node, 'function');
      case 'parent':
        return match.node.parent;
    }
    return place === 'known' ? undefined : names.scopeOf(match.node);
  }

  function takeApart(pattern: SyntaxNode, scope: SyntaxNode, given: Omit<Binding, 'at'>, depth = 0): void {
    if (names.isPlain(pattern)) names.give(scope, names.nameOf(pattern), { ...given, at: pattern.start });
    else if (names.isMember(pattern)) {
      if (given.value && given.pick === undefined) names.giveMember(pattern, given.value);
    } else if (depth <= maxDepth)
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
