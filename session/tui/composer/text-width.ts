/** Cells of the prompt, and of a row of text beside it; one more is free for the cursor behind a full row. */
export function textWidth(columns: number): { readonly prompt: number; readonly text: number } {
  const prompt = columns >= 8 ? 2 : 0;
  return { prompt, text: Math.max(1, columns - prompt - 1) };
}
