import { fields, listOf, type TypeOf, text } from '../shape.ts';

/** Form of an authorship in a stored record. */
export const authorshipShape = fields(
  { authors: listOf(text), committers: listOf(text) },
  { broughtBy: text },
);

/**
 * Who made a change, as `Name <mail>`, found out when it came: authors that its mails or commits name, main author
 * first; committers of the range; and who brought it, only where the change, or a part of it, names nobody.
 */
export type Authorship = TypeOf<typeof authorshipShape>;

/** Everybody in it, each once. */
export function peopleOf({ authors, committers, broughtBy }: Authorship): readonly string[] {
  return [...new Set([...authors, ...committers, ...(broughtBy === undefined ? [] : [broughtBy])])];
}
