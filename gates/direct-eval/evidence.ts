import type { WordSearch } from '../../readers/anchors/word-search.ts';

/** A text without which some direct execution cannot be written. */
export interface EvidenceWord {
  /** At least four latin1 characters. */
  readonly text: string;
  /**
   * Sticky, from the text's beginning, over latin1: what must hold around it. It sees about a hundred bytes to either
   * side.
   */
  readonly form?: RegExp;
}

/** What a change holds wherever it holds direct execution. It says yes too often, never too rarely. */
export interface Evidence {
  readonly words: readonly EvidenceWord[];
  /** Texts that are too short to be words, or are written in either letter case. */
  readonly search?: WordSearch;
}

/** Words that count wherever they stand. */
export function plainWords(texts: readonly string[]): readonly EvidenceWord[] {
  return texts.map((text) => ({ text }));
}
