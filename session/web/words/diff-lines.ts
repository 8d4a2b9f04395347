/** One line of a diff. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'hunk' | 'same';
  /** With the sign that it begins with. */
  readonly text: string;
}

const kindOf: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', '@': 'hunk' };

/** A unified diff, line by line; nothing for an empty one. */
export function diffLines(diff: string): readonly DiffLine[] {
  if (diff === '') return [];
  return diff
    .replace(/\n$/, '')
    .split('\n')
    .map((text) => ({ kind: kindOf[text[0] ?? ''] ?? 'same', text }));
}
