/** What a terminal would have done with its colours: gone whole, so that nothing of them is left as text. */
const sequences = /\x1b\[[0-?]*[ -/]*[@-~]/g;

/** Text from elsewhere as a person would have typed it: `\n` for each line end, four blanks for a tab, no controls. */
export function cleanPaste(text: string): string {
  return text
    .replace(sequences, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(/(?!\n)\p{Cc}/gu, '');
}
