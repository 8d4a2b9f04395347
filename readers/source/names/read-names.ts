import type { SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Match } from '../query/query.ts';
import { type Binding, Names, type NamingLanguage } from './names.ts';
import type { Reading } from './reading.ts';

/** Of patterns within patterns. */
const maxDepth = 24;
/** A longer list is not taken apart by places. */
const maxPlaces = 50;
/** A longer type is no name. */
const maxType = 200;

/**
 * Reads the names that a file gives, as the language's declarations say. `@name` is given `@value`, with the type
 * `@type`; `@names` are given `@values`, each by its place, or where the numbers differ a part of the one value; what
 * is no plain name is a pattern. They hold in the node taken `@in`, or by the setting `in` in the `file`, the
 * `function` around, the `parent`, or where a name is `known` (else as `else` says, or nowhere); absent, in the
 * innermost scope. Matches without such captures, or with a `@module`, go to `other`, in the order of the text; names
 * that have to be known are read when all others are.
 *
 * Patterns take `@inner` out of the value: the part `@key`, by setting `part` that of its `place`, by setting `value`
 * none that is known; `@otherwise` is its value where there is no such part.
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
