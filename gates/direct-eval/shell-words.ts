const shells = /^(?:.*[/\\])?(?:ba|z|da|k|a|c|tc|fi)?sh$|^(?:.*[/\\])?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flags = /^(?:-[a-z]*c|\/[ckr]|-command|-encodedcommand)$/i;
const windows = /(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flagAndText = /^\s*(?:-[a-z]*c|\/[ckr]|-command)\s/i;

/** Whether a text names a shell, by its name or path. */
export function isShell(text: string | undefined): boolean {
  return text !== undefined && text.length < 200 && shells.test(text);
}

/**
 * Whether an argument list, as far as it is written down, hands a shell a text that is not (`['sh', '-c', line]`).
 * `openings`: what is known of the beginning of each (`['cmd', '/c ' + line]`).
 */
export function handsShellText(
  words: readonly (string | undefined)[],
  openings: readonly string[] = [],
): boolean {
  for (let index = 0; index + 1 < words.length && index < 12; index += 1) {
    if (!isShell(words[index])) continue;
    if (words[index + 1] === undefined && startsWithFlag(openings[index + 1] ?? '')) return true;
    for (let at = index + 1; at < words.length && at < index + 6; at += 1) {
      const word = words[at];
      if (word === undefined) break;
      // Behind a shell's text stand its operands; Windows' shells take all that follows for the text.
      if (flags.test(word))
        return words.slice(at + 1, windows.test(words[index] ?? '') ? undefined : at + 2).includes(undefined);
    }
  }
  return false;
}

/** Whether a command line's known beginning is a shell's flag for text (`/c `, `-c `). */
export function startsWithFlag(text: string): boolean {
  return flagAndText.test(text);
}
