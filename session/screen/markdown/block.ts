import type { Line, Span } from '../line.ts';

/** Text within a block; `href` is there where a screen may lead to it: http, https, mailto or a relative path. */
export interface Inline extends Span {
  readonly href?: string;
}

/** A line as it was written: within a paragraph its lines stay what they are. */
export type InlineLine = readonly Inline[];

/** One item of a list. */
export interface Item {
  /** `•`, `1.`; empty where it goes on with the item before it. */
  readonly marker: string;
  /** A task: done or not. */
  readonly checked?: boolean;
  /** Stands apart from the item before it. */
  readonly isSpaced: boolean;
  readonly blocks: readonly Block[];
}

export type Align = 'left' | 'center' | 'right';

/**
 * A piece of a text, in words that a screen may show as they are: what is no Markdown of ours, HTML too, is text.
 * `continues`: goes on with the block before it, which has the same type.
 */
export type Block =
  | { readonly type: 'heading'; readonly depth: number; readonly text: InlineLine }
  | { readonly type: 'paragraph'; readonly lines: readonly InlineLine[] }
  | {
      readonly type: 'code';
      readonly language: string;
      readonly lines: readonly Line[];
      readonly continues: boolean;
    }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly type: 'list';
      readonly isOrdered: boolean;
      readonly items: readonly Item[];
      readonly continues: boolean;
    }
  | {
      readonly type: 'table';
      readonly align: readonly Align[];
      readonly head: readonly InlineLine[];
      readonly rows: readonly (readonly InlineLine[])[];
      readonly continues: boolean;
    }
  | { readonly type: 'rule' };
