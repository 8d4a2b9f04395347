/**
 * What a text is cut into at its top level. Each is read by itself, so that what is finished never changes by what
 * comes later, and nothing costs more than its own size.
 */
export type Part =
  /** Whole blocks of Markdown. `continues`: rows of a table whose head was told. */
  | { readonly type: 'text'; readonly text: string; readonly continues: boolean }
  /** One item of a list, without its marker and its indent. */
  | {
      readonly type: 'item';
      readonly text: string;
      readonly isOrdered: boolean;
      readonly number: number;
      /** The first of its list. */
      readonly isFirst: boolean;
      /** Behind an empty line. */
      readonly isSpaced: boolean;
      /** The rest of an item that was too long to be one. */
      readonly isRest: boolean;
    }
  /** One line of a fenced block of code. */
  | { readonly type: 'code'; readonly text: string; readonly language: string; readonly isFirst: boolean };

/** Characters of the longest part, and of the longest line: longer ones are several. */
export const mostPart = 8192;
