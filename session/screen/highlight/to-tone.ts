import type { Tone } from '../line.ts';

/** Scopes of `highlight.js` grammars by their first word. */
const tones: Readonly<Record<string, Tone>> = {
  keyword: 'keyword',
  built_in: 'name',
  type: 'name',
  literal: 'number',
  number: 'number',
  symbol: 'number',
  string: 'string',
  regexp: 'string',
  char: 'string',
  link: 'link',
  comment: 'comment',
  quote: 'comment',
  doctag: 'comment',
  title: 'name',
  function: 'name',
  class: 'name',
  name: 'keyword',
  attr: 'name',
  attribute: 'name',
  property: 'name',
  variable: 'name',
  section: 'heading',
  bullet: 'keyword',
  strong: 'strong',
  emphasis: 'emphasis',
  code: 'string',
  addition: 'added',
  deletion: 'removed',
  meta: 'hunk',
  'selector-tag': 'keyword',
  'selector-class': 'name',
  'selector-id': 'name',
  'selector-attr': 'name',
  'selector-pseudo': 'name',
};

/** How code of these scopes is shown: the innermost that says something decides. Code inside a string is code. */
export function toTone(scopes: readonly string[]): Tone {
  for (const scope of scopes.toReversed()) {
    const tone = tones[scope.split('.', 1)[0] ?? ''];
    if (tone !== undefined) return tone;
    if (scope === 'subst') return 'code';
  }
  return 'code';
}
